/* SPDX-License-Identifier: MIT */
/*
 * collector_impl: what the parts of the collector share. Each part's functions
 * stand under its name. All of it is one thread's.
 */
#ifndef WNDL_COLLECT_LOOP_COLLECTOR_IMPL_H
#define WNDL_COLLECT_LOOP_COLLECTOR_IMPL_H

#include "collect/loop/collector.h"
#include "collect/start/session.h"
#include "collect/start/spawn.h"

#include <limits.h>

struct wndl_process_entry;

/* What a descriptor of the event loop stands for. */
struct wndl_source {
    enum {
        WNDL_SOURCE_SIGNAL,
        WNDL_SOURCE_LISTENER,
        WNDL_SOURCE_SOCKET,
        WNDL_SOURCE_END,
    } kind;
    struct wndl_process_entry *live; /* SOCKET and END */
};

/*
 * Somebody who talks to us, from the connecting on; `process` is NULL before
 * the hello. Lives until that process ends or hangs up without one.
 */
struct wndl_process_entry {
    struct wndl_process_entry *next;
    pid_t pid;
    int socket;          /* -1 once the handshake is over */
    uint32_t engine;     /* enum wndl_engine that it was told */
    uint32_t heap_pairs; /* that it has room for */
    uint64_t look;       /* CLOCK_MONOTONIC ns: when its watch wants a turn */
    struct wndl_collector_process *process;
    struct wndl_source on_socket, on_end;
};

/* A process that runs under us and has not said hello. */
struct wndl_stranger {
    struct wndl_stranger *next;
    pid_t pid;
    uint64_t start;  /* as in struct wndl_proc_stat */
    uint32_t parent; /* index + 1, 0 for none */
    uint64_t first;  /* CLOCK_MONOTONIC ns: when it was found */
    enum wndl_unrecorded_reason reason; /* as of the last look */
    bool is_copy;                       /* of its parent, as of then */
    bool told;                          /* it is in the recording */
    char executable[PATH_MAX];
};

struct wndl_collector {
    struct wndl_collector_request request;
    struct wndl_recording recording;
    struct wndl_session session;
    struct wndl_spawn spawn;
    uint64_t cpu_before; /* ns, of this process's children before the command */
    struct wndl_collector_totals totals;
    struct wndl_offcpu_shared *offcpu; /* NULL: nobody looks from outside */
    struct wndl_process_entry *processes;
    struct wndl_source on_signal, on_listener;
    int poll;
    int signals;
    int file;
    int reserve;        /* a descriptor put by, -1 if it was used */
    char *path;         /* of the recording */
    uint64_t duration;  /* ns, of the recording */
    uint64_t discarded; /* samples */
    bool left_behind;   /* another process goes on with the recording */
    int status;         /* of the command, as waitpid gives it */
    bool ended;         /* the command has */
    uint64_t drain;     /* when to drain next */
    uint64_t look;      /* before which no watch has a turn */
    uint32_t drains;    /* so far */
    uint32_t drained;   /* processes, the last time */
    uint32_t other_engine, traced;
    enum wndl_status outcome; /* of closing the recording */

    void (*tell)(void *, const struct wndl_collector_result *); /* or NULL */
    void *tell_context;
    bool paused;
    bool stopped;      /* the recording is to end now */
    uint64_t begin_at; /* CLOCK_MONOTONIC ns: the pause at the start ends */
    uint64_t end_at;   /* the recording does */
    unsigned dumps;
    int asker; /* waits to hear of the end of the recording; -1 */
    struct wndl_collector_totals safe; /* as far as it is in the file */

    pid_t newest_pid; /* in the system, when we last looked */
    uint64_t scan;    /* when to look for newer ones, if there are */
    uint64_t regard;  /* when to look at strangers again */
    struct wndl_stranger *strangers;
    struct wndl_collector_unrecorded unrecorded[WNDL_COLLECTOR_NAMED];

    pid_t bystander;           /* signals.c; <= 0: none */
    uint64_t passed_on[_NSIG]; /* when each signal last was */
};

/* ---- output */

/* Makes the recording's file; never over another one. */
enum wndl_status wndl_collector_output(
    struct wndl_collector *c, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Writes out what there is. When that fails the recording is over, without
 * troubling the program any more.
 */
void wndl_collector_flush(struct wndl_collector *c);

/* How things stand goes to who wants to know. */
void wndl_collector_report(struct wndl_collector *c);

/* ---- roster */

/* The recorded process `pid`, or NULL. */
struct wndl_process_entry *wndl_processes_find(
    const struct wndl_collector *c, pid_t pid);

/* The nearest recorded ancestor, as index + 1; 0 for none. */
uint32_t wndl_processes_parent(const struct wndl_collector *c, pid_t pid);

/* A connection waits at the listener. */
void wndl_processes_accept(struct wndl_collector *c);

/* Something came through its socket. */
void wndl_processes_on_message(
    struct wndl_collector *c, struct wndl_process_entry *live);

/* A process that says nothing is seen from outside from now on. */
void wndl_processes_add_silent(struct wndl_collector *c, pid_t pid);

/* Writes what blocked threads have been doing up to now. */
void wndl_processes_settle(struct wndl_collector *c);

/* Has all processes sampled, or not. */
void wndl_processes_pause(struct wndl_collector *c, bool paused, uint64_t now);

/* None of them is sampled any more, ever. */
void wndl_processes_give_up(struct wndl_collector *c);

/* Drains; looks after those that changed their program without telling. */
void wndl_processes_drain(struct wndl_collector *c);

/* Gives watches their turn; when the next one wants it. */
uint64_t wndl_processes_turn(struct wndl_collector *c, uint64_t now);

/* Its process has ended, as far as we are concerned. */
void wndl_processes_end(struct wndl_collector *c,
    struct wndl_process_entry *live, enum wndl_process_end how);

/* Recorded processes that still run. */
uint32_t wndl_processes_running(const struct wndl_collector *c);

/* Adds the frames that the running ones counted. */
void wndl_processes_add_frames(
    const struct wndl_collector *c, uint64_t frames_by[WNDL_FRAMES_BY]);

/* Adds what the running ones count of their heaps. */
void wndl_processes_add_heaps(
    const struct wndl_collector *c, struct wndl_collector_heap_totals *totals);

/* Takes a snapshot of each heap that is recorded. */
void wndl_processes_snapshot(struct wndl_collector *c);

/* Gives back what is known of them: another process of ours goes on, with
 * which we share what is polled. */
void wndl_processes_leave_all(struct wndl_collector *c);

/* Ends all of them: what has not ended by itself is left running. */
void wndl_processes_end_all(struct wndl_collector *c);

/* ---- strangers */

/* Only what starts from now on is of interest. */
void wndl_unrecorded_begin(struct wndl_collector *c);

/* Whether there may be processes that have not been looked at. */
bool wndl_unrecorded_new(const struct wndl_collector *c);

/* Looks for processes that say nothing. */
void wndl_unrecorded_look(struct wndl_collector *c);

/* It talks to us after all. */
void wndl_unrecorded_greeted(struct wndl_collector *c, pid_t pid);

/* It says itself that it cannot be recorded. */
void wndl_unrecorded_refused(
    struct wndl_collector *c, pid_t pid, enum wndl_unrecorded_reason reason);

/* A recorded process runs another program now, and says nothing. */
void wndl_unrecorded_replaced(
    struct wndl_collector *c, const struct wndl_process_entry *live);

/* The recording ends: what is known of them is told. Gives all back. */
void wndl_unrecorded_end(struct wndl_collector *c);

/* ---- control */

void wndl_control_pause(struct wndl_collector *c, bool paused);

/*
 * Does what was asked for and answers. Returns the socket, or -1 when it is
 * kept for an answer at the end.
 */
int wndl_control_take(
    struct wndl_collector *c, int socket, const struct wndl_control *asked);

/* Answers who asked for the end. */
void wndl_control_tell_end(struct wndl_collector *c);

/* ---- signals */

/* What we pass on, and SIGCHLD, come through c->signals from now on. */
bool wndl_signals_open(struct wndl_collector *c, sigset_t *before);

void wndl_signals_close(struct wndl_collector *c);

/* A signal is there to be read. */
void wndl_signals_take(struct wndl_collector *c);

/* ---- loop */

bool wndl_loop_watch(
    struct wndl_collector *c, int fd, struct wndl_source *source);

void wndl_loop_unwatch(struct wndl_collector *c, int fd);

/* Waits for something to happen, at most until then, and sees to it. */
void wndl_loop_turn(struct wndl_collector *c, uint64_t until);

#endif
