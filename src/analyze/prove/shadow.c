/* SPDX-License-Identifier: MIT */
#include "analyze/prove/shadow.h"

/* Bytes by which SP moves at once on one stack. */
enum { WORD = 8, FARTHEST = 1024 * 1024 };

bool wndl_shadow_init(struct wndl_shadow *s, struct wndl_arena *arena)
{
    *s = (struct wndl_shadow){0};
    s->frames = wndl_arena_calloc(arena, WNDL_SHADOW_DEPTH, sizeof *s->frames);
    return s->frames != NULL;
}

static void pop(struct wndl_shadow *s, bool returned)
{
    const struct wndl_shadow_frame *frame = &s->frames[--s->count];
    if (s->gone != NULL)
        s->gone(s->context, frame, returned);
}

void wndl_shadow_clear(struct wndl_shadow *s)
{
    while (s->count != 0)
        pop(s, false);
}

bool wndl_shadow_push(
    struct wndl_shadow *s, const struct wndl_shadow_frame *frame)
{
    if (s->count == WNDL_SHADOW_DEPTH)
        return false;
    s->frames[s->count++] = *frame;
    return true;
}

static enum wndl_shadow_event lose(struct wndl_shadow *s)
{
    wndl_shadow_clear(s);
    return WNDL_SHADOW_LOST;
}

/* A return address below SP is not on the stack any more. */
static enum wndl_shadow_event drop_below(struct wndl_shadow *s, uint64_t sp)
{
    const size_t before = s->count;
    while (s->count != 0 && s->frames[s->count - 1].slot < sp)
        pop(s, false);
    return s->count == before ? WNDL_SHADOW_SAME : WNDL_SHADOW_DROPPED;
}

static enum wndl_shadow_event take_call(
    struct wndl_shadow *s, const struct wndl_shadow_step *step)
{
    const struct wndl_shadow_frame frame = {.slot = step->next_sp,
        .ra = step->ip + step->size,
        .fp = step->fp,
        .bx = step->bx,
        .knows = true};
    if (step->next_sp != step->sp - WORD || step->word != frame.ra)
        return lose(s);
    return wndl_shadow_push(s, &frame) ? WNDL_SHADOW_CALLED : lose(s);
}

/* Code may also jump by pushing an address and returning to it. */
static enum wndl_shadow_event take_return(
    struct wndl_shadow *s, const struct wndl_shadow_step *step)
{
    const struct wndl_shadow_frame *top = wndl_shadow_top(s);
    if (top == NULL || top->slot != step->sp)
        return drop_below(s, step->next_sp);
    if (top->ra != step->next_ip)
        return lose(s);
    pop(s, true);
    (void)drop_below(s, step->next_sp);
    return WNDL_SHADOW_RETURNED;
}

static bool is_far(uint64_t a, uint64_t b)
{
    return (a < b ? b - a : a - b) > FARTHEST;
}

enum wndl_shadow_event wndl_shadow_take(
    struct wndl_shadow *s, const struct wndl_shadow_step *step)
{
    if (is_far(step->sp, step->next_sp))
        return lose(s);
    switch ((enum wndl_shadow_kind)step->kind) {
    case WNDL_SHADOW_CALL:
        return take_call(s, step);
    case WNDL_SHADOW_RETURN:
        return take_return(s, step);
    case WNDL_SHADOW_OTHER:
        break;
    }
    return drop_below(s, step->next_sp);
}
