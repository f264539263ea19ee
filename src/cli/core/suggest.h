/* SPDX-License-Identifier: MIT */
/*
 * suggest: the word that was meant by a misspelt one. Knows words, and nothing
 * of what they are for.
 */
#ifndef WNDL_CLI_CORE_SUGGEST_H
#define WNDL_CLI_CORE_SUGGEST_H

#include <stddef.h>

/* A search among candidates; texts are borrowed. */
struct wndl_suggestion {
    const char *word; /* as typed, `size` bytes */
    size_t size;
    const char *best; /* NULL: none is near; else best_size bytes */
    size_t best_size;
    unsigned distance; /* of `best`, in letters */
};

struct wndl_suggestion wndl_suggest(const char *word, size_t size);

/*
 * Considers a candidate of `size` bytes. It is near if at most a third of the
 * letters are wrong, missing, too many or swapped with the next, or if it
 * begins with the word; of several the first nearest stays.
 */
void wndl_suggest_try(
    struct wndl_suggestion *s, const char *candidate, size_t size);

/* Considers each word of "a|b|c", also those of older names after "||". */
void wndl_suggest_try_choices(struct wndl_suggestion *s, const char *choices);

#endif
