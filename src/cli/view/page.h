/* SPDX-License-Identifier: MIT */
/* view_page: the viewer that the build bundled, if it did. */
#ifndef WNDL_CLI_VIEW_PAGE_H
#define WNDL_CLI_VIEW_PAGE_H

#include "base/bytes.h"

/* The page that out/view/view.h wants; empty without a viewer. Never freed. */
struct wndl_bytes wndl_view_page(void);

/* Why there is none: "npm ci failed"; NULL if there is one. Static string. */
const char *wndl_view_problem(void);

#endif
