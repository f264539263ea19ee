/* SPDX-License-Identifier: MIT */
/* cmd_heap: `windlass heap`. */
#include "cli/core/command.h"
#include "cli/record/run.h"

static const struct wndl_example examples[] = {
    {"windlass heap ./server --port 8080",
        "see which code holds memory at the end and at the peak"},
    {"windlass heap --mode cumulative ./convert in out",
        "record every allocation, and how long each block lived"},
    {"windlass heap --stacks partial --snapshot-every 60 ./server",
        "record at lower cost, with a snapshot each minute"},
    {NULL, NULL},
};

static int run(const void *parsed, struct wndl_operands operands)
{
    struct wndl_record_options o = *(const struct wndl_record_options *)parsed;
    o.heap = true;
    o.no_samples = true;
    return wndl_record_run(&o, operands, wndl_cmd_heap.name);
}

const struct wndl_command wndl_cmd_heap = {
    .name = "heap",
    .group = WNDL_GROUP_RECORD,
    .summary = "record who allocates and holds a program's memory",
    .operands = "[--] COMMAND [ARG...]",
    .description =
        "Runs COMMAND and records the allocations of it and of all processes "
        "that it starts (malloc, C++ new and the like): each block with its "
        "size and its whole stack. The recording holds the blocks that were "
        "live at the end and at the peak, leaks (blocks that nothing pointed "
        "to at the end), and the live bytes over time. Show it with 'windlass "
        "report'. 'windlass ctl PID dump' adds a snapshot while COMMAND "
        "runs.\n\n"
        "COMMAND keeps its standard streams, and windlass exits with its exit "
        "status: 128 + N if signal N killed it. If windlass cannot start, the "
        "status is 125; if COMMAND cannot be executed, 126; if it is not "
        "found, 127. If a program is killed, its recording holds the counts up "
        "to that moment. 'windlass record --help' lists the programs that "
        "cannot be recorded; the heap of a program with a sanitizer that has a "
        "malloc of its own (-fsanitize=address, thread, ...) cannot be "
        "recorded either.\n\n"
        "The variable WINDLASS_OPTIONS holds options too, by their long names, "
        "separated by spaces: WINDLASS_OPTIONS='mode=cumulative no-children'. "
        "'windlass record --heap' records CPU samples and the heap together.",
    .options = wndl_heap_option_rows,
    .options_size = sizeof(struct wndl_record_options),
    .env_options = wndl_heap_option_rows,
    .examples = examples,
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .operands_end_options = true,
    .run = run,
};
