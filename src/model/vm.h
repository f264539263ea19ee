/* SPDX-License-Identifier: MIT */
/*
 * vm: what a run under the VM profiler counted: which code touched memory, and
 * which of its accesses would have been page faults in a real memory of each
 * size that was simulated.
 */
#ifndef WNDL_MODEL_VM_H
#define WNDL_MODEL_VM_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* Simulated sizes, and frames of a call path, at most. */
enum { WNDL_VM_MEMORIES = 16, WNDL_VM_FRAMES = 64 };

enum wndl_vm_access { WNDL_VM_FETCH, WNDL_VM_DATA, WNDL_VM_ACCESSES };

/*
 * A first touch is the first access to a page since it was mapped. Any other
 * fault is dirty when the page that left for it was written since it came in.
 */
enum wndl_vm_fault {
    WNDL_VM_FIRST,
    WNDL_VM_CLEAN,
    WNDL_VM_DIRTY,
    WNDL_VM_FAULTS,
};

struct wndl_vm_counts {
    uint64_t n[WNDL_VM_ACCESSES][WNDL_VM_FAULTS];
};

static inline void wndl_vm_counts_add(
    struct wndl_vm_counts *to, const struct wndl_vm_counts *from)
{
    for (int access = 0; access < WNDL_VM_ACCESSES; access++)
        for (int fault = 0; fault < WNDL_VM_FAULTS; fault++)
            to->n[access][fault] += from->n[access][fault];
}

/* First touches of both kinds of access. */
static inline uint64_t wndl_vm_counts_first(const struct wndl_vm_counts *c)
{
    return c->n[WNDL_VM_FETCH][WNDL_VM_FIRST] +
           c->n[WNDL_VM_DATA][WNDL_VM_FIRST];
}

/* Faults that more memory would avoid: clean and dirty ones. */
static inline uint64_t wndl_vm_counts_paging(const struct wndl_vm_counts *c)
{
    uint64_t sum = 0;
    for (int access = 0; access < WNDL_VM_ACCESSES; access++)
        sum += c->n[access][WNDL_VM_CLEAN] + c->n[access][WNDL_VM_DIRTY];
    return sum;
}

/* One simulated size of real memory. */
struct wndl_vm_memory {
    uint64_t bytes;
    uint64_t swapped; /* most dirty anonymous pages that were out at once */
    struct wndl_vm_counts total;
};

/* [start, end) held code of the file at `path`, from `offset` on. */
struct wndl_vm_code {
    uint64_t start, end, offset;
    const char *path;
};

/* How often an instruction ran, and its accesses to data. */
struct wndl_vm_ran {
    uint64_t ip, fetches, data;
};

enum wndl_vm_row_kind {
    WNDL_VM_AT,      /* an instruction: one frame */
    WNDL_VM_PATH,    /* a call path */
    WNDL_VM_MAPPING, /* a mapping, by name: no frame */
    WNDL_VM_SITE,    /* an allocation site: the call path of its malloc */
    WNDL_VM_SPAN,    /* a span of time, by index */
};

/*
 * Counts of something, in the memory of index `memory`. `ips` are avmas,
 * innermost first; those of callers are the last byte of the call. A `cut` path
 * has more callers than were recorded.
 */
struct wndl_vm_row {
    enum wndl_vm_row_kind kind;
    uint32_t memory;
    struct wndl_vm_counts counts;
    const uint64_t *ips;
    uint32_t ip_count;
    bool cut;
    const char *name;       /* of a mapping, else NULL */
    uint64_t index;         /* of a span */
    uint64_t blocks, bytes; /* that a site allocated */
};

/* A stack that was taken after `at` instructions; it stands for `weight`
 * intervals. */
struct wndl_vm_stack {
    uint32_t thread;
    uint64_t at, weight;
    const uint64_t *ips;
    uint32_t ip_count;
    bool cut; /* outer frames are missing */
};

/* Code [start, end) that ran for the first time, in order. */
struct wndl_vm_start {
    uint64_t start, end;
};

struct wndl_vm {
    struct wndl_arena arena;
    const char *command;
    uint64_t pid;
    bool is_running; /* the counts are of a part of the run */
    uint64_t page;   /* bytes */
    uint64_t instructions;
    uint64_t data;
    uint64_t pages;        /* distinct ones that were touched */
    uint64_t mapped;       /* most bytes that were mapped at once */
    uint64_t span_length;  /* instructions */
    uint64_t stacks_every; /* instructions; 0: there are no stacks */
    struct wndl_vm_memory memories[WNDL_VM_MEMORIES];
    uint32_t memory_count;
    struct wndl_vec code;   /* struct wndl_vm_code */
    struct wndl_vec ran;    /* struct wndl_vm_ran, by ip */
    struct wndl_vec rows;   /* struct wndl_vm_row */
    struct wndl_vec stacks; /* struct wndl_vm_stack */
    struct wndl_vec starts; /* struct wndl_vm_start */
};

/* An empty one, which stays where it is; ends with wndl_vm_free. */
static inline void wndl_vm_init(struct wndl_vm *vm, struct wndl_mem *mem)
{
    *vm = (struct wndl_vm){.command = ""};
    wndl_arena_init(&vm->arena, mem);
    wndl_vec_init(&vm->code, &vm->arena, sizeof(struct wndl_vm_code));
    wndl_vec_init(&vm->ran, &vm->arena, sizeof(struct wndl_vm_ran));
    wndl_vec_init(&vm->rows, &vm->arena, sizeof(struct wndl_vm_row));
    wndl_vec_init(&vm->stacks, &vm->arena, sizeof(struct wndl_vm_stack));
    wndl_vec_init(&vm->starts, &vm->arena, sizeof(struct wndl_vm_start));
}

static inline void wndl_vm_free(struct wndl_vm *vm)
{
    wndl_arena_free(&vm->arena);
}

/* ---- what is made of it */

/* A function, in the order of first execution. */
struct wndl_vm_started {
    const char *name; /* as in the symbol table */
    uint64_t size;    /* bytes of code */
};

/* One file whose code ran at the start. */
struct wndl_vm_startup_file {
    const char *path;
    uint64_t pages;        /* that its code touched */
    uint64_t packed_pages; /* were the functions that ran beside each other */
    uint64_t unnamed;      /* pieces of code of no function */
    struct wndl_vec functions; /* struct wndl_vm_started */
};

struct wndl_vm_startup {
    struct wndl_arena arena;
    struct wndl_vec files; /* struct wndl_vm_startup_file, as first run */
};

/* Faults by how far their call paths go: to the outermost function, or not. */
struct wndl_vm_paths {
    uint64_t complete;
    uint64_t cut;  /* at WNDL_VM_FRAMES */
    uint64_t lost; /* Valgrind found no caller, or a wrong one */
};

/* Blocks of the heap, by the line that allocated them. */
struct wndl_vm_site {
    const char *text;       /* "function (file:line)" */
    uint64_t blocks, bytes; /* allocated in all */
    struct wndl_vm_counts counts;
};

#endif
