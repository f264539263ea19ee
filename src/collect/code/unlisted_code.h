/* SPDX-License-Identifier: MIT */
/*
 * unlisted_code: code of files that a process mapped without the loader, so
 * that nothing in it could tell: node maps its built-in functions a second
 * time, near the code that it generates. Found in the process's memory map.
 */
#ifndef WNDL_COLLECT_CODE_UNLISTED_CODE_H
#define WNDL_COLLECT_CODE_UNLISTED_CODE_H

#include "base/vec.h"
#include "wndl/write.h"

#include <sys/types.h>

/* Of one process image. Zeroed memory needs wndl_unlisted_code_init. */
struct wndl_unlisted_code {
    struct wndl_recording *recording;
    uint32_t process; /* index in the recording */
    pid_t pid;
    struct wndl_arena arena;
    struct wndl_vec mappings; /* all code of files, by start */
    uint64_t again, pause;    /* when the map may be read next; ns */
};

/* Code of an image of the recording. */
struct wndl_code_place {
    uint32_t image; /* index */
    uint64_t rva;
};

void wndl_unlisted_code_init(struct wndl_unlisted_code *code,
    struct wndl_recording *recording, uint32_t process, pid_t pid);
void wndl_unlisted_code_free(struct wndl_unlisted_code *code);

/*
 * Notes that there is code at `address`, in no module of the loader's.
 * Announces the image that is mapped there, if that can be told. Reads the
 * memory map when it meets what it does not know, less and less often if that
 * does not help.
 */
void wndl_unlisted_code_meet(struct wndl_unlisted_code *code, uint64_t address);

/* What was found at an address that was met. False if it is no code of a
 * file, or of none that could be told. */
bool wndl_unlisted_code_find(const struct wndl_unlisted_code *code,
    uint64_t address, struct wndl_code_place *place);

#endif
