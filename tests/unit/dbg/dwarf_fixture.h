/* SPDX-License-Identifier: MIT */
/* dwarf_fixture: the sample of dwarfmake.h, and the frames in it. */
#ifndef WNDL_TESTS_DWARF_FIXTURE_H
#define WNDL_TESTS_DWARF_FIXTURE_H

#include "testlib.h"

#include "dbg/dwarf/dwarf.h"
#include "dwarfmake.h"

/* Version 5, 64-bit addresses, little-endian. */
extern const struct dwarf_recipe plain;

/* Each frame is "name|linkage name|file:line:column|kind|start"; NULL ends. */
void check_frames(
    struct wndl_dwarf *d, uint64_t address, const char *const *expected);

enum wndl_status status_at(struct wndl_dwarf *d, uint64_t address);

/* The frames of main and of the calls in it; of the functions after it. */
void check_sample(struct wndl_dwarf *d);
void check_sample_names(struct wndl_dwarf *d);

/* The caller closes it. Fails the test. */
struct wndl_dwarf *open_made(const struct dwarfmake *m);

/* A set of .debug_aranges that says `start`, `length` of unit 0. */
void add_aranges(struct dwarfmake *m, uint64_t start, uint64_t length);

#endif
