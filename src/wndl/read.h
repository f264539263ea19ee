/* SPDX-License-Identifier: MIT */
/*
 * read: recordings (docs/formats/wndl.md) into a profile. It must not know
 * symbols: frames stay addresses in images.
 */
#ifndef WNDL_WNDL_READ_H
#define WNDL_WNDL_READ_H

#include "base/bytes.h"
#include "base/status.h"
#include "model/profile.h"
#include "os/file.h"

/*
 * Reads the recording `file` into `p`, which wndl_profile_init made. `p` keeps
 * no pointer into `file`. The stacks of all processes become one tree.
 *
 * Damage is no failure. A chunk that is damaged, or that refers to something in
 * a damaged one, is skipped and counted in p->chunks_damaged; its samples, if
 * their number is known, are counted in p->lost[WNDL_LOST_DAMAGED].
 *
 * Fails as wndl_chunk_reader_init does, and with NOMEM.
 */
enum wndl_status wndl_reader_read(struct wndl_profile *p,
    struct wndl_bytes file, struct wndl_error *err) WNDL_MUST_USE;

/*
 * The same for a mapped file. It releases pages after it has read them, so that
 * the resident memory does not grow with the file.
 */
enum wndl_status wndl_reader_read_file(struct wndl_profile *p,
    const struct wndl_file *file, struct wndl_error *err) WNDL_MUST_USE;

#endif
