/* SPDX-License-Identifier: MIT */
/*
 * call_file: the file of a binary, as calls.h reads it: its code, the extents
 * of its functions, and where stubs and slots lead by their relocations. It
 * must not know processes.
 */
#ifndef WNDL_COLLECT_CODE_CALL_FILE_H
#define WNDL_COLLECT_CODE_CALL_FILE_H

#include "base/bytes.h"
#include "base/status.h"

struct wndl_binaries;
struct wndl_binary;
struct wndl_call_file;

/*
 * The binary's file, opened at the first call. It lives as long as the cache of
 * binaries. NULL if it is none of x86, or if the file cannot be read any more
 * or is another one by now.
 */
struct wndl_call_file *wndl_call_file_of(
    struct wndl_binaries *binaries, struct wndl_binary *binary);

/* Closes a file and those opened before it. NULL is ignored. */
void wndl_call_files_close(struct wndl_call_file *file);

/* Whether it is code of 64 bits. */
bool wndl_call_file_is_64(const struct wndl_call_file *file);

/* An address that code of the file computes: i386 has 32 bits. */
uint64_t wndl_call_file_address(
    const struct wndl_call_file *file, uint64_t address);

/* The code at `svma`, up to `most` bytes; empty if there is none. */
struct wndl_bytes wndl_call_file_code(
    const struct wndl_call_file *file, uint64_t svma, size_t most);

/* A function at [start, end), svma. */
struct wndl_call_extent {
    uint64_t start, end;
};

/*
 * The function that contains `svma`, by call frame information and by symbols
 * that have a size; the smaller one if both know it. False if neither does.
 */
bool wndl_call_file_extent(struct wndl_call_file *file, uint64_t svma,
    struct wndl_call_extent *extent);

/*
 * The name of the function that the stub at `svma` jumps to; empty if that is
 * not known. False if there is no stub.
 */
bool wndl_call_file_stub(
    struct wndl_call_file *file, uint64_t svma, struct wndl_bytes *name);

/* The name of the function whose address the loader puts into a slot. */
bool wndl_call_file_slot(
    struct wndl_call_file *file, uint64_t svma, struct wndl_bytes *name);

/*
 * The next function of that name. *at is 0 before the first call. False if
 * there is no more.
 */
bool wndl_call_file_named(struct wndl_call_file *file, struct wndl_bytes name,
    size_t *at, uint64_t *svma);

#endif
