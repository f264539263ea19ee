/* SPDX-License-Identifier: MIT */
#include "dwarf_fixture.h"

#include <stdio.h>

const struct dwarf_recipe plain = {5, 8, 4, false, false};

/* A frame as one line of text: "name linkage file:line:column inlined". */
static void describe(const struct wndl_dwarf_frame *f, char *text, size_t size)
{
    snprintf(text, size, "%s|%s|%s:%u:%u|%s|%llx", (const char *)f->name.data,
        (const char *)f->linkage_name.data, (const char *)f->file.data, f->line,
        f->column, f->inlined ? "inlined" : "function",
        (unsigned long long)f->function_start.v);
}

void check_frames(
    struct wndl_dwarf *d, uint64_t address, const char *const *expected)
{
    struct wndl_dwarf_frames frames;
    struct wndl_error err;
    assert_int_equal(
        wndl_dwarf_lookup(d, (wndl_svma){address}, &frames, &err), WNDL_OK);
    for (size_t i = 0; i < frames.count; i++) {
        char text[256];
        describe(&frames.frames[i], text, sizeof text);
        assert_non_null(expected[i]);
        assert_string_equal(text, expected[i]);
    }
    assert_null(expected[frames.count]);
}

enum wndl_status status_at(struct wndl_dwarf *d, uint64_t address)
{
    struct wndl_dwarf_frames frames;
    return wndl_dwarf_lookup(d, (wndl_svma){address}, &frames, NULL);
}

void check_sample(struct wndl_dwarf *d)
{
    static const char *const first[] = {
        "main||/src/a.c:10:1|function|1000", NULL};
    static const char *const nested[] = {"deep||/src/inc/b.h:8:9|inlined|1014",
        "leaf||/src/inc/b.h:5:7|inlined|1010",
        "main||/src/a.c:11:3|function|1000", NULL};
    static const char *const after[] = {"leaf||/src/inc/b.h:4:2|inlined|1010",
        "main||/src/a.c:11:3|function|1000", NULL};
    static const char *const second_range[] = {
        "leaf||/src/a.c:12:1|inlined|1010", "main||/src/a.c:11:3|function|1000",
        NULL};
    static const char *const last[] = {
        "main||/src/a.c:12:1|function|1000", NULL};
    check_frames(d, 0x1000, first);
    check_frames(d, 0x1014, nested);
    check_frames(d, 0x1018, after);
    check_frames(d, 0x101f, after);
    check_frames(d, 0x1037, second_range);
    check_frames(d, 0x1038, last);
    check_frames(d, 0x10ff, last);
}

void check_sample_names(struct wndl_dwarf *d)
{
    static const char *const helper[] = {
        "helper|_Z6helperv|/src/a.c:20:1|function|1100", NULL};
    static const char *const method[] = {
        "method||/src/a.c:20:1|function|1140", NULL};
    static const char *const nameless[] = {"||/src/a.c:0:0|function|0", NULL};
    check_frames(d, 0x1100, helper);
    check_frames(d, 0x113f, helper);
    check_frames(d, 0x1140, method);
    check_frames(d, 0x114f, nameless);
    assert_int_equal(status_at(d, 0xfff), WNDL_NOT_FOUND);
    assert_int_equal(status_at(d, 0x1150), WNDL_NOT_FOUND);
}

struct wndl_dwarf *open_made(const struct dwarfmake *m)
{
    struct wndl_dwarf_sections in = dwarfmake_sections(m);
    struct wndl_dwarf *d = NULL;
    struct wndl_error err;
    assert_int_equal(wndl_dwarf_open(&in, wndl_mem_libc(), &d, &err), WNDL_OK);
    return d;
}

void add_aranges(struct dwarfmake *m, uint64_t start, uint64_t length)
{
    struct wndl_buf *b = &m->aranges;
    size_t begun = dw_begin(m, b);
    dw_uint(m, b, 2, 2);
    dw_offset(m, b, 0);
    wndl_buf_byte(b, 8);
    wndl_buf_byte(b, 0);
    dw_uint(m, b, 0, 4); /* to a multiple of 16 */
    dw_address(m, b, start);
    dw_address(m, b, length);
    dw_address(m, b, 0);
    dw_address(m, b, 0);
    dw_end(m, b, begun);
}
