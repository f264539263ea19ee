/* SPDX-License-Identifier: MIT */
#include "marked.h"

#include "testlib.h"

#include "obj/core/object.h"
#include "os/file.h"

uint64_t marked_rva(const char *path)
{
    struct wndl_file file;
    struct wndl_object *object;
    struct wndl_bytes marks;
    struct wndl_section info;
    assert_int_equal(wndl_file_open(path, &file, NULL), WNDL_OK);
    assert_int_equal(
        wndl_object_open(file.bytes, path, wndl_mem_libc(), &object, NULL),
        WNDL_OK);
    assert_int_equal(
        wndl_object_section_bytes(object, ".marks", &marks, &info, NULL),
        WNDL_OK);
    struct wndl_cursor c = wndl_cursor_at(marks, 0, false);
    uint64_t svma = info.addr.v + wndl_cursor_u64(&c);
    uint64_t rva = svma - wndl_object_image_base(object).v;
    wndl_object_close(object);
    wndl_file_close(&file);
    return rva;
}
