/* SPDX-License-Identifier: MIT */
/* check_html: the list of distinct errors as one page, without scripts. */
#ifndef WNDL_OUT_CHECK_CHECK_HTML_H
#define WNDL_OUT_CHECK_CHECK_HTML_H

#include "model/check.h"

/* Appends the page. False if memory is out. */
bool wndl_check_html(
    struct wndl_buf *out, const struct wndl_finding_list *list);

#endif
