/* SPDX-License-Identifier: MIT */
/* check_json: the list of distinct errors as JSON (docs/formats/check-json.md).
 * It is a baseline, too: in/check_list.h reads it. */
#ifndef WNDL_OUT_CHECK_CHECK_JSON_H
#define WNDL_OUT_CHECK_CHECK_JSON_H

#include "model/check.h"

/* Appends the list. False if memory is out. */
bool wndl_check_json(
    struct wndl_buf *out, const struct wndl_finding_list *list);

#endif
