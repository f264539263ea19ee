/* SPDX-License-Identifier: MIT */
/*
 * binaries: the files that recorded processes map, opened once for all of them.
 * The unwinder's sections are copied, so that a later write to the file does no
 * harm. One thread.
 */
#ifndef WNDL_COLLECT_CODE_BINARIES_H
#define WNDL_COLLECT_CODE_BINARIES_H

#include "base/intern.h"
#include "base/map.h"
#include "collect/code/unwind_tables.h"
#include "os/file.h"
#include "os/maps.h"

#include <sys/types.h>
#include <windlass/unwind.h>

struct wndl_binary_section {
    struct wndl_bytes bytes; /* empty: the binary has none */
    uint64_t svma;
};

struct wndl_binary_segment {
    uint64_t svma, file_offset, file_size;
};

/* The fields of stat(2) that identify a file. */
struct wndl_binary_identity {
    uint64_t device, inode, size, seconds, nanoseconds;
};

/* A binary. It lives as long as the cache. */
struct wndl_binary {
    char *path; /* as the kernel reports it */
    /* where it was found first, which may be in /proc; NULL: in memory only */
    char *opened;
    struct wndl_binary_identity identity; /* of that */
    struct wndl_bytes contents; /* borrowed by the caller's leave, or empty */
    struct wndl_call_file *call_file; /* call_file.h; NULL: not yet */
    uint64_t start, end;              /* svma, of the whole image */
    struct wndl_bytes build_id;
    struct wndl_binary_section eh_frame, eh_frame_hdr;
    struct wndl_unwind_table unwind_table;
    /* made_tables.h or table_maker.h; empty: none is needed, or not yet */
    struct wndl_bytes made_table;
    struct wndl_binary_segment *code; /* executable segments */
    size_t code_count;
    uint16_t machine; /* EM_* */
    uint32_t image;   /* its index in the recording + 1; 0: not announced */
    /* code without rules may get some from itself, and does not yet */
    bool may_lack_rules;
};

/* The binary of an image; NULL: it is not known. */
struct wndl_image_binary {
    struct wndl_binary *binary;
    bool is_searched;
};

struct wndl_binaries {
    struct wndl_arena arena;
    /* the fields of stat(2) that identify a file, and its path */
    struct wndl_intern keys;
    struct wndl_vec all; /* struct wndl_binary *, by id of the key */
    const char *tables;  /* attached unwind tables: as in struct wndl_shm */
    const char *const *debug_dirs;     /* as in obj/find/debugfile.h */
    struct wndl_table_maker *maker;    /* NULL: no rules are made from code */
    uint32_t made;                     /* number of tables that it has made */
    struct wndl_call_file *call_files; /* the last one that was opened */
    struct wndl_map calls;             /* answers of calls.h, by hash */
    struct wndl_vec by_image; /* struct wndl_image_binary, of a recording */
    const char *kept; /* folder where tables from code are kept, or NULL */
    struct wndl_error trouble; /* the first one with that folder */
    bool has_trouble;
};

/*
 * Makes an empty cache. Borrows both: attached tables, and the folders for
 * debug files. False when memory is out.
 */
bool wndl_binaries_init(struct wndl_binaries *binaries, const char *tables,
    const char *const *debug_dirs);
void wndl_binaries_free(struct wndl_binaries *binaries);

/*
 * From now on, code without rules gets some from its code: a table that was
 * kept in the folder `kept` (table_cache.h; borrowed, may be NULL), or one that
 * is made once it is wanted (table_maker.h). Not if memory is out.
 */
void wndl_binaries_follow_code(
    struct wndl_binaries *binaries, const char *kept);

/*
 * Orders a table for a binary, once. False if none was ordered now: it has been
 * ordered before, there will be none, or the file cannot be opened.
 */
bool wndl_binaries_want(
    struct wndl_binaries *binaries, struct wndl_binary *binary);

/* Gives binaries the tables that were finished meanwhile. */
void wndl_binaries_take_made(struct wndl_binaries *binaries);

/* Whether no ordered table is still to come. */
bool wndl_binaries_have_all(const struct wndl_binaries *binaries);

/*
 * Waits until an ordered table is there, for `ns` at most. False if none is
 * being made.
 */
bool wndl_binaries_wait(const struct wndl_binaries *binaries, uint64_t ns);

/* Before fork(): table_maker.h. */
void wndl_binaries_rest(struct wndl_binaries *binaries);

/* The process that maps binaries, and the ELF machine (EM_*) of its code. */
struct wndl_binaries_user {
    pid_t pid;
    uint16_t machine;
};

/*
 * The binary that is mapped by `mapping`. NULL if it is none of that machine,
 * if the path has another file by now, or if memory is out. Valid as long as
 * the cache.
 */
struct wndl_binary *wndl_binaries_get(struct wndl_binaries *binaries,
    struct wndl_binaries_user user, const struct wndl_mapping *mapping);

/*
 * A binary of the cache, made of the contents of the file `name`, which it does
 * not borrow. NULL for a file that is no program or library, or without memory.
 */
struct wndl_binary *wndl_binaries_of_bytes(
    struct wndl_binaries *binaries, struct wndl_bytes bytes, const char *name);

/*
 * The binary of that build-id, or, if there is none, without one and with that
 * path. NULL if the cache has none.
 */
struct wndl_binary *wndl_binaries_find(const struct wndl_binaries *binaries,
    const char *path, struct wndl_bytes build_id);

/*
 * Opens the file of the binary once more. False if it is in memory only, or if
 * another file is there by now.
 */
bool wndl_binary_open_again(
    const struct wndl_binary *binary, struct wndl_file *file);

/* The binary as a module of walks. It borrows the binary. */
struct wndl_remote_module wndl_binary_module(
    const struct wndl_binary *binary, uint64_t bias);

/* Whether call frame information or a table covers the code at `svma`. */
bool wndl_binary_has_rules(const struct wndl_binary *binary, uint64_t svma);

/*
 * Sets *bias to the address at which the mapping puts svma 0. False if the
 * mapping is no code of that binary.
 */
bool wndl_binary_bias(const struct wndl_binary *binary,
    const struct wndl_mapping *mapping, uint64_t *bias);

#endif
