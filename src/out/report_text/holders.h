/* SPDX-License-Identifier: MIT */
/* report_text_holders: why blocks of a scanned heap are alive, as text. */
#ifndef WNDL_OUT_REPORT_TEXT_HOLDERS_H
#define WNDL_OUT_REPORT_TEXT_HOLDERS_H

#include "base/buf.h"
#include "model/heap_holders.h"

/* The tables: what each place and root retains, and who leads leaks. */
void wndl_text_retained(
    const struct wndl_heap_holders *h, size_t rows, struct wndl_buf *out);

/* The chains of the blocks whose place contains `place`. */
void wndl_text_who_holds(const struct wndl_heap_holders *h, const char *place,
    size_t rows, struct wndl_buf *out);

/* The block that h->seen has. */
void wndl_text_heap_block(
    const struct wndl_heap_holders *h, size_t rows, struct wndl_buf *out);

/* The site that h->seen_sites has. */
void wndl_text_heap_site(
    const struct wndl_heap_holders *h, size_t rows, struct wndl_buf *out);

/* Growth and shrinking by holder. */
void wndl_text_holder_changes(
    const struct wndl_holder_changes *c, size_t rows, struct wndl_buf *out);

#endif
