/* SPDX-License-Identifier: MIT */
#include "cli/record/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RATE_MAX = 20000,
    BUFFER_MIN = 256 * 1024,
    SECONDS_MAX = 1000 * 1000 * 1000,
    PROBLEM_SIZE = WNDL_PROBLEM_SIZE,
    SAMPLE_BELOW = 4096,
    SCAN_MEMORY_USUAL = 1024 * 1024 * 1024,
    STACK_SIZE = 16 * 1024,
};

/* The random number that decides has 32 bits. */
#define SAMPLE_BELOW_MAX (UINT64_C(1) << 32)

#define FIELD(name) offsetof(struct wndl_record_options, name)

/* ---- rows of both tables */

#define MAX_FRAMES                                                             \
    {                                                                          \
        0, "max-frames", "N", NULL, "512", NULL,                               \
            "cut stacks deeper than N frames; N is at most 32768",             \
            WNDL_OPT_COUNT, FIELD(max_frames)                                  \
    }

#define UNWIND                                                                 \
    {                                                                          \
        0, "unwind", NULL, "auto|cfi|fp|scan", "auto", NULL,                   \
            "how to find callers: cfi: by call frame information (CFI); fp: "  \
            "by frame pointers; auto: by CFI and rules made from x86-64 "      \
            "code, "                                                           \
            "then by frame pointers; scan: as auto, then by guessing return "  \
            "addresses from the contents of the stack, which may be wrong",    \
            WNDL_OPT_CHOICE, FIELD(unwind)                                     \
    }

#define UNWIND_TABLE                                                           \
    {                                                                          \
        0, "unwind-table", "MODULE=FILE", NULL, NULL, NULL,                    \
            "use the unwind table in FILE, windlass's or Chromium's, for the " \
            "program or library MODULE, a path or a file name; may be "        \
            "repeated",                                                        \
            WNDL_OPT_LIST, FIELD(tables)                                       \
    }

#define OUTPUT(pattern)                                                        \
    {                                                                          \
        'o', "output", "FILE", NULL, pattern, NULL,                            \
            "write the recording to FILE; %n stands for the program's name, "  \
            "%p for its pid, %h for the host name; a recording that is there " \
            "is kept as FILE.old, any other file that is not empty is an "     \
            "error",                                                           \
            WNDL_OPT_TEXT, FIELD(output)                                       \
    }

#define NO_CHILDREN                                                            \
    {                                                                          \
        0, "no-children", NULL, NULL, NULL, NULL,                              \
            "record only the program itself, not the processes that it "       \
            "starts",                                                          \
            WNDL_OPT_FLAG, FIELD(no_children)                                  \
    }

#define QUIET                                                                  \
    {                                                                          \
        'q', "quiet", NULL, NULL, NULL, NULL, "print only errors",             \
            WNDL_OPT_FLAG, FIELD(quiet)                                        \
    }

#define MODE                                                                   \
    {                                                                          \
        0, "mode", NULL, "live|cumulative|dark-matter", "live", NULL,          \
            "what to record of the heap: live: the blocks that were live at "  \
            "the end, at the peak and at each snapshot; cumulative: also how " \
            "long blocks lived, and which were freed right away; "             \
            "dark-matter: also which live blocks the program's memory "        \
            "reporters (windlass/memory.h) report, and which they report "     \
            "twice",                                                           \
            WNDL_OPT_CHOSEN, FIELD(mode)                                       \
    }

#define STACKS                                                                 \
    {                                                                          \
        0, "stacks", NULL, "full|partial", "full", NULL,                       \
            "record the stack of every block (full), or choose small blocks "  \
            "by chance (partial), which costs less and makes their figures "   \
            "estimates",                                                       \
            WNDL_OPT_CHOSEN, FIELD(stacks)                                     \
    }

#define SAMPLE_BELOW_ROW                                                       \
    {                                                                          \
        0, "sample-below", "BYTES", NULL, NULL, NULL,                          \
            "with --stacks partial: choose blocks below BYTES by chance, "     \
            "small ones more rarely (default 4096)",                           \
            WNDL_OPT_SIZE, FIELD(sample_below)                                 \
    }

#define SNAPSHOT_EVERY                                                         \
    {0, "snapshot-every", "SEC", NULL, NULL, NULL,                             \
        "also take a snapshot of the heap every SEC seconds", WNDL_OPT_REAL,   \
        FIELD(snapshot_every)},                                                \
        WNDL_OPTION_OLD_NAME("every", WNDL_OPT_REAL, FIELD(snapshot_every))

#define AT_PEAKS                                                               \
    {                                                                          \
        0, "at-peaks", NULL, NULL, NULL, NULL,                                 \
            "also take a snapshot of the heap whenever it reaches a new "      \
            "maximum, at least 5 % above the last",                            \
            WNDL_OPT_FLAG, FIELD(at_peaks)                                     \
    }

#define NO_LEAKS                                                               \
    {                                                                          \
        0, "no-leaks", NULL, NULL, NULL, NULL,                                 \
            "do not search for leaks at the end (blocks that nothing points "  \
            "to)",                                                             \
            WNDL_OPT_FLAG, FIELD(no_leaks)                                     \
    }

#define SCAN                                                                   \
    {                                                                          \
        0, "scan", NULL, NULL, NULL, NULL,                                     \
            "write down at each snapshot and at the end which blocks point "   \
            "to which, for 'windlass report --retained', --who-holds and "     \
            "--block",                                                         \
            WNDL_OPT_FLAG, FIELD(scan)                                         \
    }

#define KEEP_CONTENTS                                                          \
    {                                                                          \
        0, "keep-contents", NULL, NULL, NULL, NULL,                            \
            "with --scan: write the contents of all blocks to the recording, " \
            "too, for 'windlass export -f dmd'; they may be secret",           \
            WNDL_OPT_FLAG, FIELD(keep_contents)                                \
    }

#define POINTER_MASK                                                           \
    {                                                                          \
        0, "pointer-mask", "MASK", NULL, NULL, NULL,                           \
            "of a program with tags in its pointers: the bits of a word that " \
            "are an address, in hex, for --scan and the search for leaks "     \
            "(such as 0xffffffffffff without the upper 16)",                   \
            WNDL_OPT_TEXT, FIELD(pointer_mask)                                 \
    }

#define SCAN_MEMORY                                                            \
    {                                                                          \
        0, "scan-memory", "SIZE", NULL, NULL, NULL,                            \
            "with --scan: give the scan up when the program has written to "   \
            "SIZE bytes of pages meanwhile, of which the kernel then keeps "   \
            "two copies (default 1G)",                                         \
            WNDL_OPT_SIZE, FIELD(scan_memory)                                  \
    }

#define TAG_LIB                                                                \
    {0, "tag-lib", "PATTERN=TAG", NULL, NULL, NULL,                            \
        "give TAG to the blocks of a library: those that modules whose names " \
        "match PATTERN (such as 'libGL*') allocate, or others for them, and "  \
        "all of the threads that they create; may be repeated",                \
        WNDL_OPT_LIST, FIELD(tag_libs)},                                       \
    {                                                                          \
        0, "own", "PATTERN", NULL, NULL, NULL,                                 \
            "with --tag-lib: modules whose names match PATTERN are the "       \
            "program's own, as its executable is: blocks that they allocate "  \
            "are no library's; may be repeated",                               \
            WNDL_OPT_LIST, FIELD(own)                                          \
    }

/* ---- options of perf, samply and heaptrack */

#define OTHERS_PID                                                             \
    WNDL_OPTION_OF_OTHERS('p', "pid",                                          \
        "windlass cannot record the heap of a process that runs already; did " \
        "you mean to start it, with 'windlass heap -- COMMAND'?")
#define OTHERS_CALL_GRAPH                                                      \
    WNDL_OPTION_OF_OTHERS('g', "call-graph",                                   \
        "every sample has its whole stack; leave it out (the nearest option "  \
        "is --unwind)")
#define OTHERS_ALL                                                             \
    WNDL_OPTION_OF_OTHERS('a', "all-cpus",                                     \
        "windlass records a command with all that it starts, not the whole "   \
        "machine; did you mean 'windlass record -- COMMAND'?")
#define OTHERS_EVENT                                                           \
    WNDL_OPTION_OF_OTHERS('e', "event",                                        \
        "windlass samples CPU time and waits, no other events; the nearest "   \
        "option is --engine")
#define OTHERS_COUNT                                                           \
    WNDL_OPTION_OF_OTHERS('c', "count",                                        \
        "samples are by time; the nearest option is --rate HZ (-r)")
#define OTHERS_TID                                                             \
    WNDL_OPTION_OF_OTHERS('t', "tid", "the nearest option is --threads PATTERN")
#define OTHERS_SAVE_ONLY                                                       \
    WNDL_OPTION_OF_OTHERS('s', "save-only",                                    \
        "the recording is always saved, and nothing is opened; leave it out "  \
        "('windlass view' is the nearest to samply's page)")

/* ---- the tables */

const struct wndl_option wndl_record_option_rows[] = {
    {'r', "rate", "HZ", NULL, "1000", NULL,
        "samples per second of CPU time of each thread, up to 20000",
        WNDL_OPT_COUNT, FIELD(rate)},
    {0, "engine", NULL, "auto|perf|tick|timer|outside|stop", "auto", NULL,
        "what samples running threads: perf: perf events of the kernel; tick: "
        "timers that fire with the kernel's tick; timer: timers of any rate; "
        "outside: none, only blocked threads are sampled; stop: with --pid, "
        "each running thread is stopped for a moment (ptrace), up to 200 times "
        "a second; auto: perf if the kernel allows it, else timer",
        WNDL_OPT_CHOICE, FIELD(engine)},
    {'p', "pid", "PID[,PID]", NULL, NULL, NULL,
        "record these running processes, until they end, or COMMAND does; "
        "nothing is loaded into them",
        WNDL_OPT_LIST, FIELD(pids)},
    {0, "tree", "PID[,PID]", NULL, NULL, NULL,
        "the same with all their children, also those to come", WNDL_OPT_LIST,
        FIELD(trees)},
    {0, "stack-size", "BYTES", NULL, NULL, NULL,
        "with --pid and --tree: the part of its stack that a sample copies, at "
        "most 65016 bytes; longer stacks are truncated; by default 16K, and "
        "more once stacks have been longer",
        WNDL_OPT_SIZE, FIELD(stack_size)},
    {0, "threads", "PATTERN[,PATTERN]", NULL, NULL, NULL,
        "sample only threads whose name contains PATTERN, ignoring case; "
        "'main' stands for the first thread of each process, 'pid:N' for all "
        "threads of process N",
        WNDL_OPT_LIST, FIELD(threads)},
    MAX_FRAMES,
    UNWIND,
    UNWIND_TABLE,
    {0, "no-off-cpu", NULL, NULL, NULL, NULL,
        "do not sample threads that are blocked or wait for a CPU",
        WNDL_OPT_FLAG, FIELD(no_off_cpu)},
    WNDL_OPTION_OLD_NAME("no-blocked", WNDL_OPT_FLAG, FIELD(no_off_cpu)),
    {'d', "duration", "SEC", NULL, NULL, NULL,
        "stop recording after SEC seconds; the command keeps running",
        WNDL_OPT_REAL, FIELD(duration)},
    {0, "delay", "SEC", NULL, NULL, NULL,
        "start paused and begin to record after SEC seconds; --duration counts "
        "from then",
        WNDL_OPT_REAL, FIELD(delay)},
    {0, "buffer", "SIZE", NULL, NULL, NULL,
        "keep only the last SIZE bytes of samples, such as 64M, in the "
        "recorder's memory; they are written when the command ends, however it "
        "ends, and by 'windlass ctl PID dump', but lost if the recorder is "
        "killed",
        WNDL_OPT_SIZE, FIELD(buffer)},
    {0, "heap", NULL, NULL, NULL, NULL,
        "record the heap too, as 'windlass heap' does; the next six options "
        "are for the heap",
        WNDL_OPT_FLAG, FIELD(heap)},
    MODE,
    STACKS,
    SAMPLE_BELOW_ROW,
    SNAPSHOT_EVERY,
    AT_PEAKS,
    NO_LEAKS,
    SCAN,
    KEEP_CONTENTS,
    SCAN_MEMORY,
    POINTER_MASK,
    OUTPUT("%n.%p.cpu.wndl"),
    NO_CHILDREN,
    QUIET,
    {'v', "verbose", NULL, NULL, NULL, NULL,
        "show counts while recording: samples, frames found by each way of "
        "unwinding, complete and incomplete stacks",
        WNDL_OPT_FLAG, FIELD(verbose)},
    WNDL_OPTION_OF_OTHERS(
        'F', "freq", "perf's -F is --rate here: did you mean '-r HZ'?"),
    WNDL_OPTION_OF_OTHERS('n', "no-inherit", "did you mean '--no-children'?"),
    OTHERS_CALL_GRAPH,
    OTHERS_ALL,
    OTHERS_EVENT,
    OTHERS_COUNT,
    OTHERS_TID,
    OTHERS_SAVE_ONLY,
    {0},
};

const struct wndl_option wndl_heap_option_rows[] = {
    MODE,
    STACKS,
    SAMPLE_BELOW_ROW,
    SNAPSHOT_EVERY,
    AT_PEAKS,
    NO_LEAKS,
    SCAN,
    KEEP_CONTENTS,
    SCAN_MEMORY,
    POINTER_MASK,
    TAG_LIB,
    MAX_FRAMES,
    UNWIND,
    UNWIND_TABLE,
    OUTPUT("%n.%p.heap.wndl"),
    NO_CHILDREN,
    QUIET,
    {'v', "verbose", NULL, NULL, NULL, NULL,
        "show running counts: live bytes and blocks, allocations",
        WNDL_OPT_FLAG, FIELD(verbose)},
    OTHERS_PID,
    OTHERS_CALL_GRAPH,
    OTHERS_SAVE_ONLY,
    WNDL_OPTION_OF_OTHERS('r', "record-only",
        "the recording is only written; leave it out ('windlass report' is "
        "the nearest to its analysis)"),
    {0},
};

static bool join_patterns(
    const struct wndl_option_list *list, char to[WNDL_SHM_PATTERNS])
{
    size_t used = 0;
    to[0] = '\0';
    for (size_t i = 0; i < list->count && used < WNDL_SHM_PATTERNS; i++)
        used += (size_t)snprintf(to + used, WNDL_SHM_PATTERNS - used, "%s%s",
            i == 0 ? "" : ",", list->texts[i]);
    return used < WNDL_SHM_PATTERNS;
}

/* An empty pattern would be in every name. */
static bool has_empty_pattern(const struct wndl_option_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *text = list->texts[i];
        size_t size = strlen(text);
        if (size == 0 || text[0] == ',' || text[size - 1] == ',' ||
            strstr(text, ",,") != NULL)
            return true;
    }
    return false;
}

/* 0: not given. */
static bool is_too_short(double seconds)
{
    return seconds != 0 && seconds < 0.001;
}

/* Whether the collector can expand each % of `pattern`. */
static bool is_known_pattern(const char *pattern)
{
    for (const char *c = strchr(pattern, '%'); c != NULL;
         c = strchr(c + 2, '%')) {
        if (c[1] == '\0' || strchr("pnh%", c[1]) == NULL)
            return false;
    }
    return true;
}

static bool check_output(const char *output, char *problem)
{
    if (*output == '\0' || strcmp(output, "-") == 0)
        snprintf(problem, PROBLEM_SIZE,
            "--output takes the name of a file, not '%s': the command uses "
            "standard output",
            output);
    else if (!is_known_pattern(output))
        snprintf(problem, PROBLEM_SIZE,
            "--output knows only %%n, %%p, %%h and %%%%: '%s'", output);
    else
        return true;
    return false;
}

static bool check_times(const struct wndl_record_options *o, char *problem)
{
    if (o->duration > SECONDS_MAX || o->delay > SECONDS_MAX)
        snprintf(problem, PROBLEM_SIZE,
            "--duration and --delay take at most %d seconds", SECONDS_MAX);
    else if (is_too_short(o->duration) || is_too_short(o->delay))
        snprintf(problem, PROBLEM_SIZE,
            "--duration and --delay take at least 0.001 seconds");
    else
        return true;
    return false;
}

/* False: it is none. */
static bool read_mask(const char *text, uint64_t *mask)
{
    char *end;
    errno = 0;
    *mask = strtoull(text, &end, 16);
    return errno == 0 && *mask != 0 && *text != '-' && *end == '\0';
}

static bool check_heap(const struct wndl_record_options *o, char *problem)
{
    uint64_t mask;
    bool given = o->mode.given || o->stacks.given || o->sample_below != 0 ||
                 o->snapshot_every != 0 || o->at_peaks || o->no_leaks ||
                 o->scan;
    if (given && !o->heap)
        snprintf(problem, PROBLEM_SIZE,
            "--mode, --stacks, --sample-below, --snapshot-every, --at-peaks, "
            "--no-leaks and --scan need --heap");
    else if (o->scan && o->stacks.index != 0)
        snprintf(problem, PROBLEM_SIZE,
            "--scan needs every block: it does not go with --stacks partial");
    else if (o->pointer_mask != NULL && !o->heap)
        snprintf(problem, PROBLEM_SIZE, "--pointer-mask needs --heap");
    else if (o->pointer_mask != NULL && !read_mask(o->pointer_mask, &mask))
        snprintf(problem, PROBLEM_SIZE,
            "--pointer-mask takes bits in hex, such as 0xffffffffffff, not "
            "'%.40s'",
            o->pointer_mask);
    else if (o->keep_contents && !o->scan)
        snprintf(problem, PROBLEM_SIZE, "--keep-contents needs --scan");
    else if (o->scan_memory != 0 && !o->scan)
        snprintf(problem, PROBLEM_SIZE, "--scan-memory needs --scan");
    else if (o->sample_below != 0 && o->stacks.index == 0)
        snprintf(
            problem, PROBLEM_SIZE, "--sample-below needs --stacks partial");
    else if (o->sample_below > SAMPLE_BELOW_MAX)
        snprintf(problem, PROBLEM_SIZE, "--sample-below takes at most 4G");
    else if (o->snapshot_every != 0 &&
             (o->snapshot_every < 0.1 || o->snapshot_every > SECONDS_MAX))
        snprintf(problem, PROBLEM_SIZE,
            "--snapshot-every takes 0.1 to %d seconds", SECONDS_MAX);
    else
        return true;
    return false;
}

static bool check_libraries(const struct wndl_record_options *o, char *problem)
{
    for (size_t i = 0; i < o->tag_libs.count; i++) {
        const char *text = o->tag_libs.texts[i];
        const char *equals = strrchr(text, '=');
        if (equals != NULL && equals != text && equals[1] != '\0')
            continue;
        snprintf(problem, PROBLEM_SIZE,
            "--tag-lib takes PATTERN=TAG, such as 'libGL*=driver', not '%s'",
            text);
        return false;
    }
    if (o->own.count == 0 || o->tag_libs.count != 0)
        return true;
    snprintf(problem, PROBLEM_SIZE, "--own needs --tag-lib");
    return false;
}

static bool check_options(const struct wndl_record_options *o, char *problem)
{
    if (o->rate > RATE_MAX)
        snprintf(problem, PROBLEM_SIZE,
            "--rate takes at most %d (a sample every 50 us), not '%" PRIu64 "'",
            RATE_MAX, o->rate);
    else if (o->max_frames > WNDL_FRAMES_MAX)
        snprintf(problem, PROBLEM_SIZE,
            "--max-frames takes at most %d, not '%" PRIu64 "'", WNDL_FRAMES_MAX,
            o->max_frames);
    else if (o->buffer != 0 && o->buffer < BUFFER_MIN)
        snprintf(problem, PROBLEM_SIZE, "--buffer takes at least %dK",
            BUFFER_MIN / 1024);
    else if (has_empty_pattern(&o->threads))
        snprintf(problem, PROBLEM_SIZE, "--threads: a PATTERN is empty");
    else
        return check_times(o, problem) && check_heap(o, problem) &&
               check_libraries(o, problem) && check_output(o->output, problem);
    return false;
}

static struct wndl_bytes bytes_of(const char *text, size_t size)
{
    return (struct wndl_bytes){(const uint8_t *)text, size};
}

/* The first pattern that matches decides: the program's own come first. */
static void apply_libraries(const struct wndl_record_options *o,
    struct wndl_collector_heap_request *heap)
{
    struct wndl_tag_library *to = heap->libraries;
    for (size_t i = 0; i < o->own.count; i++, to++)
        to->pattern = bytes_of(o->own.texts[i], strlen(o->own.texts[i]));
    for (size_t i = 0; i < o->tag_libs.count; i++, to++) {
        const char *text = o->tag_libs.texts[i];
        const char *equals = strrchr(text, '=');
        to->pattern = bytes_of(text, (size_t)(equals - text));
        to->tag = bytes_of(equals + 1, strlen(equals + 1));
    }
    heap->library_count = (size_t)(to - heap->libraries);
}

_Static_assert((int)WNDL_COLLECTOR_LIBRARIES >= 2 * (int)WNDL_OPTION_LIST_MAX,
    "all that can be given can be recorded");

static void apply_heap(const struct wndl_record_options *o,
    struct wndl_collector_heap_request *heap)
{
    static const uint32_t modes[] = {0, WNDL_HEAP_CUMULATIVE, WNDL_HEAP_DARK};
    uint64_t below = o->sample_below == 0 ? SAMPLE_BELOW : o->sample_below;
    uint64_t mask;
    if (!o->heap)
        return;
    heap->flags = WNDL_HEAP_ON | modes[o->mode.index] |
                  (o->no_leaks ? 0u : (unsigned)WNDL_HEAP_LEAKS) |
                  (o->scan ? (unsigned)WNDL_HEAP_SCAN : 0u) |
                  (o->keep_contents ? (unsigned)WNDL_HEAP_CONTENTS : 0u) |
                  (o->tag_libs.count != 0 ? (unsigned)WNDL_HEAP_STARTS : 0u);
    apply_libraries(o, heap);
    heap->sample_below = o->stacks.index == 0 ? 0 : below;
    heap->every = (uint64_t)(o->snapshot_every * 1e9);
    heap->at_peaks = o->at_peaks;
    if (o->pointer_mask != NULL && read_mask(o->pointer_mask, &mask))
        heap->pointer_tags = ~mask;
    heap->scan_memory =
        o->scan_memory == 0 ? SCAN_MEMORY_USUAL : o->scan_memory;
}

bool wndl_record_options_apply(const struct wndl_record_options *o,
    struct wndl_collector_request *request, char problem[WNDL_PROBLEM_SIZE])
{
    if (!check_options(o, problem))
        return false;
    request->file = o->output;
    if (!o->no_samples)
        request->interval = UINT64_C(1000000000) / o->rate;
    request->offcpu_interval =
        o->no_samples || o->no_off_cpu ? 0 : WNDL_OFFCPU_INTERVAL_NS;
    request->max_frames = (uint32_t)o->max_frames;
    request->unwind = o->unwind;
    request->duration = (uint64_t)(o->duration * 1e9);
    request->delay = (uint64_t)(o->delay * 1e9);
    request->tail_size = o->buffer;
    request->only_first = o->no_children;
    request->stack_grows = o->stack_size == 0;
    request->stack_size =
        request->stack_grows ? STACK_SIZE : (uint32_t)(o->stack_size / 8 * 8);
    apply_heap(o, &request->heap);
    if (join_patterns(&o->threads, request->threads))
        return true;
    snprintf(problem, PROBLEM_SIZE,
        "--threads takes at most %d characters in all", WNDL_SHM_PATTERNS - 1);
    return false;
}
