/* SPDX-License-Identifier: MIT */
#include "cli/memory/show.h"

#include "base/utf8.h"
#include "cli/core/command.h"
#include "cli/core/terminal.h"
#include "in/memory_reports.h"
#include "out/memory_text.h"

#include <string.h>

static int out_of_memory(void)
{
    return wndl_cli_error("out of memory");
}

/* The processes that have rows, in their order. */
struct shown {
    const struct wndl_memory_reports *reports;
    struct wndl_arena arena;
    uint32_t *processes;
    size_t count;
};

static bool find_processes(struct shown *s)
{
    const uint32_t names = wndl_intern_count(&s->reports->processes);
    bool *has_rows = wndl_arena_calloc(&s->arena, names, sizeof *has_rows);
    s->processes = wndl_arena_calloc(&s->arena, names, sizeof *s->processes);
    if (has_rows == NULL || s->processes == NULL)
        return false;
    for (size_t i = 0; i < s->reports->rows.len; i++) {
        const struct wndl_reported *row = wndl_vec_at(&s->reports->rows, i);
        if (!has_rows[row->process])
            s->processes[s->count++] = row->process;
        has_rows[row->process] = true;
    }
    return true;
}

static struct wndl_bytes name_of(const struct shown *s, uint32_t process)
{
    static const char unnamed[] = "Main Process";
    if (process == 0)
        return (struct wndl_bytes){
            (const uint8_t *)unnamed, sizeof unnamed - 1};
    return wndl_intern_get(&s->reports->processes, process);
}

static bool put_tree(struct shown *s, struct wndl_buf *out, uint32_t process,
    struct wndl_bytes title, bool verbose)
{
    struct wndl_memory_tree tree;
    if (!wndl_memory_tree_build(&tree, s->reports, process, &s->arena))
        return false;
    if (out->size != 0)
        wndl_buf_byte(out, '\n');
    wndl_memory_text_tree(out, &tree, title, verbose);
    return true;
}

static bool put_trees(struct shown *s, struct wndl_buf *out, bool verbose)
{
    char sum[64];
    for (size_t i = 0; i < s->count; i++) {
        const uint32_t process = s->processes[i];
        if (!put_tree(s, out, process, name_of(s, process), verbose))
            return false;
    }
    if (s->count < 2)
        return true;
    snprintf(sum, sizeof sum, "Sum of %zu processes", s->count);
    return put_tree(s, out, WNDL_MEMORY_ALL,
        (struct wndl_bytes){(const uint8_t *)sum, strlen(sum)}, verbose);
}

static bool put_flat(struct shown *s, struct wndl_buf *out, bool verbose)
{
    struct wndl_memory_tree *trees =
        wndl_arena_calloc(&s->arena, s->count + 1, sizeof *trees);
    bool fine = trees != NULL;
    for (size_t i = 0; i < s->count && fine; i++)
        fine = wndl_memory_tree_build(
            &trees[i], s->reports, s->processes[i], &s->arena);
    if (!fine)
        return false;
    for (size_t i = 0; i < s->count && s->count > 1; i++) {
        const struct wndl_bytes name = name_of(s, s->processes[i]);
        wndl_buf_printf(out, "column %zu: ", i + 1);
        wndl_utf8_plain(out, name);
        wndl_buf_byte(out, '\n');
    }
    if (s->count > 1)
        wndl_buf_printf(out, "column %zu: their sum\n\n", s->count + 1);
    return wndl_memory_text_flat(out, trees, s->count, verbose, &s->arena);
}

int wndl_memory_show(const struct wndl_memory_reports *reports,
    const struct wndl_memory_show *how)
{
    struct shown s = {.reports = reports};
    struct wndl_buf out;
    wndl_arena_init(&s.arena, wndl_mem_libc());
    wndl_buf_init(&out, wndl_mem_libc());
    bool fine = find_processes(&s);
    if (fine && s.count == 0)
        wndl_buf_text(&out,
            reports->is_difference ? "No differences.\n" : "No reports.\n");
    else
        fine = fine && (how->flat ? put_flat(&s, &out, how->verbose)
                                  : put_trees(&s, &out, how->verbose));
    const int exit_code = fine && !out.failed
                              ? wndl_pager_show(&out, how->paged)
                              : out_of_memory();
    wndl_buf_free(&out);
    wndl_arena_free(&s.arena);
    return exit_code;
}

static int diff_into(const struct wndl_input *const inputs[2],
    struct wndl_memory_reports reports[3], const struct wndl_memory_show *how)
{
    for (unsigned i = 0; i < 2; i++) {
        struct wndl_error err = {0};
        if (wndl_memory_reports_read(&reports[i], "", inputs[i]->bytes, &err) !=
            WNDL_OK)
            return wndl_input_error(inputs[i], &err);
    }
    if (!wndl_memory_reports_subtract(&reports[2], &reports[1], &reports[0]))
        return out_of_memory();
    return wndl_memory_show(&reports[2], how);
}

int wndl_memory_diff(const struct wndl_input *earlier,
    const struct wndl_input *later, const struct wndl_memory_show *how)
{
    const struct wndl_input *const inputs[] = {earlier, later};
    struct wndl_memory_reports reports[3];
    bool fine = true;
    for (unsigned i = 0; i < 3; i++)
        fine &= wndl_memory_reports_init(&reports[i], wndl_mem_libc());
    const int exit_code =
        fine ? diff_into(inputs, reports, how) : out_of_memory();
    for (unsigned i = 0; i < 3; i++)
        wndl_memory_reports_free(&reports[i]);
    return exit_code;
}
