/* SPDX-License-Identifier: MIT */
/*
 * binaries: what recorded processes map, opened once for all of them: what
 * the unwinder needs of each, copied, so that a file that is written to later
 * does no harm. One thread.
 */
#ifndef WNDL_COLLECT_CODE_BINARIES_H
#define WNDL_COLLECT_CODE_BINARIES_H

#include "base/intern.h"
#include "collect/code/unwind_tables.h"
#include "os/maps.h"

#include <sys/types.h>

struct wndl_binary_section {
    struct wndl_bytes bytes; /* empty: there is none */
    uint64_t svma;
};

struct wndl_binary_segment {
    uint64_t svma, file_offset, file_size;
};

/* Lives as the cache does. */
struct wndl_binary {
    char *path;          /* as the kernel tells it */
    uint64_t start, end; /* svma, of the whole image */
    struct wndl_bytes build_id;
    struct wndl_binary_section eh_frame, eh_frame_hdr;
    struct wndl_unwind_table unwind_table;
    struct wndl_binary_segment *code; /* executable segments */
    size_t code_count;
    uint16_t machine; /* EM_* */
    uint32_t image;   /* in the recording, index + 1; 0: not announced */
};

struct wndl_binaries {
    struct wndl_arena arena;
    struct wndl_intern keys; /* what stat(2) tells, and the path */
    struct wndl_vec all;     /* struct wndl_binary *, by id of the key */
    const char *tables;      /* attached: as in struct wndl_shm */
};

/* False when memory is out. Borrows `tables`. */
bool wndl_binaries_init(struct wndl_binaries *binaries, const char *tables);
void wndl_binaries_free(struct wndl_binaries *binaries);

/* Of which process, and of which ELF machine (EM_*) its binaries are. */
struct wndl_binaries_user {
    pid_t pid;
    uint16_t machine;
};

/*
 * The binary that is mapped there; NULL if it is none of that machine, or the
 * file of that path is another by now, or memory is out.
 */
struct wndl_binary *wndl_binaries_get(struct wndl_binaries *binaries,
    struct wndl_binaries_user user, const struct wndl_mapping *mapping);

/* Where the mapping puts svma 0; false if it is no code of that binary. */
bool wndl_binary_bias(const struct wndl_binary *binary,
    const struct wndl_mapping *mapping, uint64_t *bias);

#endif
