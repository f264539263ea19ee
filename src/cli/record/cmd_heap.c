/* SPDX-License-Identifier: MIT */
/* cmd_heap: `windlass heap`. */
#include "cli/core/command.h"
#include "cli/record/run.h"

static const struct wndl_example examples[] = {
    {"windlass heap ./server --port 8080",
        "record who holds the memory at the end and at the peak"},
    {"windlass heap --mode cumulative ./convert in out",
        "record every allocation ever made, and how long it lived"},
    {"windlass heap --stacks partial --snapshot-every 60 ./server",
        "cheaper, with a snapshot each minute"},
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
        "Runs COMMAND and counts what it and all processes it starts allocate "
        "by malloc, C++ new and their kind: each block with its size and its "
        "whole stack. The recording holds what lived at the end and at the "
        "peak, what nothing pointed to any more at the end (leaks), and what "
        "was live over time; look at it with 'windlass report'. 'windlass ctl "
        "PID dump' adds a snapshot while COMMAND runs.\n"
        "\n"
        "The command's standard streams are left alone, and its exit status is "
        "passed on; 128 + N says that signal N killed it. Trouble of windlass "
        "itself gives 125, a command that cannot be executed 126, one that is "
        "not found 127. What is recorded of a program that is killed is what "
        "it had counted until then. What cannot be recorded is as with "
        "'windlass record'; nor are the heaps of programs with a sanitizer "
        "that has a malloc of its own (-fsanitize=address, thread, ...).\n"
        "\n"
        "Options are also taken from the variable WINDLASS_OPTIONS, by their "
        "long names and separated by spaces: WINDLASS_OPTIONS='mode=cumulative "
        "no-children'. To record CPU samples in the same recording use "
        "'windlass record --heap'.",
    .options = wndl_heap_option_rows,
    .options_size = sizeof(struct wndl_record_options),
    .env_options = wndl_heap_option_rows,
    .examples = examples,
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .operands_end_options = true,
    .run = run,
};
