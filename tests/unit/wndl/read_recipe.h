/* SPDX-License-Identifier: MIT */
/* read_recipe: recordings of tests/lib/recipe.h, and their profiles. */
#ifndef WNDL_TESTS_READ_RECIPE_H
#define WNDL_TESTS_READ_RECIPE_H

#include "testlib.h"

#include "base/buf.h"
#include "model/profile.h"

/* Two processes that share a library, a rename, both kinds of losses. */
extern const char golden[];

/* All that 1.1 adds, in two processes. */
extern const char golden_11[];

/* The recording, whose buffer the caller frees. Fails the test. */
struct wndl_buf cook(const char *recipe);
struct wndl_bytes content(const struct wndl_buf *buf);

/* The profile of a recipe, which must be readable. */
void read_recipe(const char *recipe, struct wndl_profile *p);

/* "image:address" of every frame from the leaf up, into `text`. */
void spell_stack(
    const struct wndl_profile *p, uint32_t node, char *text, size_t size);

const struct wndl_sample *sample_at(const struct wndl_profile *p, size_t i);

const struct wndl_block *block_at(const struct wndl_profile *p, size_t i);

#endif
