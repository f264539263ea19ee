/* SPDX-License-Identifier: MIT */
#include "rec/filter.h"

#include <stddef.h>
#include <string.h>

struct pattern {
    const char *text;
    size_t size;
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool begins_with(const char *text, struct pattern p)
{
    for (size_t i = 0; i < p.size; i++) {
        if (text[i] == '\0' || lower(text[i]) != lower(p.text[i]))
            return false;
    }
    return true;
}

static bool is_part_of(struct pattern p, const char *name)
{
    for (; *name != '\0'; name++) {
        if (begins_with(name, p))
            return true;
    }
    return false;
}

static bool is(struct pattern p, const char *word)
{
    return p.size == strlen(word) && begins_with(word, p);
}

static bool is_number(struct pattern p, int number)
{
    int64_t value = 0;
    for (size_t i = 0; i < p.size; i++) {
        if (p.text[i] < '0' || p.text[i] > '9' || value > INT32_MAX)
            return false;
        value = 10 * value + (p.text[i] - '0');
    }
    return p.size > 0 && value == number;
}

static bool matches(struct pattern p, const struct wndl_filter_thread *thread)
{
    static const char by_pid[] = "pid:";
    static const size_t prefix = sizeof by_pid - 1;
    if (is(p, "*") || (is(p, "main") && thread->tid == thread->pid))
        return true;
    if (p.size > prefix && memcmp(p.text, by_pid, prefix) == 0)
        return is_number(
            (struct pattern){p.text + prefix, p.size - prefix}, thread->pid);
    return p.size > 0 && is_part_of(p, thread->name);
}

bool wndl_filter_has(
    const char *patterns, const struct wndl_filter_thread *thread)
{
    if (*patterns == '\0')
        return true;
    for (const char *at = patterns;; at++) {
        const char *start = at;
        while (*at != '\0' && *at != ',')
            at++;
        if (matches((struct pattern){start, (size_t)(at - start)}, thread))
            return true;
        if (*at == '\0')
            return false;
    }
}
