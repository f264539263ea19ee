/* SPDX-License-Identifier: MIT */
#include "analyze/heap/alloc_fn.h"

#include "analyze/heap/alloc_fn_names.h"
#include "base/text.h"

#include <ctype.h>

/* The end of a function's name: not "malloc_stats" for "malloc". */
static bool is_whole(struct wndl_bytes text, size_t size)
{
    return text.size == size || strchr(" (<[@.", text.data[size]) != NULL;
}

static bool is_one_of(struct wndl_bytes text, const char *const *list)
{
    for (; *list != NULL; list++)
        if (wndl_bytes_start_with(text, *list) && is_whole(text, strlen(*list)))
            return true;
    return false;
}

static bool begins_with_one_of(struct wndl_bytes text, const char *const *list)
{
    for (; *list != NULL; list++)
        if (wndl_bytes_start_with(text, *list))
            return true;
    return false;
}

/* "main._Cfunc_CString", "_cgo_0123abcdef_Cfunc__Cmalloc" and the like. */
static bool is_of_cgo(struct wndl_bytes name)
{
    static const char start[] = "_cgo_";
    size_t at = 0;
    if (name.size == 0)
        return false;
    if (wndl_bytes_start_with(name, start)) {
        at = sizeof start - 1;
        while (at < name.size && isxdigit(name.data[at]))
            at++;
    } else {
        const uint8_t *end = memchr(name.data, ' ', name.size);
        size_t size = end == NULL ? name.size : (size_t)(end - name.data);
        const uint8_t *part = memmem(name.data, size, "._", 2);
        if (part == NULL)
            return false;
        at = (size_t)(part - name.data) + 1;
    }
    struct wndl_bytes rest = {name.data + at, name.size - at};
    return is_one_of(rest, wndl_alloc_fn_endings);
}

/*
 * Where the qualified name begins, after the type of the result, and its last
 * part. Blanks and colons within brackets do not count.
 */
static void find_name(struct wndl_bytes frame, size_t *name, size_t *last)
{
    int depth = 0;
    *name = *last = 0;
    for (size_t i = 0; i < frame.size; i++) {
        uint8_t c = frame.data[i];
        if (c == '(' && depth == 0)
            return;
        depth += (c == '<' || c == '(') - (c == '>' || c == ')');
        if (depth != 0)
            continue;
        if (c == ' ')
            *name = *last = i + 1;
        else if (c == ':')
            *last = i + 1;
    }
}

bool wndl_heap_alloc_fn(struct wndl_bytes frame)
{
    size_t name, last;
    if (is_one_of(frame, wndl_alloc_fn_names) ||
        begins_with_one_of(frame, wndl_alloc_fn_families) || is_of_cgo(frame))
        return true;
    find_name(frame, &name, &last);
    struct wndl_bytes own = {frame.data + name, frame.size - name};
    struct wndl_bytes method = {frame.data + last, frame.size - last};
    if (last > name && begins_with_one_of(own, wndl_alloc_fn_owners) &&
        is_one_of(method, wndl_alloc_fn_methods))
        return true;
    return name != 0 && is_one_of(own, wndl_alloc_fn_names);
}
