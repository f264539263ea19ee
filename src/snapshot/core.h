/* SPDX-License-Identifier: MIT */
/*
 * core: the stacks in a core file, which may be compressed.
 *
 * The registers and the memory are those that the core has. Its binaries are
 * found by path, and by build-id in the folders for debug files; they are used
 * if their build-id is that of the first page in the core. They have the call
 * frame information, and the memory that the core left out.
 */
#ifndef WNDL_SNAPSHOT_CORE_H
#define WNDL_SNAPSHOT_CORE_H

#include "collect/code/binaries.h"
#include "os/file.h"
#include "snapshot/core_memory.h"
#include "snapshot/core_notes.h"

struct wndl_core_request {
    const char *path; /* of the core, or the number of a process (core_ctl) */
    const char *program; /* the file of the program; NULL: as the core says */
    size_t max_frames;
    const char *const *debug_dirs; /* as in obj/find/debugfile.h */
    /* NULL, or sets `path`, of `size` bytes, to a file with that build-id.
     * False: there is none. */
    bool (*fetch)(struct wndl_bytes build_id, char *path, size_t size);
    /* Whether the thread is wanted; `context` is the first argument. */
    bool (*is_wanted)(void *context, uint32_t tid, const char *name);
    void *context;
};

/* An open core. Everything is private but `notes`. */
struct wndl_core {
    struct wndl_core_request request;
    struct wndl_arena arena;
    struct wndl_file file;
    struct wndl_core_file headers;
    struct wndl_core_notes notes;
    struct wndl_core_memory memory;
    struct wndl_error damage; /* the first loss; or status OK */
    struct wndl_binaries binaries;
    struct wndl_vec files;  /* struct wndl_file: of the binaries */
    struct wndl_vec images; /* struct wndl_snapshot_image, by address */
};

/*
 * Opens the core and its binaries. `request` is copied, its pointers are
 * borrowed. IO; UNSUPPORTED: no core file, or of another machine; MALFORMED,
 * TRUNCATED, NOMEM; NOT_FOUND: request->program is not the core's program, or
 * the core has no thread. On success it must not move, and ends with
 * wndl_core_close.
 */
enum wndl_status wndl_core_open(struct wndl_core *core,
    const struct wndl_core_request *request,
    struct wndl_error *err) WNDL_MUST_USE;

/* Walks the stacks into an empty snapshot, which borrows the core. NOMEM. */
enum wndl_status wndl_core_read(struct wndl_core *core,
    struct wndl_snapshot *snapshot, struct wndl_error *err) WNDL_MUST_USE;

void wndl_core_close(struct wndl_core *core);

#endif
