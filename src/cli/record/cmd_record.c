/* SPDX-License-Identifier: MIT */
/* cmd_record: `windlass record`. */
#include "cli/core/command.h"
#include "cli/record/run.h"

static const struct wndl_example examples[] = {
    {"windlass record ./server --port 8080",
        "record a program until it ends or is interrupted"},
    {"windlass record -r 10000 -o short.wndl ./test",
        "sample a short program every 0.1 ms"},
    {"windlass record -p 4711 -d 10",
        "record a process that runs already for 10 seconds"},
    {"windlass record make -j4", "record a build with all its compilers"},
    {NULL, NULL},
};

static int run(const void *parsed, struct wndl_operands operands)
{
    return wndl_record_run(parsed, operands, wndl_cmd_record.name);
}

const struct wndl_command wndl_cmd_record = {
    .name = "record",
    .group = WNDL_GROUP_RECORD,
    .summary = "record a program and all its children, or a running one",
    .operands = "[--] COMMAND [ARG...]",
    .description =
        "Runs COMMAND and samples the call stacks of all its threads, and of "
        "all processes that it starts: running threads by their CPU time, "
        "blocked threads from outside. Show the recording with 'windlass "
        "report'. Processes that COMMAND leaves in the background are still "
        "recorded after it ends; 'windlass ctl' pauses, stops or dumps a "
        "running recording.\n\n"
        "COMMAND keeps its standard streams, and windlass exits with its exit "
        "status: 128 + N if signal N killed it. If windlass cannot start, the "
        "status is 125; if COMMAND cannot be executed, 126; if it is not "
        "found, 127. SIGINT, SIGTERM, SIGHUP and SIGQUIT that are sent to "
        "windlass alone are passed on to COMMAND.\n\n"
        "With --pid or --tree, and then without COMMAND if there is none to "
        "wait for, it records processes that run already, from "
        "outside: nothing is loaded into them, no signal is sent, and they are "
        "not stopped. It ends with Ctrl-C, with --duration, with the "
        "processes, "
        "or with COMMAND.\n\n"
        "Nothing can be loaded into statically linked programs, those built "
        "for another libc than glibc, and those written in Go: where the "
        "engine is perf, they are sampled from outside, as with --pid; so are "
        "set-user-ID programs, if the user is root. Some "
        "programs cannot be recorded and are named at the end: other "
        "set-user-ID ones, those run by Valgrind, or locked into a sandbox "
        "that forbids it. A thread that uses the CPU for less than one "
        "sampling interval in all leaves no sample. A program built with gcc's "
        "AddressSanitizer starts only with "
        "ASAN_OPTIONS=verify_asan_link_order=0.\n\n"
        "The variable WINDLASS_OPTIONS holds options too, by their long names, "
        "separated by spaces: WINDLASS_OPTIONS='rate=5000 no-children'. If it "
        "is set, a program that runs with libwindlass-rt.so in LD_PRELOAD is "
        "recorded without this command; WINDLASS_OPTIONS=help then lists the "
        "options.",
    .options = wndl_record_option_rows,
    .options_size = sizeof(struct wndl_record_options),
    .env_options = wndl_record_option_rows,
    .examples = examples,
    .min_operands = 0,
    .max_operands = SIZE_MAX,
    .operands_end_options = true,
    .run = run,
};
