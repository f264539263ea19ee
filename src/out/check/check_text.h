/* SPDX-License-Identifier: MIT */
/* check_text: the list of distinct errors as text. */
#ifndef WNDL_OUT_CHECK_CHECK_TEXT_H
#define WNDL_OUT_CHECK_CHECK_TEXT_H

#include "model/check.h"

/*
 * Appends the list, at most `rows` errors of each part with their stacks. False
 * if memory is out.
 */
bool wndl_check_text(
    struct wndl_buf *out, const struct wndl_finding_list *list, uint64_t rows);

/* The title of a part, for the other writers, too. Static string. */
const char *wndl_check_group_title(enum wndl_finding_group group);

#endif
