/* SPDX-License-Identifier: MIT */
/* processes: the recorded processes, from their hello to their end. */
#ifndef WNDL_COLLECT_LOOP_PROCESSES_H
#define WNDL_COLLECT_LOOP_PROCESSES_H

#include "collect/loop/plain.h"
#include "collect/loop/run.h"

struct wndl_processes;
struct wndl_attachment;
struct wndl_kernel_stacks;

/*
 * A process that is connected, from its connection on; `process` is NULL before
 * its hello. Lives until that process ends, or hangs up without a hello.
 */
struct wndl_process_entry {
    struct wndl_process_entry *next;
    struct wndl_processes *all;
    pid_t pid;
    int socket;          /* -1 once the handshake is over */
    bool is_strange;     /* another user's: may say hello, and ask nothing */
    bool is_gone;        /* it had ended before it was added */
    bool was_gone;       /* the same, as of the last drain */
    uint32_t engine;     /* enum wndl_engine that we gave it */
    uint32_t machine;    /* EM_*, as its hello says */
    pid_t parent;        /* as its hello says; 0: not known */
    uint32_t heap_sites; /* number of sites for which it has room */
    uint64_t begun;      /* CLOCK_MONOTONIC ns; of one without a runtime */
    uint64_t turn;       /* CLOCK_MONOTONIC ns of the next turn of `offcpu` */
    struct wndl_collector_process *process;
    struct wndl_source on_socket, on_end;
};

/* Events about processes that may not be in the list. */
struct wndl_processes_events {
    void *owner;
    /* `pid` said hello. */
    void (*greeted)(void *owner, pid_t pid);
    /* `pid` cannot be recorded. */
    void (*refused)(void *owner, pid_t pid, enum wndl_unrecorded_reason reason);
    /* The process now runs another program, which has not said hello. */
    void (*replaced)(void *owner, const struct wndl_process_entry *entry);
    /* A request came. Returns the socket to close, or -1 if it is kept. */
    int (*asked)(void *owner, int socket, const struct wndl_control *asked);
};

struct wndl_processes {
    struct wndl_run *run;
    struct wndl_processes_events events;
    struct wndl_process_entry *first;
    struct wndl_offcpu_shared *offcpu;  /* NULL: no reads from outside */
    struct wndl_attachment *attachment; /* samples from outside */
    struct wndl_kernel_stacks *kernel;  /* NULL: none */
    struct wndl_source on_listener, on_nameless;
    int reserve;   /* a spare descriptor for a refusal when none is left; -1 */
    uint64_t turn; /* CLOCK_MONOTONIC ns: no `offcpu` has a turn before */
    struct wndl_plain plain;
    /* For the next process, made while the last one starts. */
    struct wndl_collector_block spare;
    uint32_t drains;  /* number of drains so far */
    uint32_t drained; /* processes in the last drain */
    uint32_t other_engine, traced;
    struct wndl_collector_unsampled unsampled;
};

/* Starts to accept connections. False, with errno, on failure. */
bool wndl_processes_listen(struct wndl_processes *all);

/* The entry of the recorded process `pid`, or NULL. */
struct wndl_process_entry *wndl_processes_find(
    const struct wndl_processes *all, pid_t pid);

/* The nearest recorded ancestor of `pid`, as index + 1; 0: none. */
uint32_t wndl_processes_parent(const struct wndl_processes *all, pid_t pid);

/*
 * The same of a process whose hello names `parent`, which need not be recorded;
 * 0: it names none.
 */
uint32_t wndl_processes_parent_named(
    const struct wndl_processes *all, pid_t pid, pid_t parent);

/*
 * Adds a process without a runtime, which is sampled from outside from now on.
 */
void wndl_processes_add_silent(struct wndl_processes *all, pid_t pid);

/*
 * The same for a process whose samples come, though it may be gone by now:
 * then it lives until wndl_processes_end_gone. `parent` is the recorded process
 * that forked it, or that it was before it executed another program.
 */
void wndl_processes_add_sampled(
    struct wndl_processes *all, pid_t pid, pid_t parent);

/* Ends those that were gone, once all of their samples have come. */
void wndl_processes_end_gone(struct wndl_processes *all);

/* Counts a process whose engine is not the one that it was asked to start. */
void wndl_processes_count_engine(struct wndl_processes *all,
    const struct wndl_process_entry *entry, const struct wndl_ready *ready);

/* Whether somebody has said something at this socket. */
bool wndl_processes_said(int socket);

/* Whether a process has said what we have not heard. */
bool wndl_processes_wait(const struct wndl_processes *all);

/* Writes the blocks of all threads up to now. */
void wndl_processes_settle(const struct wndl_processes *all);

/* Pauses or resumes the sampling of all processes. */
void wndl_processes_pause(
    const struct wndl_processes *all, bool paused, uint64_t now);

/* Ends the sampling of all processes for good. */
void wndl_processes_give_up(const struct wndl_processes *all);

/* Stops the event of a process while a debugger is attached to it. */
void wndl_processes_look_for_debugger(
    struct wndl_processes *all, struct wndl_process_entry *entry);

/* Pauses the reads from outside of a process that pauses itself. */
void wndl_processes_look_for_hold(
    struct wndl_processes *all, struct wndl_process_entry *entry);

/*
 * Gives a process a block, as `heap` says. Returns its descriptor for the
 * caller to close, or -1 with errno.
 */
int wndl_processes_give_block(struct wndl_processes *all,
    struct wndl_collector_process *process,
    const struct wndl_collector_heap_request *heap);

/* Makes a block as the one of `entry`, unless there is a spare one. */
void wndl_processes_make_spare(
    struct wndl_processes *all, const struct wndl_process_entry *entry);

/* Gives a process the rules that its runtime cannot read (made_tables.h). */
void wndl_processes_give_tables(
    struct wndl_processes *all, struct wndl_collector_process *process);

/* Keeps its lost stacks from now on, unless its heap is recorded. */
void wndl_processes_keep_lost(
    struct wndl_processes *all, struct wndl_collector_process *process);

/* Gives them again, if modules or tables have come since. */
void wndl_processes_renew_tables(
    struct wndl_processes *all, struct wndl_collector_process *process);

/*
 * Drains all processes, and handles those that changed their program without a
 * hello.
 */
void wndl_processes_drain(struct wndl_processes *all);

/*
 * Gives off-CPU sampling its due turns; returns when the next one is due.
 * CLOCK_MONOTONIC ns.
 */
uint64_t wndl_processes_turn(struct wndl_processes *all, uint64_t now);

/* Whether the recorded process has not ended. */
bool wndl_process_entry_runs(const struct wndl_process_entry *entry);

/* The number of recorded processes that still run. */
uint32_t wndl_processes_running(const struct wndl_processes *all);

/* Adds the frames that running processes counted. */
void wndl_processes_add_frames(
    const struct wndl_processes *all, uint64_t frames_by[WNDL_FRAMES_BY]);

/* Adds the current heap counts of running processes. */
void wndl_processes_add_heaps(const struct wndl_processes *all,
    struct wndl_collector_heap_totals *totals);

/* Takes a snapshot of each heap that is recorded. */
void wndl_processes_snapshot(const struct wndl_processes *all);

/*
 * Frees all entries without touching the processes: another process of ours
 * goes on, and shares the epoll instance with us.
 */
void wndl_processes_leave_all(struct wndl_processes *all);

/* Ends all entries. Processes that still run are left running. */
void wndl_processes_end_all(struct wndl_processes *all);

#endif
