/* SPDX-License-Identifier: MIT */
#include "in/vm.h"

#include "base/lines.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

#define FIRST_LINE "windlass-vmprof 1"

/* A line being read: words that are separated by one space. */
struct line {
    struct wndl_vm *vm;
    struct wndl_bytes rest;
    bool bad;
    bool out_of_memory;
};

bool wndl_vm_is(struct wndl_bytes file)
{
    return wndl_bytes_start_with(file, FIRST_LINE "\n");
}

/* ---- words */

static bool is_word(struct wndl_bytes bytes, const char *word)
{
    size_t size = strlen(word);
    return bytes.size == size && memcmp(bytes.data, word, size) == 0;
}

static struct wndl_bytes take_word(struct line *line)
{
    const uint8_t *space = line->rest.size == 0
                               ? NULL
                               : memchr(line->rest.data, ' ', line->rest.size);
    size_t size =
        space == NULL ? line->rest.size : (size_t)(space - line->rest.data);
    const struct wndl_bytes word = {line->rest.data, size};
    size_t gone = size + (space != NULL);
    line->rest.data += gone;
    line->rest.size -= gone;
    return word;
}

static int digit_value(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* A number of base 10 or 16; the line is bad without one. */
static uint64_t take_number(struct line *line, unsigned base)
{
    const struct wndl_bytes word = take_word(line);
    uint64_t value = 0;
    if (word.size == 0)
        line->bad = true;
    for (size_t i = 0; i < word.size; i++) {
        unsigned digit = (unsigned)digit_value(word.data[i]);
        if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value))
            line->bad = true;
    }
    return value;
}

static uint64_t take_decimal(struct line *line)
{
    return take_number(line, 10);
}

static uint64_t take_address(struct line *line)
{
    return take_number(line, 16);
}

static const char *take_rest(struct line *line)
{
    const char *text =
        wndl_arena_copy(&line->vm->arena, line->rest.data, line->rest.size);
    line->out_of_memory = line->out_of_memory || text == NULL;
    line->rest.size = 0;
    return text;
}

static uint32_t take_memory(struct line *line)
{
    uint64_t index = take_decimal(line);
    if (index >= line->vm->memory_count)
        line->bad = true;
    return line->bad ? 0 : (uint32_t)index;
}

static void take_counts(struct line *line, struct wndl_vm_counts *counts)
{
    for (int access = 0; access < WNDL_VM_ACCESSES; access++)
        for (int fault = 0; fault < WNDL_VM_FAULTS; fault++)
            counts->n[access][fault] = take_decimal(line);
}

/* Takes the word if it is all that is left. */
static bool take_last(struct line *line, const char *word)
{
    if (!is_word(line->rest, word))
        return false;
    line->rest.size = 0;
    return true;
}

/* Takes the rest of the line: at least one address, and perhaps "cut". */
static const uint64_t *take_ips(struct line *line, uint32_t *count, bool *cut)
{
    struct wndl_vec ips;
    wndl_vec_init(&ips, &line->vm->arena, sizeof(uint64_t));
    do {
        uint64_t ip = take_address(line);
        uint64_t *to = wndl_vec_push(&ips);
        if (to == NULL) {
            line->out_of_memory = true;
            return NULL;
        }
        *to = ip;
        *cut = take_last(line, "cut");
    } while (line->rest.size != 0 && !line->bad);
    *count = (uint32_t)ips.len;
    return ips.data;
}

/* ---- lines */

static void *push(struct line *line, struct wndl_vec *vec)
{
    void *row = wndl_vec_push(vec);
    line->out_of_memory = line->out_of_memory || row == NULL;
    return row;
}

static void read_command(struct line *line)
{
    line->vm->command = take_rest(line);
}

static void read_pid(struct line *line)
{
    line->vm->pid = take_decimal(line);
}

static void read_running(struct line *line)
{
    line->vm->is_running = true;
}

static void read_page(struct line *line)
{
    line->vm->page = take_decimal(line);
}

static void read_instructions(struct line *line)
{
    line->vm->instructions = take_decimal(line);
}

static void read_data(struct line *line)
{
    line->vm->data = take_decimal(line);
}

static void read_pages(struct line *line)
{
    line->vm->pages = take_decimal(line);
}

static void read_mapped(struct line *line)
{
    line->vm->mapped = take_decimal(line);
}

static void read_spans(struct line *line)
{
    line->vm->span_length = take_decimal(line);
}

static void read_stacks(struct line *line)
{
    line->vm->stacks_every = take_decimal(line);
}

static void read_memory(struct line *line)
{
    struct wndl_vm *vm = line->vm;
    uint64_t index = take_decimal(line);
    if (index != vm->memory_count || index == WNDL_VM_MEMORIES) {
        line->bad = true;
        return;
    }
    struct wndl_vm_memory *memory = &vm->memories[vm->memory_count++];
    memory->bytes = take_decimal(line);
    memory->swapped = take_decimal(line);
    take_counts(line, &memory->total);
}

static void read_code(struct line *line)
{
    struct wndl_vm_code code = {.start = take_address(line)};
    code.end = take_address(line);
    code.offset = take_address(line);
    code.path = take_rest(line);
    if (code.end < code.start)
        line->bad = true;
    struct wndl_vm_code *row = push(line, &line->vm->code);
    if (row != NULL)
        *row = code;
}

static void read_ran(struct line *line)
{
    struct wndl_vm_ran ran = {.ip = take_address(line)};
    ran.fetches = take_decimal(line);
    ran.data = take_decimal(line);
    struct wndl_vm_ran *row = push(line, &line->vm->ran);
    if (row != NULL)
        *row = ran;
}

static void add_row(struct line *line, const struct wndl_vm_row *row)
{
    struct wndl_vm_row *to = push(line, &line->vm->rows);
    if (to != NULL)
        *to = *row;
}

static void read_fault(struct line *line)
{
    struct wndl_vm_row row = {.kind = WNDL_VM_AT};
    uint64_t *ip = wndl_arena_alloc(&line->vm->arena, sizeof *ip);
    if (ip == NULL) {
        line->out_of_memory = true;
        return;
    }
    *ip = take_address(line);
    row.ips = ip;
    row.ip_count = 1;
    row.memory = take_memory(line);
    take_counts(line, &row.counts);
    add_row(line, &row);
}

static void read_path(struct line *line)
{
    struct wndl_vm_row row = {.kind = WNDL_VM_PATH};
    row.memory = take_memory(line);
    take_counts(line, &row.counts);
    row.ips = take_ips(line, &row.ip_count, &row.cut);
    add_row(line, &row);
}

static void read_mapping(struct line *line)
{
    struct wndl_vm_row row = {.kind = WNDL_VM_MAPPING};
    row.memory = take_memory(line);
    take_counts(line, &row.counts);
    row.name = take_rest(line);
    add_row(line, &row);
}

static void read_heap(struct line *line)
{
    struct wndl_vm_row row = {.kind = WNDL_VM_SITE};
    row.memory = take_memory(line);
    row.blocks = take_decimal(line);
    row.bytes = take_decimal(line);
    take_counts(line, &row.counts);
    row.ips = take_ips(line, &row.ip_count, &row.cut);
    add_row(line, &row);
}

static void read_span(struct line *line)
{
    struct wndl_vm_row row = {.kind = WNDL_VM_SPAN};
    row.index = take_decimal(line);
    row.memory = take_memory(line);
    take_counts(line, &row.counts);
    add_row(line, &row);
}

static void read_stack(struct line *line)
{
    struct wndl_vm_stack stack = {.thread = (uint32_t)take_decimal(line)};
    stack.at = take_decimal(line);
    stack.weight = take_decimal(line);
    stack.ips = take_ips(line, &stack.ip_count, &stack.cut);
    struct wndl_vm_stack *row = push(line, &line->vm->stacks);
    if (row != NULL)
        *row = stack;
}

static void read_start(struct line *line)
{
    struct wndl_vm_start start = {.start = take_address(line)};
    start.end = take_address(line);
    struct wndl_vm_start *row = push(line, &line->vm->starts);
    if (row != NULL)
        *row = start;
}

static const struct {
    const char *word;
    void (*read)(struct line *line);
} line_kinds[] = {
    {"code", read_code},
    {"command", read_command},
    {"data", read_data},
    {"fault", read_fault},
    {"heap", read_heap},
    {"instructions", read_instructions},
    {"mapped", read_mapped},
    {"mapping", read_mapping},
    {"memory", read_memory},
    {"page", read_page},
    {"pages", read_pages},
    {"path", read_path},
    {"pid", read_pid},
    {"ran", read_ran},
    {"running", read_running},
    {"span", read_span},
    {"spans", read_spans},
    {"stack", read_stack},
    {"stacks", read_stacks},
    {"start", read_start},
};

/* Lines from a later version are skipped. */
static void read_line(struct line *line)
{
    const struct wndl_bytes word = take_word(line);
    for (size_t i = 0; i < sizeof line_kinds / sizeof *line_kinds; i++) {
        if (!is_word(word, line_kinds[i].word))
            continue;
        line_kinds[i].read(line);
        line->bad = line->bad || line->rest.size != 0;
        return;
    }
}

static enum wndl_status check_whole(
    const struct wndl_vm *vm, bool has_end, struct wndl_error *err)
{
    if (!has_end)
        return wndl_fail(err, WNDL_TRUNCATED, "the last line is missing");
    if (vm->memory_count == 0 || vm->page == 0)
        return wndl_fail(
            err, WNDL_MALFORMED, "there is no line 'memory' or 'page'");
    return WNDL_OK;
}

enum wndl_status wndl_vm_read(
    struct wndl_vm *vm, struct wndl_bytes file, struct wndl_error *err)
{
    struct wndl_lines lines = wndl_lines_of(file);
    struct line line = {.vm = vm};
    bool has_end = false;
    if (!wndl_lines_next(&lines, &line.rest) || !is_word(line.rest, FIRST_LINE))
        return wndl_fail(
            err, WNDL_MALFORMED, "the first line is not '%s'", FIRST_LINE);
    while (!has_end && wndl_lines_next(&lines, &line.rest)) {
        has_end = is_word(line.rest, "end");
        read_line(&line);
        if (line.out_of_memory)
            return wndl_fail(err, WNDL_NOMEM, "no memory for the results");
        if (line.bad)
            return wndl_fail(err, WNDL_MALFORMED, "line %" PRIu64 " is invalid",
                lines.number);
    }
    return check_whole(vm, has_end, err);
}
