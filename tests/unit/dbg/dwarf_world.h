/* SPDX-License-Identifier: MIT */
/* dwarf_world: a file with DWARF, and the other files that it refers to. */
#ifndef WNDL_TESTS_DWARF_WORLD_H
#define WNDL_TESTS_DWARF_WORLD_H

#include "testlib.h"

#include "dbg/dwarf/dwarf.h"
#include "dwarfmake.h"

static const uint64_t ID = 0x1122334455667788;

/* What the DWARF reader is given when it asks, and how often it did. */
struct world {
    struct dwarfmake skeleton, dwo, wrong, sup;
    struct wndl_buf index, pads[4];
    struct wndl_dwarf_files files;
    struct wndl_dwarf_sections candidates[2];
    struct wndl_dwarf_sections package, supplementary;
    unsigned candidate_count;
    unsigned asked_split, asked_package, asked_supplementary;
    char asked_for[64];
};

/* A skeleton of `how` and its .dwo file, the one candidate. */
void make_world(struct world *w, const struct dwarf_recipe *how);
void free_world(struct world *w);

/* The caller closes it. Fails the test. */
struct wndl_dwarf *open_world(struct world *w);

/* Frames are "name linkage file:line" with "; " between. */
void check_at(struct wndl_dwarf *d, uint64_t address, const char *expected);

/* All frames of the sample in dwarfmake.h; those of a file without its .dwo. */
void check_whole(struct wndl_dwarf *d);
void check_lines_only(struct wndl_dwarf *d);

struct wndl_dwarf_stats stats_of(struct wndl_dwarf *d);

typedef void recipe_fn(const struct dwarf_recipe *how);
/* Versions 4 and 5 in every encoding. */
void for_each_recipe(recipe_fn *run);

/* Moves the candidate into a package. */
void make_package(struct world *w);

/* Version 4, 64-bit addresses, little-endian. */
extern const struct dwarf_recipe plain4;

enum { SUP_UNIT = 11, SUP_DIE = SUP_UNIT + 1 }; /* of version 4, 32-bit */

/* A partial unit with one function, whose name is `name`. With `origin` it
 * refers to itself. */
void make_sup(struct world *w, const char *name, bool origin);

/* A function over [0x1000, 0x1010) that refers to DIE and string there. */
void make_user(struct world *w, uint64_t die, uint64_t string);

#endif
