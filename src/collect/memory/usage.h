/* SPDX-License-Identifier: MIT */
/*
 * usage: the memory that a process uses, by proc(5). Failures are quiet: a
 * process may be gone at any moment.
 */
#ifndef WNDL_COLLECT_MEMORY_USAGE_H
#define WNDL_COLLECT_MEMORY_USAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Sizes are bytes. */
struct wndl_usage {
    pid_t parent;
    char state;            /* 'Z': it has ended */
    uint64_t start;        /* clock ticks since boot */
    uint64_t minor, major; /* page faults since its start */
    uint64_t mapped;
    uint64_t resident;
    char name[16];
};

/* Reads two small files, in some 15 us. */
bool wndl_usage_read(pid_t pid, struct wndl_usage *usage);

/* Bytes that are swapped out; 0 if that is not known. */
uint64_t wndl_usage_swapped(pid_t pid);

/* Its share of all pages it has: a walk of all its pages, 20 ms a GiB. */
uint64_t wndl_usage_proportional(pid_t pid);

/* ns since the boot in which some task waited for memory (PSI); 0 without. */
uint64_t wndl_usage_stalled(void);

/* A number after the word `name` in a text of lines; 0 if it is not there. */
uint64_t wndl_usage_number(const char *text, const char *name);

#endif
