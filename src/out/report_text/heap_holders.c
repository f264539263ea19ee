/* SPDX-License-Identifier: MIT */
/* report_text_heap_holders: who held most at the peak, in a few lines. */
#include "model/short_name.h"
#include "out/report_text/heap.h"
#include "out/report_text/report_text.h"

#include <inttypes.h>
#include <string.h>

enum { ROWS = 10, NAMES = 3, NAME_BYTES = 48, BEFORE_NAMES = 38 };

/* A frame's text, "function (file:line)" or "??? (path + 0x10)", in parts. */
struct parts {
    struct wndl_bytes name, place;
};

static struct parts split_frame(struct wndl_bytes text)
{
    size_t at = text.size;
    while (at > 0 &&
           !(text.data[at - 1] == '(' && at > 1 && text.data[at - 2] == ' '))
        at--;
    if (at == 0)
        return (struct parts){.name = text};
    const uint8_t *end = memrchr(text.data + at, ')', text.size - at);
    const size_t size =
        end == NULL ? text.size - at : (size_t)(end - text.data) - at;
    const struct wndl_bytes place = {text.data + at, size};
    const struct wndl_bytes name = {text.data, at - 2};
    if (wndl_bytes_is(name, "???"))
        return (struct parts){.name = wndl_path_name(place)};
    return (struct parts){name, wndl_path_name(place)};
}

void wndl_report_heap_place(struct wndl_bytes frame, struct wndl_buf *out)
{
    const struct parts parts = split_frame(frame);
    wndl_short_name(parts.name, NAME_BYTES, out);
    if (parts.place.size == 0)
        return;
    wndl_buf_text(out, " (");
    wndl_buf_add(out, parts.place.data, parts.place.size);
    wndl_buf_byte(out, ')');
}

void wndl_report_heap_callers(const struct wndl_heap_list *list,
    struct wndl_heap_stack stack, struct wndl_buf *out)
{
    for (uint32_t i = 0; i < stack.count && i < NAMES; i++) {
        const struct wndl_heap_frame *frame =
            wndl_heap_frame_at(list, stack.leaf);
        const struct wndl_bytes text =
            wndl_intern_get(&list->strings, frame->text);
        wndl_buf_text(out, i == 0 ? "" : " < ");
        if (i == 0)
            wndl_report_heap_place(text, out);
        else
            wndl_short_name(split_frame(text).name, NAME_BYTES, out);
        stack.leaf = frame->caller;
    }
}

static uint64_t bytes_of(const struct wndl_heap_record *record)
{
    const int64_t bytes = wndl_heap_usable(&record->figures);
    return bytes < 0 ? 0 : (uint64_t)bytes;
}

/* "~1,234" into `text`; returns it. */
static char *estimate_text(
    uint64_t value, bool is_estimate, char text[WNDL_NUMBER_SIZE + 1])
{
    text[0] = '~';
    wndl_text_number(value, text + 1);
    return is_estimate ? text : text + 1;
}

static void put_row(const struct wndl_heap_report *r, uint64_t all,
    const struct wndl_heap_record *record, unsigned width, struct wndl_buf *out)
{
    const struct wndl_text_layout layout = {0};
    const struct wndl_text t = {.layout = &layout, .out = out};
    const bool is_estimate = record->figures.blocks_error > 0;
    char bytes[WNDL_NUMBER_SIZE + 1], blocks[WNDL_NUMBER_SIZE + 1];
    struct wndl_buf names;
    wndl_buf_printf(out, "  %15s  %5.1f%%  %9s  ",
        estimate_text(bytes_of(record), is_estimate, bytes),
        all == 0 ? 0 : 100 * (double)bytes_of(record) / (double)all,
        estimate_text((uint64_t)record->figures.blocks, is_estimate, blocks));
    wndl_buf_init(&names, out->mem);
    wndl_report_heap_callers(
        &r->peak_list, record->stacks[WNDL_HEAP_ALLOCATED], &names);
    wndl_text_cut(&t, (struct wndl_bytes){names.data, names.size},
        width > BEFORE_NAMES ? width - BEFORE_NAMES : 0);
    out->failed |= names.failed;
    wndl_buf_free(&names);
    wndl_buf_byte(out, '\n');
}

/* For several processes: the holders in the one with the highest peak. */
static void put_title(const struct wndl_heap_report *r, struct wndl_buf *out)
{
    const struct wndl_profile *p = r->symbolized->profile;
    wndl_buf_text(out, "\nHeld at the peak");
    if (r->rows.len < 2 || r->peak_heap == WNDL_NO_INDEX)
        return;
    const struct wndl_process_heap *heap = wndl_vec_at(&p->heaps, r->peak_heap);
    const struct wndl_process *process =
        wndl_vec_at(&p->processes, heap->process);
    wndl_buf_printf(out, " of process %" PRIu32 ", the highest", process->pid);
}

void wndl_text_holders(
    const struct wndl_heap_report *r, unsigned width, struct wndl_buf *out)
{
    const struct wndl_vec *records = &r->holders.records;
    uint64_t all = 0;
    if (records->len == 0)
        return;
    for (size_t i = 0; i < records->len; i++)
        all += bytes_of(wndl_vec_at(records, i));
    put_title(r, out);
    wndl_buf_printf(out, "\n  %15s  %6s  %9s  function < its callers\n",
        "bytes", "share", "blocks");
    for (size_t i = 0; i < records->len && i < ROWS; i++)
        put_row(r, all, wndl_vec_at(records, i), width, out);
    if (records->len > ROWS)
        wndl_buf_printf(
            out, "  and %zu more: --blocks peak\n", records->len - ROWS);
}
