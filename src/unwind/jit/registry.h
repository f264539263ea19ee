/* SPDX-License-Identifier: MIT */
/* registry: the interface of a registry of generated code for walks. */
#ifndef WNDL_UNWIND_JIT_REGISTRY_H
#define WNDL_UNWIND_JIT_REGISTRY_H

#include "unwind/core/code.h"
#include "unwind/core/rule.h"

#include <windlass/jit.h>

/* Whether a registry has the form that this version reads. */
bool wndl_jit_is_known(const struct wndl_jit *jit);

/* Whether `pc` is in registered code. `jit` may be NULL. */
bool wndl_jit_covers(struct wndl_jit *jit, uint64_t pc);

/*
 * Finds the rule of `pc` in registered code, of a kind that code in a module
 * has. False if there is none. `jit` may be NULL.
 */
bool wndl_jit_rule(struct wndl_jit *jit, uint64_t pc, struct wndl_rule *rule);

/* A registry that a walk reads. It stays as it is meanwhile. */
struct wndl_jit_hold {
    struct wndl_jit *jit;
    uint32_t side;
};

/*
 * Finds the CFI of `pc`, like wndl_code_find. Unless the result is NO_MODULE,
 * the registry is held, and `code` valid, until wndl_jit_leave. `jit` may be
 * NULL. Wait-free, except for those who change the registry meanwhile.
 */
enum wndl_code_kind wndl_jit_find(struct wndl_jit *jit, uint64_t pc,
    struct wndl_code *code, struct wndl_jit_hold *hold);
void wndl_jit_leave(const struct wndl_jit_hold *hold);

/*
 * Makes walks that are given `jit` also search `also`, which may be NULL. Any
 * thread.
 */
void wndl_jit_look_also(struct wndl_jit *jit, struct wndl_jit *also);

/*
 * In a forked child, while it has one thread: forgets the walks and changes of
 * the parent's other threads, which are not here to end.
 */
void wndl_jit_after_fork(struct wndl_jit *jit);

/* Records of .eh_frame that are added and removed together. */
struct wndl_jit_source {
    struct wndl_cfi_section frame; /* borrowed until it is removed */
    uint64_t origin;               /* key for removal, not 0 */
    /* NULL, or whether a range may be code of the source's file. */
    bool (*is_code)(
        const struct wndl_jit_source *source, uint64_t start, uint64_t end);
    struct wndl_bytes sections; /* the file's section headers, any alignment */
};

/*
 * Adds all of it or nothing, like wndl_jit_add_frames. NOT_FOUND: it is empty.
 */
enum wndl_status wndl_jit_add_source(
    struct wndl_jit *jit, const struct wndl_jit_source *source);

/*
 * Removes one source of that origin, and waits like wndl_jit_remove. *bytes
 * receives the address of its records. NOT_FOUND if there is none.
 */
enum wndl_status wndl_jit_remove_source(
    struct wndl_jit *jit, uint64_t origin, const uint8_t **bytes);

/*
 * The size of records up to a length field of 0, without that. False if one
 * exceeds `most`.
 */
bool wndl_jit_frames_size(const void *eh_frame, size_t most, size_t *size);

/*
 * A replacement of all that walks see, which waits for nobody. The caller may
 * have interrupted walks or changes; begin returns false if one is in the way.
 * `side` is not visible to walks meanwhile. Nobody has read it since the last
 * replacement ended.
 */
struct wndl_jit_change {
    struct wndl_jit_entry *entries;
    size_t count, max;
    size_t old;    /* entries from here on are new, in any order */
    size_t lowest; /* entries before it are unchanged */
    unsigned side;
};
bool wndl_jit_replace_begin(
    struct wndl_jit *jit, struct wndl_jit_change *change);

/* Like wndl_jit_add_source, but code may be there twice. */
enum wndl_status wndl_jit_replace_add(
    struct wndl_jit_change *change, const struct wndl_jit_source *source);

/* Where code is there twice, keeps the piece that starts first. */
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

/*
 * An ELF file in memory. `take` returns memory with the bytes of that address,
 * any alignment; NULL: not readable. The .eh_frame is requested last.
 */
struct wndl_jit_file {
    uint64_t address, size;
    const uint8_t *(*take)(void *context, uint64_t address, size_t size);
    void *context;
};

/*
 * Finds its call frame information. NOT_FOUND if it has none, UNSUPPORTED for
 * files of other machines. `source` points into the memory of `take`.
 */
enum wndl_status wndl_jit_gdb_file(
    const struct wndl_jit_file *file, struct wndl_jit_source *source);

enum wndl_jit_gdb {
    WNDL_JIT_GDB_NOTHING, /* the status says why, if it is not OK */
    WNDL_JIT_GDB_ADD,
    WNDL_JIT_GDB_REMOVE, /* only the origin is set */
};

/*
 * Reads from the descriptor of GDB's interface what must be done, as for
 * wndl_jit_follow_gdb. The file, and thus `source`, is valid while the caller
 * holds its lock.
 */
enum wndl_status wndl_jit_gdb_source(const void *descriptor,
    enum wndl_jit_gdb *what, struct wndl_jit_source *source);

#endif
