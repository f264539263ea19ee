/* SPDX-License-Identifier: MIT */
/* view_memory: the trees of memory reports, at several times. */
#include "model/memory_tree.h"
#include "out/core/json_put.h"
#include "out/view/view.h"

#include <string.h>

/* A part of a path of a process, in any of the reports. */
struct part {
    uint32_t process;           /* 0: all of them */
    uint32_t parent;            /* 1 + number of a part; 0: none */
    uint32_t name, description; /* strings of the page */
    uint32_t unit;
};

/* A report's amount of a part. */
struct value {
    uint32_t report, part;
    int64_t amount;
    bool is_estimated;
};

struct work {
    struct wndl_view_writer *w;
    struct wndl_map index;     /* numbers + 1 of parts */
    struct wndl_vec parts;     /* struct part */
    struct wndl_vec values;    /* struct value */
    struct wndl_arena scratch; /* of one tree */
};

/* ---- parts, and what reports say about them */

/* Strings of a page are fewer than 2^29. */
static uint64_t key_of(const struct part *part)
{
    const uint64_t above = part->parent != 0
                               ? part->parent
                               : (uint64_t)part->process << 1 | 1ull << 31;
    return above << 32 | (uint64_t)part->unit << 29 | part->name;
}

/* Its number; UINT32_MAX: memory is out. */
static uint32_t number_of(struct work *k, const struct part *part)
{
    uint64_t *slot = wndl_map_put(&k->index, key_of(part));
    if (slot == NULL)
        return UINT32_MAX;
    if (*slot == 0) {
        struct part *added = wndl_vec_push(&k->parts);
        if (added == NULL)
            return UINT32_MAX;
        *added = *part;
        *slot = k->parts.len;
    }
    return (uint32_t)*slot - 1;
}

static bool add_value(struct work *k, uint32_t report, uint32_t part,
    const struct wndl_memory_node *node)
{
    struct value *value = wndl_vec_push(&k->values);
    if (value == NULL || part == UINT32_MAX)
        return false;
    *value = (struct value){report, part, node->amount, node->is_estimated};
    return true;
}

/* Parents come before their children. */
static bool add_tree(struct work *k, uint32_t report, uint32_t process,
    const struct wndl_memory_tree *tree)
{
    uint32_t *numbers =
        wndl_arena_calloc(&k->scratch, tree->nodes.len + 1, sizeof *numbers);
    if (numbers == NULL)
        return false;
    for (uint32_t i = 1; i <= tree->nodes.len; i++) {
        const struct wndl_memory_node *node = wndl_memory_node_at(tree, i);
        const struct part part = {
            .process = process,
            .parent = node->parent == 0 ? 0 : numbers[node->parent] + 1,
            .name = wndl_view_string(k->w, node->name),
            .description = wndl_view_string(k->w, node->description),
            .unit = node->unit,
        };
        numbers[i] = number_of(k, &part);
        if (!add_value(k, report, numbers[i], node))
            return false;
    }
    return true;
}

static bool add_process(struct work *k, uint32_t report,
    const struct wndl_memory_reports *reports, uint32_t process)
{
    struct wndl_view_writer *w = k->w;
    struct wndl_memory_tree tree;
    uint32_t of = 0;
    if (process != WNDL_MEMORY_ALL &&
        !wndl_intern_add(&w->memory_processes,
            wndl_intern_get(&reports->processes, process), &of))
        return false;
    /* A name's number, and one more than it, since 0 is all of them. */
    of = process == WNDL_MEMORY_ALL ? 0 : of + 1;
    wndl_arena_init(&k->scratch, w->arena.mem);
    const bool whole =
        wndl_memory_tree_build(&tree, reports, process, &k->scratch) &&
        add_tree(k, report, of, &tree);
    wndl_arena_free(&k->scratch);
    return whole;
}

static bool add_report(struct work *k, uint32_t report)
{
    const struct wndl_view_report *viewed =
        wndl_vec_at(k->w->view->memory, report);
    const struct wndl_memory_reports *reports = viewed->reports;
    const uint32_t count = wndl_intern_count(&reports->processes);
    bool whole = true;
    for (uint32_t i = 0; i < count && whole; i++)
        whole = add_process(k, report, reports, i);
    return whole && add_process(k, report, reports, WNDL_MEMORY_ALL);
}

/* ---- columns */

static void add_part_column(
    struct work *k, uint64_t *numbers, const char *name, size_t offset)
{
    for (size_t i = 0; i < k->parts.len; i++) {
        uint32_t value;
        memcpy(&value, (const uint8_t *)wndl_vec_at(&k->parts, i) + offset,
            sizeof value);
        numbers[i] = value;
    }
    wndl_view_numbers(&k->w->columns, name, numbers, k->parts.len, false);
}

static void add_parts(struct work *k, uint64_t *numbers)
{
    add_part_column(
        k, numbers, "memory.process", offsetof(struct part, process));
    add_part_column(k, numbers, "memory.parent", offsetof(struct part, parent));
    add_part_column(k, numbers, "memory.name", offsetof(struct part, name));
    add_part_column(
        k, numbers, "memory.description", offsetof(struct part, description));
    add_part_column(k, numbers, "memory.unit", offsetof(struct part, unit));
}

/* Numbers of columns are below 2^53. */
static uint64_t size_of(int64_t amount)
{
    const uint64_t most = (1ull << 53) - 1, size = wndl_memory_size(amount);
    return size > most ? most : size;
}

static void add_values(struct work *k, uint64_t *numbers)
{
    const struct value *values = k->values.data;
    const size_t count = k->values.len;
    struct wndl_view_columns *to = &k->w->columns;
    for (size_t i = 0; i < count; i++)
        numbers[i] = values[i].report;
    wndl_view_numbers(to, "memory.values.report", numbers, count, true);
    for (size_t i = 0; i < count; i++)
        numbers[i] = values[i].part;
    wndl_view_numbers(to, "memory.values.part", numbers, count, true);
    for (size_t i = 0; i < count; i++)
        numbers[i] = size_of(values[i].amount);
    wndl_view_numbers(to, "memory.values.size", numbers, count, false);
    for (size_t i = 0; i < count; i++)
        numbers[i] = (unsigned)(values[i].amount < 0) |
                     (unsigned)values[i].is_estimated << 1;
    wndl_view_numbers(to, "memory.values.how", numbers, count, false);
}

static bool add_all(struct work *k)
{
    for (uint32_t i = 0; i < k->w->view->memory->len; i++) {
        if (!add_report(k, i))
            return false;
    }
    const size_t most =
        k->parts.len > k->values.len ? k->parts.len : k->values.len;
    uint64_t *numbers =
        wndl_arena_calloc(&k->w->arena, most + 1, sizeof *numbers);
    if (numbers == NULL)
        return false;
    add_parts(k, numbers);
    add_values(k, numbers);
    return true;
}

void wndl_view_add_memory(struct wndl_view_writer *w)
{
    struct work k = {.w = w};
    if (w->view->memory == NULL || w->failed)
        return;
    wndl_map_init(&k.index, &w->arena);
    wndl_vec_init(&k.parts, &w->arena, sizeof(struct part));
    wndl_vec_init(&k.values, &w->arena, sizeof(struct value));
    w->failed = !wndl_intern_init(&w->memory_processes, &w->arena) ||
                !add_all(&k) || w->failed;
}

/* ---- the head */

static void put_report(
    struct wndl_json *j, const struct wndl_view_report *viewed)
{
    const struct wndl_bytes file = {
        (const uint8_t *)viewed->file, strlen(viewed->file)};
    wndl_json_put_open_line(j);
    wndl_json_put_string(j, "file", wndl_path_name(file));
    if (viewed->reports->time != 0)
        wndl_json_put_number(j, "time_ms", viewed->reports->time);
    wndl_json_put_close(j, '}');
}

void wndl_view_put_memory(const struct wndl_view_writer *w, struct wndl_json *j)
{
    if (w->view->memory == NULL)
        return;
    wndl_json_put_key(j, "memory");
    wndl_json_put_open(j, '{');
    wndl_json_put_key(j, "processes");
    wndl_json_put_open(j, '[');
    for (uint32_t i = 0; i < wndl_intern_count(&w->memory_processes); i++) {
        wndl_json_put_element(j);
        wndl_json_string(j->out, wndl_intern_get(&w->memory_processes, i));
    }
    wndl_json_put_close(j, ']');
    wndl_json_put_key(j, "reports");
    wndl_json_put_open(j, '[');
    for (size_t i = 0; i < w->view->memory->len; i++)
        put_report(j, wndl_vec_at(w->view->memory, i));
    wndl_json_put_close(j, ']');
    wndl_json_put_close(j, '}');
}
