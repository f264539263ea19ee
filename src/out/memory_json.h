/* SPDX-License-Identifier: MIT */
/*
 * memory_json: memory reports in the layout of Firefox (JSON, version 1), which
 * about:memory loads. docs/formats/memory-report.md has the format.
 */
#ifndef WNDL_OUT_MEMORY_JSON_H
#define WNDL_OUT_MEMORY_JSON_H

#include "model/memory_reports.h"

#include <stdio.h>

/* Writes it, compressed by gzip if `zipped`. False if memory is out. */
bool wndl_memory_json_write(
    FILE *out, const struct wndl_memory_reports *reports, bool zipped);

#endif
