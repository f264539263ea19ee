/* SPDX-License-Identifier: MIT */
#include "rt/tags/core/names.h"

#include <stdatomic.h>
#include <string.h>

enum { SLOTS = 2 * WNDL_TAGS };

static struct wndl_tag tags[WNDL_TAGS];
static _Atomic uint32_t count;        /* handed out; may pass the limit */
static _Atomic uint16_t slots[SLOTS]; /* hashed; 0: empty */
static _Atomic(struct wndl_tag *) shared;

static uint32_t hash_of(const struct wndl_tag *tag)
{
    uint32_t hash = tag->node * UINT32_C(0x9e3779b1) + tag->outer;
    for (const char *c = tag->name; *c != '\0'; c++)
        hash = (hash ^ (uint8_t)*c) * UINT32_C(16777619);
    return hash ^ hash >> 15;
}

static bool is_same(const struct wndl_tag *a, const struct wndl_tag *b)
{
    return a->node == b->node && a->outer == b->outer &&
           strcmp(a->name, b->name) == 0;
}

static void copy(struct wndl_tag *to, const struct wndl_tag *from)
{
    to->node = from->node;
    to->outer = from->outer;
    memcpy(to->name, from->name, sizeof to->name);
    __atomic_store_n(&to->is_used, 1, __ATOMIC_RELEASE);
}

/* The number of a new entry, which no slot names yet; 0: there is no room. */
static uint32_t add(const struct wndl_tag *wanted)
{
    if (atomic_load_explicit(&count, memory_order_relaxed) >= WNDL_TAGS - 1)
        return 0;
    const uint32_t number = atomic_fetch_add(&count, 1) + 1;
    if (number >= WNDL_TAGS)
        return 0;
    copy(&tags[number], wanted);
    return number;
}

static void share(uint32_t number)
{
    struct wndl_tag *to = atomic_load_explicit(&shared, memory_order_acquire);
    if (to != NULL)
        copy(&to[number], &tags[number]);
}

/* Whoever adds the same at the same time and comes second wastes a number. */
static uint32_t find(const struct wndl_tag *wanted, bool adds)
{
    uint32_t made = 0;
    for (uint32_t at = hash_of(wanted);; at++) {
        _Atomic uint16_t *slot = &slots[at % SLOTS];
        uint16_t number = atomic_load_explicit(slot, memory_order_acquire);
        if (number == 0) {
            if (adds && made == 0)
                made = add(wanted);
            if (made == 0)
                return 0;
            if (atomic_compare_exchange_strong(slot, &number, (uint16_t)made)) {
                share(made);
                return made;
            }
        }
        if (is_same(&tags[number], wanted))
            return number;
    }
}

uint32_t wndl_rt_tag_number(const struct wndl_tag *wanted)
{
    return find(wanted, true);
}

uint32_t wndl_rt_tag_named(const char *name, bool adds)
{
    struct wndl_tag wanted = {0};
    if (name == NULL || *name == '\0')
        return 0;
    for (size_t i = 0; i + 1 < WNDL_TAG_NAME && name[i] != '\0'; i++)
        wanted.name[i] = name[i];
    return find(&wanted, adds);
}

const struct wndl_tag *wndl_rt_tag_of(uint32_t number)
{
    if (number == 0 || number >= WNDL_TAGS ||
        __atomic_load_n(&tags[number].is_used, __ATOMIC_ACQUIRE) == 0)
        return NULL;
    return &tags[number];
}

/* A tag that is added meanwhile is copied by both, to the same. */
void wndl_rt_tags_share(struct wndl_tag to[WNDL_TAGS])
{
    atomic_store(&shared, to);
    for (uint32_t i = 1; to != NULL && i <= atomic_load(&count); i++) {
        if (wndl_rt_tag_of(i) != NULL)
            copy(&to[i], &tags[i]);
    }
}
