/* SPDX-License-Identifier: MIT */
/*
 * cmd_record: `windlass record`, options in, collector, summary out.
 */
#include "cli/collector.h"
#include "cli/command.h"
#include "cli/record_summary.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RATE_MAX = 50000 };

struct record_options {
    uint64_t rate; /* Hz */
    const char *output;
    bool no_children;
    bool quiet;
};

static const struct wndl_option options[] = {
    {'r', "rate", "HZ", NULL, "1000", NULL,
        "samples per second of CPU time of each thread, up to 50000",
        WNDL_OPT_COUNT, offsetof(struct record_options, rate)},
    {'o', "output", "FILE", NULL, "%n.%p.cpu.wndl", NULL,
        "where to write; %n is the program's name, %p its pid, %h the host",
        WNDL_OPT_TEXT, offsetof(struct record_options, output)},
    {0, "no-children", NULL, NULL, NULL, NULL,
        "record only the program itself, not what it starts", WNDL_OPT_FLAG,
        offsetof(struct record_options, no_children)},
    {'q', "quiet", NULL, NULL, NULL, NULL, "say nothing but errors",
        WNDL_OPT_FLAG, offsetof(struct record_options, quiet)},
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass record ./server --port 8080",
        "record a program until it ends or is interrupted"},
    {"windlass record -r 10000 -o short.wndl ./test",
        "sample a short program every 0.1 ms"},
    {"windlass record make -j4", "record a build with all its compilers"},
    {NULL, NULL},
};

/* The object beside this executable, built or installed. */
static char *find_runtime(void)
{
    static const char *const places[] = {
        "../rt/libwindlass-rt.so",
        WNDL_RUNTIME_FROM_BINDIR "/libwindlass-rt.so",
    };
    char self[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    if (size <= 0)
        return NULL;
    self[size] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char path[2 * PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", self, places[i]);
        char *found = realpath(path, NULL);
        if (found != NULL)
            return found;
    }
    return NULL;
}

/* ld.so splits LD_PRELOAD at both (ld.so(8)). */
static bool can_be_preloaded(const char *path)
{
    return strpbrk(path, " :") == NULL;
}

static int record(
    const struct record_options *o, const char *runtime, char **command)
{
    struct wndl_collector_request request = {
        .command = command,
        .file = o->output,
        .runtime = runtime,
        .interval = UINT64_C(1000000000) / o->rate,
        .only_first = o->no_children,
    };
    struct wndl_collector_result result;
    struct wndl_error err = {0};
    wndl_collector_probe(&request.engine);
    if (!o->quiet)
        wndl_record_say_engine(&request.engine);
    if (wndl_collector_run(&request, &result, &err) != WNDL_OK) {
        char text[512];
        wndl_cli_error("%s", wndl_error_text(&err, text, sizeof text));
    }
    if (result.started && !o->quiet)
        wndl_record_say_summary(&request, &result);
    wndl_mem_free(wndl_mem_libc(), result.path);
    return result.exit_code;
}

static bool is_usable(const struct record_options *o)
{
    static const char see[] = "see 'windlass record --help'";
    bool no_file = *o->output == '\0' || strcmp(o->output, "-") == 0;
    if (o->rate > RATE_MAX)
        wndl_cli_error("--rate takes at most %d, not '%" PRIu64 "'; %s",
            RATE_MAX, o->rate, see);
    if (no_file)
        wndl_cli_error("--output takes the name of a file, not '%s': standard "
                       "output is the command's; %s",
            o->output, see);
    return o->rate <= RATE_MAX && !no_file;
}

static int run(const void *parsed, struct wndl_operands operands)
{
    const struct record_options *o = parsed;
    if (!is_usable(o))
        return WNDL_EXIT_USAGE;
    char *runtime = find_runtime();
    int exit_code = WNDL_EXIT_START;
    if (runtime == NULL)
        wndl_cli_error("libwindlass-rt.so is not where this windlass was "
                       "built or installed; install it again");
    else if (!can_be_preloaded(runtime))
        wndl_cli_error("'%s' cannot be preloaded: the loader's list is split "
                       "at spaces and colons; install windlass elsewhere",
            runtime);
    else
        exit_code = record(o, runtime, operands.texts);
    free(runtime);
    return exit_code;
}

const struct wndl_command wndl_cmd_record = {
    .name = "record",
    .summary = "record a program and all its children",
    .operands = "[--] COMMAND [ARG...]",
    .description =
        "Runs COMMAND and samples the call stacks of all its threads, and of "
        "all processes it starts, while they use the CPU. The recording holds "
        "everything; look at it with 'windlass report'. It ends when COMMAND "
        "does: what that leaves running in the background runs on "
        "unrecorded.\n"
        "\n"
        "The command's standard streams are left alone, and its exit status is "
        "passed on; 128 + N says that signal N killed it. Trouble of windlass "
        "itself gives 125, a command that cannot be executed 126, one that is "
        "not found 127. "
        "SIGINT, SIGTERM, SIGHUP and SIGQUIT sent to windlass are passed on to "
        "the command.\n"
        "\n"
        "Not recorded: programs that are statically linked, set-user-ID, made "
        "for another libc than glibc or run by Valgrind, and children that "
        "are started with an empty environment. Threads that use the CPU for "
        "less than a sampling interval in all leave no sample. A program "
        "built with gcc's AddressSanitizer starts only with "
        "ASAN_OPTIONS=verify_asan_link_order=0.",
    .options = options,
    .options_size = sizeof(struct record_options),
    .examples = examples,
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .operands_end_options = true,
    .run = run,
};
