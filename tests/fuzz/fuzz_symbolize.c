/* SPDX-License-Identifier: MIT */
/*
 * fuzz_symbolize: a whole binary in memory, asked for everything. Ways to ask
 * for the same must agree.
 */
#include "symbolize/symbolizer.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ADDRESSES = 256 };

static struct wndl_symbolizer *open_bytes(const uint8_t *data, size_t size)
{
    static const char *const nowhere[] = {NULL};
    struct wndl_symbolizer_options options = {
        .size = sizeof options, .debug_dirs = nowhere};
    struct wndl_symbolizer *s;
    struct wndl_error err;
    if (wndl_symbolizer_open_memory(data, size, &options, &s, &err) !=
            WNDL_OK &&
        err.status == WNDL_OK)
        abort();
    return s;
}

static void check(const struct wndl_symbols *answer)
{
    for (size_t i = 0; i < answer->count; i++) {
        const struct wndl_symbol_frame *frame = &answer->frames[i];
        if (frame->inlined != (i + 1 < answer->count))
            abort();
        (void)(strlen(frame->function) + strlen(frame->mangled) +
               strlen(frame->file));
    }
}

/* Addresses at and in functions; else from the start of the image. */
static void choose(struct wndl_symbolizer *s, uint64_t *rvas)
{
    const struct wndl_symbol_function *functions;
    size_t count;
    if (wndl_symbolizer_functions(s, &functions, &count, NULL) != WNDL_OK)
        abort();
    for (size_t i = 0; i < ADDRESSES; i++) {
        rvas[i] = i * 16;
        if (i < count)
            rvas[i] = functions[i].ranges[0].rva + i % 7;
    }
    for (size_t i = 0; i < count && i < ADDRESSES; i++) {
        const struct wndl_symbol_range *found;
        size_t places;
        const char *name = functions[i].mangled;
        if (name[0] != '\0' &&
            wndl_symbolizer_find(s, name, &found, &places, NULL) != WNDL_OK)
            abort();
    }
}

static void look_up(struct wndl_symbolizer *s, const uint64_t *rvas)
{
    struct wndl_symbols answers[ADDRESSES];
    struct wndl_symbols one;
    if (wndl_symbolizer_lookup_batch(s, rvas, ADDRESSES, answers, NULL) !=
        WNDL_OK)
        abort();
    for (size_t i = 0; i < ADDRESSES; i++) {
        check(&answers[i]);
        (void)!wndl_symbolizer_lookup(s, rvas[i], &one, NULL);
        if (one.count != answers[i].count)
            abort();
    }
}

/* Where answers change is in the range, in order, and known soon. */
static void look_for_changes(struct wndl_symbolizer *s)
{
    enum { FUNCTIONS = 32 };
    const struct wndl_symbol_function *functions;
    struct wndl_arena arena;
    struct wndl_vec rvas;
    size_t count;
    if (wndl_symbolizer_functions(s, &functions, &count, NULL) != WNDL_OK)
        abort();
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&rvas, &arena, sizeof(uint64_t));
    for (size_t i = 0; i < count && i < FUNCTIONS; i++) {
        const struct wndl_symbol_range *range = &functions[i].ranges[0];
        if (wndl_symbolizer_changes(s, range, &rvas) != WNDL_OK)
            abort();
        const uint64_t *places = rvas.data;
        /* Code below the image base has rvas that wrap around. */
        for (size_t k = 0; k < rvas.len; k++) {
            uint64_t at = places[k] - range->rva;
            if ((k == 0 ? at != 0 : at <= places[k - 1] - range->rva) ||
                at >= range->size)
                abort();
        }
    }
    wndl_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t rvas[ADDRESSES];
    struct wndl_symbolizer *s = open_bytes(data, size);
    if (s == NULL)
        return 0;
    choose(s, rvas);
    look_up(s, rvas);
    look_for_changes(s);
    wndl_symbolizer_close(s);
    return 0;
}
