/* SPDX-License-Identifier: MIT */
/*
 * collector: records a command. It starts the command with the runtime
 * preloaded, gives each process that reports a block of shared memory, and
 * writes their data, and the data read from outside, to a file. It must not
 * know of options, nor of messages to the user.
 */
#ifndef WNDL_COLLECT_LOOP_COLLECTOR_H
#define WNDL_COLLECT_LOOP_COLLECTOR_H

#include "base/status.h"
#include "collect/process/process.h"
#include "collect/start/engine.h"

/* Our exit codes when the command did not run. Otherwise we pass its own on. */
enum {
    WNDL_EXIT_START = 125,          /* windlass itself failed */
    WNDL_EXIT_NOT_EXECUTABLE = 126, /* the command cannot be run */
    WNDL_EXIT_NOT_FOUND = 127,      /* there is no such command */
};

struct wndl_collector_request {
    char **command; /* ends with NULL */
    pid_t pid;      /* of a running process; 0: `command` is to be started */
    /* Running processes to be recorded without a runtime; `pid` and `command`
     * are then those of the first one. */
    const pid_t *pids;
    size_t pid_count;
    char **meanwhile;    /* a command, at whose end that ends; NULL: none */
    uint32_t stack_size; /* bytes of their stacks that samples copy */
    bool stack_grows;    /* more once stacks have been longer */
    const char *file;    /* pattern: %p pid, %n program, %h host */
    const char *runtime; /* path of the preload object */
    uint64_t interval;   /* ns */
    uint64_t offcpu_interval; /* ns between reads of blocked threads; 0: none */
    uint32_t max_frames;
    uint32_t unwind;    /* enum wndl_unwind_policy */
    uint64_t delay;     /* ns; the recording starts paused for that long */
    uint64_t duration;  /* ns after the delay; 0: until the command ends */
    uint64_t tail_size; /* bytes: keep the last samples only; 0: all */
    bool only_first;    /* children are not recorded */
    char threads[WNDL_SHM_PATTERNS]; /* as in struct wndl_go */
    char tables[WNDL_SHM_TABLES];    /* as in struct wndl_shm */
    const char *const *debug_dirs;   /* as in obj/find/debugfile.h; borrowed */
    const char *kept_tables; /* as in collect/code/binaries.h; borrowed */
    struct wndl_collector_engine engine;     /* NONE: no CPU samples */
    struct wndl_collector_heap_request heap; /* `sites` is filled in */
};

enum { WNDL_COLLECTOR_NAMED = 5 };

/* A process that could not be recorded. */
struct wndl_collector_unrecorded {
    uint32_t pid;
    uint32_t reason; /* enum wndl_unrecorded_reason */
    char name[64];   /* of its executable */
};

/* Processes in which no engine could start. */
struct wndl_collector_unsampled {
    uint32_t count;
    uint32_t pid, sys_errno; /* of the first */
};

/* The state of the recording. Texts belong to the collector. */
struct wndl_collector_result {
    int exit_code; /* for us to return: the command's, or of our own failure */
    const char *path;  /* of the recording */
    bool kept_old;     /* an earlier one is now "PATH.old" */
    uint64_t bytes;    /* its size */
    uint64_t duration; /* ns */
    uint64_t cpu;  /* ns, of the command and the processes that it waited for */
    uint64_t kept; /* samples that the recording has */
    uint64_t discarded;    /* samples that were overwritten by later ones */
    uint64_t unwritten;    /* samples lost while the file was not writable */
    uint32_t left;         /* recorded processes that still run */
    uint32_t other_engine; /* processes with another engine than the first */
    struct wndl_collector_unsampled unsampled;
    uint32_t traced; /* processes not sampled while being debugged */
    struct wndl_collector_totals totals;
    struct wndl_offcpu_totals offcpu;
    const char *tables; /* as in the request */
    /* NULL, or why the folder of `kept_tables` is of no use */
    const struct wndl_error *trouble_with_kept;
    const struct wndl_recording_image *images;
    size_t image_count;
    struct wndl_collector_unrecorded unrecorded[WNDL_COLLECTOR_NAMED];
};

struct wndl_collector;

/*
 * Starts the command and its recording. On failure there is neither, and
 * *exit_code is the one that we should return. Ends with wndl_collector_free.
 * One thread.
 */
enum wndl_status wndl_collector_start(
    const struct wndl_collector_request *request, struct wndl_collector **out,
    int *exit_code, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Calls `progress` a few times a second with the state so far; NULL stops the
 * calls. The state is valid until `progress` returns.
 */
void wndl_collector_set_progress(struct wndl_collector *c,
    void (*progress)(void *context, const struct wndl_collector_result *so_far),
    void *context);

/* Whether the recording's file can be written. */
struct wndl_collector_writing {
    const char *path;
    int error;     /* errno; 0: it can be written again */
    uint64_t lost; /* samples lost because of it so far */
    bool is_over;  /* nothing more will be written */
};

/* Calls `warn` when the file cannot be written any more, and when it can. */
void wndl_collector_warn(struct wndl_collector *c,
    void (*warn)(const struct wndl_collector_writing *writing));

/*
 * The path of the socket where processes report. Lives as long as the
 * collector.
 */
const char *wndl_collector_socket(const struct wndl_collector *c);

enum wndl_collector_stage {
    WNDL_COLLECTOR_OVER, /* nothing is left to record */
    WNDL_COLLECTOR_LEFT, /* the command has ended, other processes still run */
    /* a request or signal ended it, the command still runs */
    WNDL_COLLECTOR_STOPPED,
};

/* Records until the command has ended, or until it is asked to stop. */
enum wndl_collector_stage wndl_collector_run(struct wndl_collector *c);

/*
 * Records until all processes have ended, or until it is asked to stop. A
 * process that we did not start has some time to report.
 */
void wndl_collector_run_rest(struct wndl_collector *c);

/*
 * Forks and goes on in the child, without the terminal and the descriptors of
 * the caller. Returns as fork() does. The parent may only call
 * wndl_collector_result and wndl_collector_free.
 */
pid_t wndl_collector_detach(struct wndl_collector *c);

/* Ends the recording. The status says whether all of it is in the file. */
enum wndl_status wndl_collector_finish(
    struct wndl_collector *c, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Waits for the end of the command and passes signals on to it. Returns the
 * exit code for us.
 */
int wndl_collector_wait(struct wndl_collector *c);

/*
 * Fills `result` with the state now. Its texts and images are the collector's,
 * and valid until the next call of any of its functions.
 */
void wndl_collector_result(
    struct wndl_collector *c, struct wndl_collector_result *result);

/* Frees it. `c` may be NULL. */
void wndl_collector_free(struct wndl_collector *c);

#endif
