/* SPDX-License-Identifier: MIT */
#include "cli/core/suggest.h"

#include <stdbool.h>
#include <string.h>

/* Longer words are not compared: no option or command is as long. */
enum { LETTERS_MAX = 40, PREFIX_MIN = 2, FAR = 1000 };

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static char folded(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_same(char a, char b)
{
    return folded(a) == folded(b);
}

/* The three last rows of the table of distances between beginnings. */
struct rows {
    unsigned before[LETTERS_MAX + 1];
    unsigned last[LETTERS_MAX + 1];
    unsigned now[LETTERS_MAX + 1];
};

/* Fills row `i` of the table, for the first `i` letters of `a`. */
static void fill_row(
    struct rows *r, size_t i, const char *a, const char *b, size_t b_size)
{
    r->now[0] = (unsigned)i;
    for (size_t j = 1; j <= b_size; j++) {
        const unsigned wrong = is_same(a[i - 1], b[j - 1]) ? 0 : 1;
        unsigned best = r->last[j - 1] + wrong;
        best = least(best, r->last[j] + 1);
        best = least(best, r->now[j - 1] + 1);
        if (i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) &&
            is_same(a[i - 2], b[j - 1]))
            best = least(best, r->before[j - 2] + 1);
        r->now[j] = best;
    }
    memcpy(r->before, r->last, sizeof r->last);
    memcpy(r->last, r->now, sizeof r->now);
}

/* Optimal string alignment distance, regardless of case. */
static unsigned distance_of(
    const char *a, size_t a_size, const char *b, size_t b_size)
{
    struct rows r = {{0}, {0}, {0}};
    if (a_size > LETTERS_MAX || b_size > LETTERS_MAX)
        return FAR;
    for (size_t j = 0; j <= b_size; j++)
        r.last[j] = (unsigned)j;
    for (size_t i = 1; i <= a_size; i++)
        fill_row(&r, i, a, b, b_size);
    return r.last[b_size];
}

static bool begins_with(
    const char *text, size_t size, const char *start, size_t start_size)
{
    return start_size >= PREFIX_MIN && start_size < size &&
           memcmp(text, start, start_size) == 0;
}

struct wndl_suggestion wndl_suggest(const char *word, size_t size)
{
    return (struct wndl_suggestion){word, size, NULL, 0, FAR};
}

void wndl_suggest_try(
    struct wndl_suggestion *s, const char *candidate, size_t size)
{
    const size_t longer = size > s->size ? size : s->size;
    const unsigned most = (unsigned)(longer < 3 ? 1 : longer / 3);
    unsigned distance = distance_of(s->word, s->size, candidate, size);
    if (distance > most && begins_with(candidate, size, s->word, s->size))
        distance = most;
    if (distance > most || distance >= s->distance || distance >= longer)
        return;
    s->best = candidate;
    s->best_size = size;
    s->distance = distance;
}

void wndl_suggest_try_choices(struct wndl_suggestion *s, const char *choices)
{
    while (*choices != '\0') {
        const size_t size = strcspn(choices, "|");
        wndl_suggest_try(s, choices, size);
        choices += size;
        choices += strspn(choices, "|");
    }
}
