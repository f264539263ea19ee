/* SPDX-License-Identifier: MIT */
/*
 * check_list: a list of errors that 'windlass check' wrote earlier
 * (docs/formats/check-json.md), of which a baseline needs keys and places.
 */
#ifndef WNDL_IN_CHECK_LIST_H
#define WNDL_IN_CHECK_LIST_H

#include "base/bytes.h"
#include "base/status.h"
#include "model/check.h"

/*
 * Adds the errors of `file` to `known`, of struct wndl_known_finding, in memory
 * of its arena; keeps nothing of `file`. TRUNCATED, MALFORMED, LIMIT with the
 * offset in section "JSON"; UNSUPPORTED for another version; NOMEM.
 */
enum wndl_status wndl_check_list_read(struct wndl_vec *known,
    struct wndl_bytes file, struct wndl_error *err) WNDL_MUST_USE;

#endif
