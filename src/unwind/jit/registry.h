/* SPDX-License-Identifier: MIT */
/* registry: what walks ask of a registry of generated code. */
#ifndef WNDL_UNWIND_JIT_REGISTRY_H
#define WNDL_UNWIND_JIT_REGISTRY_H

#include "unwind/core/code.h"
#include "unwind/core/rule.h"

#include <windlass/jit.h>

/* Whether a registry has the form that walks here read. */
bool wndl_jit_is_known(const struct wndl_jit *jit);

/* Whether `pc` is in code that is registered. `jit` may be NULL. */
bool wndl_jit_covers(struct wndl_jit *jit, uint64_t pc);

/*
 * The rule of `pc` in code that is registered, of a kind that code in a module
 * has; else false. `jit` may be NULL.
 */
bool wndl_jit_rule(struct wndl_jit *jit, uint64_t pc, struct wndl_rule *rule);

/* A registry that a walk reads, as it is now: it is not changed meanwhile. */
struct wndl_jit_hold {
    struct wndl_jit *jit;
    uint32_t side;
};

/*
 * The CFI of `pc`, as wndl_code_find gives it. Unless it is not registered
 * (NO_MODULE), the registry is held, and `code` valid, until wndl_jit_leave.
 * `jit` may be NULL. Wait-free but for those who change it meanwhile.
 */
enum wndl_code_kind wndl_jit_find(struct wndl_jit *jit, uint64_t pc,
    struct wndl_code *code, struct wndl_jit_hold *hold);
void wndl_jit_leave(const struct wndl_jit_hold *hold);

/*
 * Walks that are given `jit` look for what is not in it in `also`, which may be
 * NULL. Any thread.
 */
void wndl_jit_look_also(struct wndl_jit *jit, struct wndl_jit *also);

/*
 * In a forked child, while it has one thread: those who walked and changed in
 * the parent's other threads are not here to leave.
 */
void wndl_jit_after_fork(struct wndl_jit *jit);

/* Records of .eh_frame that are added and removed as one. */
struct wndl_jit_source {
    struct wndl_cfi_section frame; /* borrowed until it is removed */
    uint64_t origin;               /* what it is removed by, not 0 */
    /* NULL, or whether a range may be code of `file`'s. */
    bool (*is_code)(
        const struct wndl_jit_source *source, uint64_t start, uint64_t end);
    struct wndl_bytes sections; /* the file's headers of them, any alignment */
};

/* As wndl_jit_add_frames: all of it or nothing. NOT_FOUND: there is none. */
enum wndl_status wndl_jit_add_source(
    struct wndl_jit *jit, const struct wndl_jit_source *source);

/*
 * Removes one source of that origin, and waits as wndl_jit_remove does. *bytes
 * is where its records are. NOT_FOUND when there is none.
 */
enum wndl_status wndl_jit_remove_source(
    struct wndl_jit *jit, uint64_t origin, const uint8_t **bytes);

/*
 * Of records, up to the length of 0, which is not among them. False when one
 * is longer than `most` leaves room for.
 */
bool wndl_jit_frames_size(const void *eh_frame, size_t most, size_t *size);

/*
 * What walks see is replaced as a whole, without waiting for anybody, by who
 * may have interrupted them: false when they, or another change, are in the
 * way. `side` is what is not seen meanwhile, and was not seen by anyone since
 * the last replacement ended.
 */
struct wndl_jit_change {
    struct wndl_jit_entry *entries;
    size_t count, max;
    size_t old;    /* what is behind so many is new, and in any order */
    size_t lowest; /* nothing before it has been touched */
    unsigned side;
};
bool wndl_jit_replace_begin(
    struct wndl_jit *jit, struct wndl_jit_change *change);

/* As wndl_jit_add_source, but for code that is there twice. */
enum wndl_status wndl_jit_replace_add(
    struct wndl_jit_change *change, const struct wndl_jit_source *source);

/* Of code that is there twice the one that starts first is kept. */
void wndl_jit_replace_end(struct wndl_jit *jit, struct wndl_jit_change *change);

/* ---- GDB's interface */

enum { WNDL_JIT_GDB_VERSION = 1 };

struct wndl_jit_gdb_entry {
    struct wndl_jit_gdb_entry *next, *previous;
    const uint8_t *file;
    uint64_t file_size;
};

struct wndl_jit_gdb_descriptor {
    uint32_t version;
    uint32_t action; /* 1: registered, 2: unregistered */
    struct wndl_jit_gdb_entry *relevant;
    struct wndl_jit_gdb_entry *first;
};

/* An ELF file in memory. `take` gives memory that has what is at that address,
 * any alignment; NULL: it cannot be had. It is asked for the .eh_frame last. */
struct wndl_jit_file {
    uint64_t address, size;
    const uint8_t *(*take)(void *context, uint64_t address, size_t size);
    void *context;
};

/*
 * Its call frame information. NOT_FOUND if there is none in it, UNSUPPORTED for
 * files that are not of this machine. `source` points to what `take` gave.
 */
enum wndl_status wndl_jit_gdb_file(
    const struct wndl_jit_file *file, struct wndl_jit_source *source);

enum wndl_jit_gdb {
    WNDL_JIT_GDB_NOTHING, /* the status tells why, if it is not OK */
    WNDL_JIT_GDB_ADD,
    WNDL_JIT_GDB_REMOVE, /* only the origin is filled in */
};

/*
 * What the descriptor of GDB's interface says that is to be done, as
 * wndl_jit_follow_gdb has it. The file, and `source` with it, is valid for as
 * long as the caller's lock is held.
 */
enum wndl_status wndl_jit_gdb_source(const void *descriptor,
    enum wndl_jit_gdb *what, struct wndl_jit_source *source);

#endif
