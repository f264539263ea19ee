/* SPDX-License-Identifier: MIT */
/* Any bytes as memory reports: read, made public, compared, built, written. */
#include "in/memory_reports.h"
#include "out/memory_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show(const struct wndl_memory_reports *reports)
{
    struct wndl_memory_tree tree;
    struct wndl_arena arena;
    struct wndl_buf out;
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_buf_init(&out, wndl_mem_libc());
    if (!wndl_memory_tree_build(&tree, reports, WNDL_MEMORY_ALL, &arena))
        __builtin_trap();
    wndl_memory_text_tree(
        &out, &tree, (struct wndl_bytes){(const uint8_t *)"all", 3}, false);
    if (!wndl_memory_text_flat(&out, &tree, 1, true, &arena))
        __builtin_trap();
    wndl_buf_free(&out);
    wndl_arena_free(&arena);
}

static void read_series(struct wndl_bytes file)
{
    struct wndl_arena arena;
    struct wndl_vec series;
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&series, &arena, sizeof(struct wndl_memory_reports *));
    if (wndl_memory_series_read(&series, &arena, file, NULL) == WNDL_NOMEM)
        __builtin_trap();
    wndl_memory_series_free(&series);
    wndl_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_memory_reports reports, none, difference;
    struct wndl_error err = {0};
    if (!wndl_memory_reports_init(&reports, wndl_mem_libc()) ||
        !wndl_memory_reports_init(&none, wndl_mem_libc()) ||
        !wndl_memory_reports_init(&difference, wndl_mem_libc()))
        __builtin_trap();
    if (wndl_memory_reports_read(&reports, "", (struct wndl_bytes){data, size},
            &err) == WNDL_NOMEM ||
        !wndl_memory_reports_anonymize(&reports) ||
        !wndl_memory_reports_subtract(&difference, &reports, &none))
        __builtin_trap();
    read_series((struct wndl_bytes){data, size});
    show(&reports);
    show(&difference);
    wndl_memory_reports_free(&difference);
    wndl_memory_reports_free(&none);
    wndl_memory_reports_free(&reports);
    return 0;
}
