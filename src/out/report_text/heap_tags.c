/* SPDX-License-Identifier: MIT */
#include "out/report_text/heap_tags.h"

#include "out/report_text/report_text.h"

static void put_row(
    struct wndl_buf *out, const struct wndl_heap_tag_sum *sum, double all)
{
    char bytes[WNDL_NUMBER_SIZE], blocks[WNDL_NUMBER_SIZE];
    wndl_buf_printf(out, "%16s  %6.2f %%  %12s  ",
        wndl_text_number((uint64_t)(sum->bytes + 0.5), bytes),
        all > 0 ? sum->bytes * 100 / all : 0,
        wndl_text_number((uint64_t)(sum->blocks + 0.5), blocks));
    if (sum->name.size == 0)
        wndl_buf_text(out, "(no tag)");
    else
        wndl_buf_add(out, sum->name.data, sum->name.size);
    wndl_buf_byte(out, '\n');
}

void wndl_report_text_heap_tags(const struct wndl_heap_tag_sum *sums,
    size_t count, const char *which, struct wndl_buf *out)
{
    double all = 0;
    for (size_t i = 0; i < count; i++)
        all += sums[i].bytes;
    wndl_buf_printf(out, "Blocks: %s, usable bytes by tag\n\n", which);
    wndl_buf_printf(
        out, "%16s  %8s  %12s  %s\n", "Bytes", "Share", "Blocks", "Tag");
    for (size_t i = 0; i < count; i++)
        put_row(out, &sums[i], all);
}
