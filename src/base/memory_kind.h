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

/* Address space that one call of the program mapped. */
struct wndl_memory_mapping {
    uint64_t start, end;
    uint32_t node; /* of the caller, in the stack tree; not 0 */
    uint32_t reserved;
};

enum { WNDL_MEMORY_NAME = 40 };

/* The resident memory of a kind that is of one caller, file or arena. */
struct wndl_memory_place {
    uint64_t bytes;
    uint64_t start; /* of the first mapping, where there is no caller */
    uint64_t end;   /* of it */
    uint64_t live;  /* of an arena: bytes + 1 of its live blocks; 0: unknown */
    uint32_t node;  /* of the caller that mapped it; 0: not known */
    uint32_t kind;  /* enum wndl_memory_kind */
    char name[WNDL_MEMORY_NAME]; /* of the file, cut; "": it is of none */
};

/*
 * Places that are filled in from `mappings`, which do not overlap. Memory of
 * those for which there is no more room is in none of them.
 */
struct wndl_memory_places {
    const struct wndl_memory_mapping *mappings;
    struct wndl_memory_place *places;
    uint32_t mapping_count, most, count; /* `most`: room for places */
};

static inline uint64_t wndl_memory_resident(const struct wndl_memory_sum *sum)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < WNDL_MEMORY_KINDS; i++)
        all += sum->resident[i];
    return all;
}

#endif
