/* SPDX-License-Identifier: MIT */
/* Any bytes as a Breakpad symbol file: looked up where functions are said to
 * be. */
#include "dbg/breakpad/breakpad.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 64 };

struct starts {
    uint64_t rva[MOST];
    size_t count;
};

static enum wndl_status note(
    void *context, const struct wndl_breakpad_function *function)
{
    struct starts *starts = context;
    if (function->name.data[function->name.size] != '\0')
        abort();
    starts->rva[starts->count++] = function->rva;
    starts->rva[starts->count++] = function->rva + function->size / 2;
    return starts->count == MOST ? WNDL_LIMIT : WNDL_OK;
}

static void look_up(struct wndl_breakpad *b, uint64_t rva)
{
    struct wndl_breakpad_frames frames;
    if (wndl_breakpad_lookup(b, rva, &frames) != WNDL_OK)
        return;
    for (size_t i = 0; i < frames.count; i++) {
        const struct wndl_breakpad_frame *f = &frames.frames[i];
        if (f->inlined != (i + 1 < frames.count) ||
            f->name.data[f->name.size] != '\0' ||
            f->file.data[f->file.size] != '\0')
            abort();
    }
    if (frames.count == 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct starts starts = {.count = 0};
    struct wndl_breakpad *b;
    const struct wndl_breakpad_source source = {.text = {data, size}};
    if (wndl_breakpad_open(&source, wndl_mem_libc(), &b, NULL) != WNDL_OK)
        return 0;
    (void)!wndl_breakpad_visit_functions(b, note, &starts);
    for (size_t i = 0; i < starts.count; i++)
        look_up(b, starts.rva[i]);
    wndl_breakpad_close(b);
    return 0;
}
