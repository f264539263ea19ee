/* SPDX-License-Identifier: MIT */
/*
 * memory_kind: the memory of a process, by what it is used for. Recorded files
 * hold these numbers (docs/formats/wndl.md, HMEM).
 */
#ifndef WNDL_BASE_MEMORY_KIND_H
#define WNDL_BASE_MEMORY_KIND_H

#include <stdint.h>

enum wndl_memory_kind {
    WNDL_MEMORY_HEAP,   /* [heap], and arenas of glibc */
    WNDL_MEMORY_MAPPED, /* other private memory of no file */
    WNDL_MEMORY_STACKS,
    WNDL_MEMORY_CODE, /* executable mappings of files */
    WNDL_MEMORY_DATA, /* other mappings of files, and zeroed data of modules */
    WNDL_MEMORY_SHARED,
    WNDL_MEMORY_WINDLASS, /* of the recorder's part in the process */
    WNDL_MEMORY_OTHER,    /* the kernel's: [vdso] */
    WNDL_MEMORY_KINDS,
};

/* Bytes. */
struct wndl_memory_sum {
    uint64_t resident[WNDL_MEMORY_KINDS]; /* they sum to the Rss of all */
    uint64_t proportional;                /* Pss */
    uint64_t mapped; /* usable address space, without windlass's */
};

static inline uint64_t wndl_memory_resident(const struct wndl_memory_sum *sum)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < WNDL_MEMORY_KINDS; i++)
        all += sum->resident[i];
    return all;
}

#endif
