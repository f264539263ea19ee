/* SPDX-License-Identifier: MIT */
/* marked: where the samples of tests/fixtures/symbolize are to be looked at. */
#ifndef WNDL_MARKED_H
#define WNDL_MARKED_H

#include <stdint.h>

/* Lines of tests/fixtures/symbolize/sample.c, of the frames at the mark. */
enum { LINE_INNERMOST = 8, LINE_MIDDLE = 15, LINE_OUTER = 20 };

/* The rva of the instruction that is marked in a sample. */
uint64_t marked_rva(const char *path);

#endif
