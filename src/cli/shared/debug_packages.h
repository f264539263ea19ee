/* SPDX-License-Identifier: MIT */
/*
 * debug_packages: Debian's packages of the debug information that a report
 * lacks, by dpkg's lists of installed files.
 */
#ifndef WNDL_CLI_SHARED_DEBUG_PACKAGES_H
#define WNDL_CLI_SHARED_DEBUG_PACKAGES_H

#include "base/buf.h"
#include "model/report.h"

/*
 * Appends the packages of those three modules without names that cost most and
 * would have names with debug files: "libc6-dbg xz-utils-dbgsym", and a NUL.
 * Nothing at all where dpkg knows none. Reads dpkg's folder (/var/lib/dpkg, or
 * $DPKG_ADMINDIR as dpkg does).
 */
void wndl_debug_packages(
    const struct wndl_report *report, struct wndl_buf *out);

/* The same of a heap: of the modules with most functions without names. */
void wndl_debug_packages_of_heap(
    const struct wndl_symbolized *s, struct wndl_buf *out);

#endif
