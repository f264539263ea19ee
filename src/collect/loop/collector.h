/* SPDX-License-Identifier: MIT */
/*
 * collector: records a command. It starts the command with the runtime
 * preloaded, gives each process that reports a block of shared memory, and
 * writes what they leave there to a file, and what is seen from outside. It
 * must not know of options and of what is told to the user.
 */
#ifndef WNDL_COLLECT_LOOP_COLLECTOR_H
#define WNDL_COLLECT_LOOP_COLLECTOR_H

#include "base/status.h"
#include "collect/process/process.h"
#include "collect/start/engine.h"

/* Exit codes of ours when the command did not run; its own is passed on. */
enum {
    WNDL_EXIT_START = 125,          /* trouble of our own */
    WNDL_EXIT_NOT_EXECUTABLE = 126, /* the command cannot be run */
    WNDL_EXIT_NOT_FOUND = 127,      /* there is no such command */
};

struct wndl_collector_request {
    char **command;           /* ends with NULL */
    pid_t pid;                /* of one that runs; 0: it is to be started */
    const char *file;         /* pattern: %p pid, %n program, %h host */
    const char *runtime;      /* path of the preload object */
    uint64_t interval;        /* ns */
    uint64_t offcpu_interval; /* ns, 0: blocked threads are not looked at */
    uint32_t max_frames;
    uint32_t unwind;    /* enum wndl_unwind_policy */
    uint64_t delay;     /* ns: it starts paused */
    uint64_t duration;  /* ns after the delay: it ends; 0: with the command */
    uint64_t tail_size; /* bytes of samples, the last ones; 0: all */
    bool only_first;    /* children are not recorded */
    char threads[WNDL_SHM_PATTERNS];         /* as in struct wndl_go */
    char tables[WNDL_SHM_TABLES];            /* as in struct wndl_shm */
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

/* How things stand; texts are the collector's. */
struct wndl_collector_result {
    int exit_code;      /* to be ours: the command's, or of our own trouble */
    const char *path;   /* of the recording */
    uint64_t bytes;     /* its size */
    uint64_t duration;  /* ns */
    uint64_t cpu;       /* ns, of the command and what it waited for */
    uint64_t discarded; /* samples that made room for later ones */
    uint32_t left;      /* recorded processes that still run */
    uint32_t other_engine; /* processes that took another engine, or none */
    uint32_t traced;       /* processes not sampled while being debugged */
    struct wndl_collector_totals totals;
    struct wndl_offcpu_totals offcpu;
    const char *tables; /* as in the request */
    const struct wndl_recording_image *images;
    size_t image_count;
    struct wndl_collector_unrecorded unrecorded[WNDL_COLLECTOR_NAMED];
};

struct wndl_collector;

/*
 * Starts the command and its recording. On failure there is neither, and
 * *exit_code is what ours should be. wndl_collector_free gives it back.
 */
enum wndl_status wndl_collector_start(
    const struct wndl_collector_request *request, struct wndl_collector **out,
    int *exit_code, struct wndl_error *err) WNDL_MUST_USE;

/* Has `tell` called some times a second with how things stand; NULL: ends. */
void wndl_collector_tell(struct wndl_collector *c,
    void (*tell)(void *context, const struct wndl_collector_result *so_far),
    void *context);

/* Where processes report; lives as long as the collector. */
const char *wndl_collector_socket(const struct wndl_collector *c);

enum wndl_collector_stage {
    WNDL_COLLECTOR_OVER,    /* nothing is left to be recorded */
    WNDL_COLLECTOR_LEFT,    /* the command has ended, others go on */
    WNDL_COLLECTOR_STOPPED, /* it is to end now, the command goes on */
};

/* Records until the command has ended, or it is told to stop. */
enum wndl_collector_stage wndl_collector_run(struct wndl_collector *c);

/*
 * Records until all processes have ended, or it is told to stop. One that was
 * not started by us has its time to report.
 */
void wndl_collector_run_rest(struct wndl_collector *c);

/*
 * Goes on in a process of its own, without the terminal and the descriptors
 * of the caller. Returns as fork() does; the one that is left behind may only
 * ask for the result and free.
 */
pid_t wndl_collector_detach(struct wndl_collector *c);

/* Ends the recording. The status says whether all of it is in the file. */
enum wndl_status wndl_collector_finish(
    struct wndl_collector *c, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Waits for the end of the command and passes signals on to it. Returns what
 * our exit code should be.
 */
int wndl_collector_wait(struct wndl_collector *c);

void wndl_collector_result(
    struct wndl_collector *c, struct wndl_collector_result *result);

/* NULL is left alone. */
void wndl_collector_free(struct wndl_collector *c);

#endif
