/* SPDX-License-Identifier: MIT */
/* cmd_record: `windlass record`. */
#include "cli/core/command.h"
#include "cli/record/run.h"

static const struct wndl_example examples[] = {
    {"windlass record ./server --port 8080",
        "record a program until it ends or is interrupted"},
    {"windlass record -r 10000 -o short.wndl ./test",
        "sample a short program every 0.1 ms"},
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
    .summary = "record a program and all its children",
    .operands = "[--] COMMAND [ARG...]",
    .description =
        "Runs COMMAND and samples the call stacks of all its threads, and of "
        "all processes it starts, while they use the CPU; where they are "
        "blocked is looked at from outside. The recording holds everything; "
        "look at it with 'windlass report'. What COMMAND leaves running in "
        "the background goes on being recorded, by a process of its own; "
        "'windlass ctl' can pause, end and write a recording while it runs."
        "\n\n"
        "The command's standard streams are left alone, and its exit status is "
        "passed on; 128 + N says that signal N killed it. Trouble of windlass "
        "itself gives 125, a command that cannot be executed 126, one that is "
        "not found 127. "
        "SIGINT, SIGTERM, SIGHUP and SIGQUIT sent to windlass alone are passed "
        "on to the command.\n"
        "\n"
        "Not recorded, but named at the end: programs that are statically "
        "linked, set-user-ID, made for another libc than glibc, written in Go, "
        "run by Valgrind, or kept from it by their sandbox. "
        "Threads that use the CPU for "
        "less than a sampling interval in all leave no sample. A program "
        "built with gcc's AddressSanitizer starts only with "
        "ASAN_OPTIONS=verify_asan_link_order=0.\n"
        "\n"
        "Options are also taken from the variable WINDLASS_OPTIONS, by their "
        "long names and separated by spaces: WINDLASS_OPTIONS='rate=5000 "
        "no-children'. With it set, a program can be recorded without this "
        "command, by LD_PRELOAD of libwindlass-rt.so; WINDLASS_OPTIONS=help "
        "lists them then.",
    .options = wndl_record_option_rows,
    .options_size = sizeof(struct wndl_record_options),
    .env_options = wndl_record_option_rows,
    .examples = examples,
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .operands_end_options = true,
    .run = run,
};
