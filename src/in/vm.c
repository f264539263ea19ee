/* SPDX-License-Identifier: MIT */
#include "in/vm.h"

#include "base/text.h"
#include "in/core/results.h"

#define FIRST_LINE "windlass-vmprof 1"

static struct wndl_vm *vm_of(const struct wndl_result_line *line)
{
    return line->into;
}

bool wndl_vm_is(struct wndl_bytes file)
{
    return wndl_bytes_start_with(file, FIRST_LINE "\n");
}

/* ---- fields */

static uint32_t take_memory(struct wndl_result_line *line)
{
    uint64_t index = wndl_result_decimal(line);
    if (index >= vm_of(line)->memory_count)
        line->bad = true;
    return line->bad ? 0 : (uint32_t)index;
}

static void take_counts(
    struct wndl_result_line *line, struct wndl_vm_counts *counts)
{
    for (int access = 0; access < WNDL_VM_ACCESSES; access++)
        for (int fault = 0; fault < WNDL_VM_FAULTS; fault++)
            counts->n[access][fault] = wndl_result_decimal(line);
}

/* ---- lines */

static void read_command(struct wndl_result_line *line)
{
    vm_of(line)->command = wndl_result_rest(line);
}

static void read_pid(struct wndl_result_line *line)
{
    vm_of(line)->pid = wndl_result_decimal(line);
}

static void read_running(struct wndl_result_line *line)
{
    vm_of(line)->is_running = true;
}

static void read_page(struct wndl_result_line *line)
{
    vm_of(line)->page = wndl_result_decimal(line);
}

static void read_instructions(struct wndl_result_line *line)
{
    vm_of(line)->instructions = wndl_result_decimal(line);
}

static void read_data(struct wndl_result_line *line)
{
    vm_of(line)->data = wndl_result_decimal(line);
}

static void read_pages(struct wndl_result_line *line)
{
    vm_of(line)->pages = wndl_result_decimal(line);
}

static void read_mapped(struct wndl_result_line *line)
{
    vm_of(line)->mapped = wndl_result_decimal(line);
}

static void read_spans(struct wndl_result_line *line)
{
    vm_of(line)->span_length = wndl_result_decimal(line);
}

static void read_stacks(struct wndl_result_line *line)
{
    vm_of(line)->stacks_every = wndl_result_decimal(line);
}

static void read_memory(struct wndl_result_line *line)
{
    struct wndl_vm *vm = vm_of(line);
    uint64_t index = wndl_result_decimal(line);
    if (index != vm->memory_count || index == WNDL_VM_MEMORIES) {
        line->bad = true;
        return;
    }
    struct wndl_vm_memory *memory = &vm->memories[vm->memory_count++];
    memory->bytes = wndl_result_decimal(line);
    memory->swapped = wndl_result_decimal(line);
    take_counts(line, &memory->total);
}

static void read_code(struct wndl_result_line *line)
{
    wndl_result_code(line, &vm_of(line)->code);
}

static void read_ran(struct wndl_result_line *line)
{
    struct wndl_vm_ran ran = {.ip = wndl_result_hex(line)};
    ran.fetches = wndl_result_decimal(line);
    ran.data = wndl_result_decimal(line);
    struct wndl_vm_ran *row = wndl_result_push(line, &vm_of(line)->ran);
    if (row != NULL)
        *row = ran;
}

static void add_row(
    struct wndl_result_line *line, const struct wndl_vm_row *row)
{
    struct wndl_vm_row *to = wndl_result_push(line, &vm_of(line)->rows);
    if (to != NULL)
        *to = *row;
}

static void read_fault(struct wndl_result_line *line)
{
    struct wndl_vm_row row = {.kind = WNDL_VM_AT};
    uint64_t *ip = wndl_arena_alloc(&vm_of(line)->arena, sizeof *ip);
    if (ip == NULL) {
        line->out_of_memory = true;
        return;
    }
    *ip = wndl_result_hex(line);
    row.ips = ip;
    row.ip_count = 1;
    row.memory = take_memory(line);
    take_counts(line, &row.counts);
    add_row(line, &row);
}

static void read_path(struct wndl_result_line *line)
{
    struct wndl_vm_row row = {.kind = WNDL_VM_PATH};
    row.memory = take_memory(line);
    take_counts(line, &row.counts);
    row.ips = wndl_result_ips(line, &row.ip_count, &row.cut);
    add_row(line, &row);
}

static void read_mapping(struct wndl_result_line *line)
{
    struct wndl_vm_row row = {.kind = WNDL_VM_MAPPING};
    row.memory = take_memory(line);
    take_counts(line, &row.counts);
    row.name = wndl_result_rest(line);
    add_row(line, &row);
}

static void read_heap(struct wndl_result_line *line)
{
    struct wndl_vm_row row = {.kind = WNDL_VM_SITE};
    row.memory = take_memory(line);
    row.blocks = wndl_result_decimal(line);
    row.bytes = wndl_result_decimal(line);
    take_counts(line, &row.counts);
    row.ips = wndl_result_ips(line, &row.ip_count, &row.cut);
    add_row(line, &row);
}

static void read_span(struct wndl_result_line *line)
{
    struct wndl_vm_row row = {.kind = WNDL_VM_SPAN};
    row.index = wndl_result_decimal(line);
    row.memory = take_memory(line);
    take_counts(line, &row.counts);
    add_row(line, &row);
}

static void read_stack(struct wndl_result_line *line)
{
    struct wndl_vm_stack stack = {
        .thread = (uint32_t)wndl_result_decimal(line)};
    stack.at = wndl_result_decimal(line);
    stack.weight = wndl_result_decimal(line);
    stack.ips = wndl_result_ips(line, &stack.ip_count, &stack.cut);
    struct wndl_vm_stack *row = wndl_result_push(line, &vm_of(line)->stacks);
    if (row != NULL)
        *row = stack;
}

static void read_start(struct wndl_result_line *line)
{
    struct wndl_vm_start start = {.start = wndl_result_hex(line)};
    start.end = wndl_result_hex(line);
    struct wndl_vm_start *row = wndl_result_push(line, &vm_of(line)->starts);
    if (row != NULL)
        *row = start;
}

static const struct wndl_result_kind line_kinds[] = {
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

enum wndl_status wndl_vm_read(
    struct wndl_vm *vm, struct wndl_bytes file, struct wndl_error *err)
{
    static const struct wndl_result_format format = {
        FIRST_LINE, line_kinds, sizeof line_kinds / sizeof *line_kinds};
    struct wndl_result_line line = {.into = vm, .arena = &vm->arena};
    enum wndl_status status = wndl_results_read(&line, file, &format, err);
    if (status == WNDL_OK && (vm->memory_count == 0 || vm->page == 0))
        return wndl_fail(
            err, WNDL_MALFORMED, "there is no line 'memory' or 'page'");
    return status;
}
