/* SPDX-License-Identifier: MIT */
/*
 * file: a regular file as read-only bytes in memory. It must not know the
 * contents.
 *
 * The bytes are a private mapping. If another process truncates the file while
 * it is mapped, reading the lost pages raises SIGBUS, as with every mapping.
 * Files replaced by rename, as package managers do, are safe.
 */
#ifndef WNDL_OS_FILE_H
#define WNDL_OS_FILE_H

#include "base/bytes.h"
#include "base/status.h"

/* Invariant: bytes.size > 0 while mapped, 0 after wndl_file_close. */
struct wndl_file {
    struct wndl_bytes bytes;
};

/*
 * Maps all of `path`. IO if the system refuses, UNSUPPORTED if it is not a
 * regular file (nothing waits on a pipe), TRUNCATED if it is empty; `err` names
 * the path. On success the bytes live until wndl_file_close; on failure `file`
 * is as after wndl_file_close. Any thread.
 */
enum wndl_status wndl_file_open(const char *path, struct wndl_file *file,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * The same for an open file, which may be closed right after. `err` has no
 * path.
 */
enum wndl_status wndl_file_of_descriptor(
    int fd, struct wndl_file *file, struct wndl_error *err) WNDL_MUST_USE;

struct wndl_file_facts {
    uint32_t owner;   /* user id */
    bool is_open;     /* others than the owner may write to it */
    int64_t modified; /* ns since 1970 */
};

/* The same as wndl_file_open, with `facts` of the file that was mapped. */
enum wndl_status wndl_file_open_facts(const char *path, struct wndl_file *file,
    struct wndl_file_facts *facts, struct wndl_error *err) WNDL_MUST_USE;

/*
 * The same, but IO if `path` is a symbolic link: for folders that others may
 * write to.
 */
enum wndl_status wndl_file_open_itself(const char *path, struct wndl_file *file,
    struct wndl_file_facts *facts, struct wndl_error *err) WNDL_MUST_USE;

/* Removes the bytes from the process's memory until they are read again. */
void wndl_file_give_up(const struct wndl_file *file);

/* Unmaps the file. A file that is not mapped is ignored. */
void wndl_file_close(struct wndl_file *file);

/*
 * The folder that really contains the file `path`, with symbolic links
 * resolved. It is absolute, without a final slash, so "" for the root. False if
 * it is not known or does not fit `size` bytes. Any thread.
 */
bool wndl_file_real_folder(const char *path, char *folder, size_t size);

#endif
