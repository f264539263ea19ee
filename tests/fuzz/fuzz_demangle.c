/* SPDX-License-Identifier: MIT */
/* fuzz_demangle: any bytes as a name; the answer is a bounded string. */
#include "symbolize/demangle.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LONGEST = 64 * 1024 };

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
    wndl_arena_free(&arena);
    return 0;
}
