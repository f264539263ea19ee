/* SPDX-License-Identifier: MIT */
/*
 * fuzz_demangle: any bytes as a name; the answer is a bounded string, and
 * shorter yet when it is made short.
 */
#include "model/short_name.h"
#include "symbolize/demangle/cxx.h"
#include "symbolize/demangle/demangle.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LONGEST = 64 * 1024 };

static void make_short(const void *name, size_t size)
{
    enum { FEW = 30 };
    struct wndl_buf out;
    wndl_buf_init(&out, wndl_mem_libc());
    wndl_short_name((struct wndl_bytes){name, size}, FEW, &out);
    if (out.failed || out.size > size)
        abort();
    wndl_buf_free(&out);
}

/* Names that libiberty reads do not get to our own reader. */
static void read_ourselves(const uint8_t *data, size_t size)
{
    struct wndl_buf out;
    wndl_buf_init(&out, wndl_mem_libc());
    if (wndl_cxx_demangle((struct wndl_bytes){data, size}, LONGEST, &out) &&
        (out.size == 0 || out.size > LONGEST))
        abort();
    wndl_buf_free(&out);
}

static void read_by_unit(const uint8_t *data, size_t size)
{
    enum { MOST = 64 }; /* bytes of "Z64T" or "$" that one stands for */
    struct wndl_buf out;
    wndl_buf_init(&out, wndl_mem_libc());
    for (unsigned scheme = 0; scheme < WNDL_NAME_SCHEMES; scheme++)
        if (wndl_unit_name_demangle(
                scheme, (struct wndl_bytes){data, size}, &out) &&
            out.size > MOST * size)
            abort();
    wndl_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_arena arena;
    struct wndl_demangler demangler;
    wndl_arena_init(&arena, wndl_mem_libc());
    if (!wndl_demangler_init(&demangler, &arena))
        abort();
    const char *text =
        wndl_demangle(&demangler, (struct wndl_bytes){data, size});
    if (text == NULL || strlen(text) > (size > LONGEST ? size : LONGEST))
        abort();
    read_ourselves(data, size);
    read_by_unit(data, size);
    make_short(text, strlen(text));
    make_short(data, size);
    wndl_arena_free(&arena);
    return 0;
}
