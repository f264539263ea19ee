/* SPDX-License-Identifier: MIT */
/*
 * unlisted_code: code of files that a process mapped without the loader, so
 * that the runtime does not know it: node maps its built-in functions a second
 * time, near the code that it generates. It is found in the process's memory
 * map.
 */
#ifndef WNDL_COLLECT_CODE_UNLISTED_CODE_H
#define WNDL_COLLECT_CODE_UNLISTED_CODE_H

#include "base/vec.h"
#include "wndl/write.h"

#include <sys/types.h>

/*
 * The unlisted code of one process image. Zeroed memory needs
 * wndl_unlisted_code_init.
 */
struct wndl_unlisted_code {
    struct wndl_recording *recording;
    uint32_t process; /* index in the recording */
    pid_t pid;
    struct wndl_arena arena;
    struct wndl_vec mappings; /* all code of files, by start */
    /* ns: the earliest time of the next read of the map */
    uint64_t again, pause;
};

/* A place in an image of the recording. */
struct wndl_code_place {
    uint32_t image; /* index */
    uint64_t rva;
};

/*
 * Makes it empty for process `pid`, of index `process`. `recording` outlives
 * it.
 */
void wndl_unlisted_code_init(struct wndl_unlisted_code *code,
    struct wndl_recording *recording, uint32_t process, pid_t pid);
void wndl_unlisted_code_free(struct wndl_unlisted_code *code);

/*
 * Notes that there is code at `address`, in no module of the loader's. It
 * announces the image that is mapped there, if that is known. It reads the
 * memory map at an unknown address, and less and less often if that does not
 * help.
 */
void wndl_unlisted_code_meet(struct wndl_unlisted_code *code, uint64_t address);

/*
 * The place of an address that was noted. False if it is not in a file, or in
 * an unknown one.
 */
bool wndl_unlisted_code_find(const struct wndl_unlisted_code *code,
    uint64_t address, struct wndl_code_place *place);

#endif
