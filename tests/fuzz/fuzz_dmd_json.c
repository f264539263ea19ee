/* SPDX-License-Identifier: MIT */
/* Any bytes as a DMD file, up to the report's text. */
#include "analyze/heap/dmd_list.h"
#include "analyze/heap/records.h"
#include "out/dmd_text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void report(const struct wndl_dmd_file *dmd)
{
    static const char *const filters[] = {"!no such text", NULL};
    struct wndl_heap_grouping how = {3, WNDL_HEAP_BY_SLOP, true, filters};
    struct wndl_heap_list list;
    struct wndl_heap_records records;
    struct wndl_buf text;
    wndl_buf_init(&text, wndl_mem_libc());
    expect(wndl_heap_list_init(&list, wndl_mem_libc()));
    expect(wndl_dmd_list_add(&list, dmd, false));
    expect(wndl_dmd_list_add(&list, dmd, true));
    expect(wndl_heap_records_fill(&records, &list, &how, wndl_mem_libc()));
    expect(records.records.len == 0 && wndl_heap_usable(&records.total) == 0);
    wndl_heap_records_free(&records);
    expect(wndl_dmd_list_add(&list, dmd, false));
    how.filters = filters + 1;
    expect(wndl_heap_records_fill(&records, &list, &how, wndl_mem_libc()));
    expect(dmd->blocks.len == 0 || records.records.len != 0);
    wndl_dmd_text_records(&text, &records, 1000);
    expect(!text.failed && memchr(text.data, 0x1b, text.size) == NULL);
    wndl_heap_records_free(&records);
    wndl_heap_list_free(&list);
    wndl_buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_bytes file = {data, size};
    struct wndl_dmd_file dmd;
    struct wndl_error err = {0};
    enum wndl_status status =
        wndl_dmd_json_read(file, wndl_mem_libc(), &dmd, &err);
    if (status == WNDL_OK)
        report(&dmd);
    else
        expect(err.what[0] != '\0');
    wndl_dmd_json_free(&dmd);
    return 0;
}
