/* SPDX-License-Identifier: MIT */
#include "cli/core/habits.h"

#include <stddef.h>
#include <string.h>

#define LINES                                                                  \
    "is not a command; the nearest is 'windlass annotate FUNCTION', with "     \
    "--asm for its instructions"
#define STACKS                                                                 \
    "is not a command; the nearest is 'windlass export -f folded FILE', one "  \
    "line for each stack"
#define FLAMES                                                                 \
    "is not a command; the nearest is 'windlass view FILE', which draws "      \
    "flame graphs"
#define ATTACH                                                                 \
    "is not a command; the nearest is 'windlass record -p PID', which "        \
    "records "                                                                 \
    "a process that runs already"
#define RUN "is not a command; the nearest is 'windlass record -- COMMAND'"
#define ERRORS                                                                 \
    "is not a command; the nearest is 'windlass check -- COMMAND', which "     \
    "runs "                                                                    \
    "Valgrind's tools"
#define NOW                                                                    \
    "is not a command; the nearest is 'windlass stack PID', the stacks of a "  \
    "process now"
#define EVENTS                                                                 \
    "is not a command; the nearest is 'windlass record -- COMMAND', which "    \
    "samples CPU time and waits; windlass counts no other events"
#define WAITS                                                                  \
    "is not a command; the nearest is 'windlass record -- COMMAND', then "     \
    "'windlass report --time blocked'"
#define FOREIGN                                                                \
    "is not a command; the nearest is 'windlass merge FILE', which reads "     \
    "files of other tools, and the output of 'perf script'"
#define HEAPS                                                                  \
    "is not a command; the nearest is 'windlass heap -- COMMAND', then "       \
    "'windlass report'"
#define OPENED                                                                 \
    "is not a command; the nearest is 'windlass view FILE', or 'windlass "     \
    "report FILE' in the terminal"
#define CONTROL                                                                \
    "is not a command; the nearest is 'windlass ctl PID ACTION' for a "        \
    "recording that runs: status, pause, resume, stop or dump"

/* Commands of perf, samply, heaptrack, Valgrind and gperftools. */
static const struct habit {
    const char *word, *answer;
} habits[] = {
    {"stat", EVENTS},
    {"disassemble", LINES},
    {"source", LINES},
    {"script", STACKS},
    {"flamegraph", FLAMES},
    {"flame", FLAMES},
    {"attach", ATTACH},
    {"pstack", NOW},
    {"gstack", NOW},
    {"backtrace", NOW},
    {"bt", NOW},
    {"where", NOW},
    {"trace", EVENTS},
    {"sched", WAITS},
    {"timechart", OPENED},
    {"lock", WAITS},
    {"mem", HEAPS},
    {"kmem", HEAPS},
    {"c2c", EVENTS},
    {"bench", EVENTS},
    {"probe", EVENTS},
    {"list", "is not a command; the nearest is 'windlass ls', which lists "
             "recordings"},
    {"load", OPENED},
    {"open", OPENED},
    {"show", OPENED},
    {"print", OPENED},
    {"gui", OPENED},
    {"serve", OPENED},
    {"import", FOREIGN},
    {"convert", "is not a command; the nearest is 'windlass export FILE', or "
                "'windlass merge FILE' for files of other tools"},
    {"data", FOREIGN},
    {"run", RUN},
    {"start", CONTROL},
    {"stop", CONTROL},
    {"pause", CONTROL},
    {"resume", CONTROL},
    {"dump", CONTROL},
    {"status", CONTROL},
    {"memcheck", ERRORS},
    {"helgrind", ERRORS},
    {"drd", ERRORS},
    {"massif", HEAPS},
    {"heaptrack", HEAPS},
    {"leaks", HEAPS},
    {"compare", "is not a command; the nearest is 'windlass diff EARLIER "
                "LATER'"},
    {"addr2line", "is not a command; the nearest is 'windlass sym -e BINARY "
                  "ADDRESS'"},
    {"symbolize", "is not a command; the nearest is 'windlass sym', or "
                  "'windlass fix' for printed stacks"},
};

const char *wndl_habit_of(const char *word)
{
    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++) {
        if (strcmp(habits[i].word, word) == 0)
            return habits[i].answer;
    }
    return NULL;
}
