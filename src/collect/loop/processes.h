/* SPDX-License-Identifier: MIT */
/*
 * processes: those that are being recorded, from their hello to their end.
 */
#ifndef WNDL_COLLECT_LOOP_PROCESSES_H
#define WNDL_COLLECT_LOOP_PROCESSES_H

#include "collect/loop/run.h"

struct wndl_processes;

/*
 * Somebody who talks to us, from the connecting on; `process` is NULL before
 * the hello. Lives until that process ends or hangs up without one.
 */
struct wndl_process_entry {
    struct wndl_process_entry *next;
    struct wndl_processes *all;
    pid_t pid;
    int socket;          /* -1 once the handshake is over */
    uint32_t engine;     /* enum wndl_engine that it was told */
    uint32_t heap_sites; /* that it has room for */
    uint64_t turn;       /* CLOCK_MONOTONIC ns: when its `offcpu` wants one */
    struct wndl_collector_process *process;
    struct wndl_source on_socket, on_end;
};

/* What is heard of others than those in the list. */
struct wndl_processes_events {
    void *owner;
    /* `pid` says hello. */
    void (*greeted)(void *owner, pid_t pid);
    /* `pid` cannot be recorded. */
    void (*refused)(void *owner, pid_t pid, enum wndl_unrecorded_reason reason);
    /* The process runs another program now, which says nothing. */
    void (*replaced)(void *owner, const struct wndl_process_entry *entry);
    /* Returns the socket, or -1 when it is kept. */
    int (*asked)(void *owner, int socket, const struct wndl_control *asked);
};

struct wndl_processes {
    struct wndl_run *run;
    struct wndl_processes_events events;
    struct wndl_process_entry *first;
    struct wndl_offcpu_shared *offcpu; /* NULL: nobody looks from outside */
    struct wndl_source on_listener;
    int reserve;      /* a descriptor put by, -1 if it was used */
    uint64_t turn;    /* before which no `offcpu` has one */
    uint32_t drains;  /* so far */
    uint32_t drained; /* processes, the last time */
    uint32_t other_engine, traced;
};

/* Connections are accepted from now on. */
bool wndl_processes_listen(struct wndl_processes *all);

/* The recorded process `pid`, or NULL. */
struct wndl_process_entry *wndl_processes_find(
    const struct wndl_processes *all, pid_t pid);

/* The nearest recorded ancestor, as index + 1; 0 for none. */
uint32_t wndl_processes_parent(const struct wndl_processes *all, pid_t pid);

/* A process that says nothing is seen from outside from now on. */
void wndl_processes_add_silent(struct wndl_processes *all, pid_t pid);

/* Writes what blocked threads have been doing up to now. */
void wndl_processes_settle(const struct wndl_processes *all);

/* Has all processes sampled, or not. */
void wndl_processes_pause(
    const struct wndl_processes *all, bool paused, uint64_t now);

/* None of them is sampled any more, ever. */
void wndl_processes_give_up(const struct wndl_processes *all);

/* Drains; looks after those that changed their program without telling. */
void wndl_processes_drain(struct wndl_processes *all);

/* Gives off-CPU sampling its turns; when the next one is wanted. */
uint64_t wndl_processes_turn(struct wndl_processes *all, uint64_t now);

/* Recorded processes that still run. */
uint32_t wndl_processes_running(const struct wndl_processes *all);

/* Adds the frames that the running ones counted. */
void wndl_processes_add_frames(
    const struct wndl_processes *all, uint64_t frames_by[WNDL_FRAMES_BY]);

/* Adds what the running ones count of their heaps. */
void wndl_processes_add_heaps(const struct wndl_processes *all,
    struct wndl_collector_heap_totals *totals);

/* Takes a snapshot of each heap that is recorded. */
void wndl_processes_snapshot(const struct wndl_processes *all);

/* Gives back what is known of them: another process of ours goes on, with
 * which we share what is polled. */
void wndl_processes_leave_all(struct wndl_processes *all);

/* Ends all of them: what has not ended by itself is left running. */
void wndl_processes_end_all(struct wndl_processes *all);

#endif
