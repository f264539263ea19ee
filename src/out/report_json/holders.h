/* SPDX-License-Identifier: MIT */
/* report_json_holders: why blocks of a scanned heap are alive, as JSON. */
#ifndef WNDL_OUT_REPORT_JSON_HOLDERS_H
#define WNDL_OUT_REPORT_JSON_HOLDERS_H

#include "base/buf.h"
#include "model/heap_holders.h"

/*
 * docs/formats/holders-json.md. `retained`: with the tables of what each place
 * and root retains. `place`: with the chains of the blocks whose place contains
 * it, which h->steps has; NULL: without. The block and
 * the site that h->seen and h->seen_sites have are in it.
 */
void wndl_report_json_holders(const struct wndl_heap_holders *h, bool retained,
    const char *place, struct wndl_buf *out);

/* The growth by holder between two scans (the same page). */
void wndl_report_json_holder_changes(
    const struct wndl_holder_changes *c, struct wndl_buf *out);

#endif
