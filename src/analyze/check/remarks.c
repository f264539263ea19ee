/* SPDX-License-Identifier: MIT */
#include "analyze/check/remarks.h"

#include "base/text.h"

#include <string.h>

static const char *text(const struct wndl_check *check, uint32_t id)
{
    return wndl_intern_text(&check->texts, id);
}

static const struct wndl_check_stack *stack_at(const struct wndl_check *check,
    const struct wndl_check_error *e, uint32_t index)
{
    return index < e->stacks ? wndl_vec_at(&check->stacks, e->first + index)
                             : NULL;
}

/* The first frame outside of Valgrind's own code: index + 1, or 0. */
static uint32_t caller_in(
    const struct wndl_check *check, const struct wndl_check_stack *stack)
{
    for (uint32_t i = 0; stack != NULL && i < stack->count; i++) {
        const struct wndl_check_frame *f =
            wndl_vec_at(&check->frames, stack->first + i);
        if (!wndl_check_is_checker(text(check, f->module)))
            return stack->first + i + 1;
    }
    return 0;
}

static const char *function_at(const struct wndl_check *check, uint32_t place)
{
    const struct wndl_check_frame *f =
        place == 0 ? NULL : wndl_vec_at(&check->frames, place - 1);
    return f == NULL ? "" : text(check, f->function);
}

/* The stack of the value's origin, or NULL. */
static const struct wndl_check_stack *origin_of(
    const struct wndl_check *check, const struct wndl_check_error *e)
{
    for (uint32_t i = 1; i < e->stacks; i++) {
        const struct wndl_check_stack *s = stack_at(check, e, i);
        if (strstr(text(check, s->note), "value was created by") != NULL)
            return s;
    }
    return NULL;
}

/* "Widget::area()": the part before the last "::" that is no argument's. */
static size_t class_size(const char *function)
{
    const size_t end = strcspn(function, "(");
    for (size_t i = end; i > 1; i--) {
        if (function[i - 1] == ':' && function[i - 2] == ':')
            return i - 2;
    }
    return 0;
}

static bool is_of_class(const char *function, const char *class, size_t size)
{
    return size != 0 && class_size(function) == size &&
           strncmp(function, class, size) == 0;
}

static const char *remark_on_value(
    const struct wndl_check *check, const struct wndl_check_error *e)
{
    const struct wndl_check_stack *origin = origin_of(check, e);
    const char *user =
        function_at(check, caller_in(check, stack_at(check, e, 0)));
    if (origin == NULL)
        return NULL;
    const char *note = text(check, origin->note);
    const char *maker = function_at(check, caller_in(check, origin));
    const size_t size = class_size(user);
    if (strstr(note, "stack allocation") != NULL && strcmp(maker, user) == 0)
        return "a variable of this function that is not set on every way, or "
               "an out-parameter that a call left as it was";
    if (strstr(note, "heap allocation") == NULL || size == 0)
        return NULL;
    return is_of_class(maker, user, size)
               ? "a block that a method of this class made and did not fill"
               : "a member that the constructor does not set, or that is used "
                 "before the object is initialised";
}

/* A block that was freed before, or has been freed since. */
static bool is_of_freed_block(
    const struct wndl_check *check, const struct wndl_check_error *e)
{
    const struct wndl_check_stack *s = stack_at(check, e, 1);
    return s != NULL && strstr(text(check, s->note), "free'd") != NULL;
}

const char *wndl_check_remark(
    const struct wndl_check *check, const struct wndl_check_error *error)
{
    const char *kind = text(check, error->kind);
    if (wndl_text_starts_with(kind, "Uninit") ||
        strcmp(kind, "SyscallParam") == 0)
        return remark_on_value(check, error);
    if (strcmp(kind, "InvalidFree") == 0 && is_of_freed_block(check, error))
        return "the block was freed twice";
    if (wndl_text_starts_with(kind, "Invalid") &&
        is_of_freed_block(check, error))
        return "the block had been freed";
    return NULL;
}

void wndl_check_allocators(const struct wndl_check *check,
    const struct wndl_check_error *error, uint32_t *allocated_by,
    uint32_t *freed_by)
{
    const char *kind = text(check, error->kind);
    const struct wndl_check_stack *s = stack_at(check, error, 1);
    *allocated_by = *freed_by = 0;
    if (s == NULL || strstr(text(check, s->note), "alloc'd") == NULL ||
        (strcmp(kind, "MismatchedFree") != 0 &&
            strcmp(kind, "InvalidFree") != 0))
        return;
    *freed_by = caller_in(check, stack_at(check, error, 0));
    *allocated_by = caller_in(check, s);
}
