/* SPDX-License-Identifier: MIT */
#include "cfi_import/stack_record/object.h"

#include "cfi_import/stack_record/reading.h"
#include "dbg/breakpad/breakpad.h"
#include "obj/find/debug_id.h"
#include "unwind/table/format.h"

#include <elf.h>

static uint16_t machine_of(struct wndl_bytes name)
{
    if (wndl_bytes_is(name, "x86_64") || wndl_bytes_is(name, "x86_64h"))
        return EM_X86_64;
    if (wndl_bytes_is(name, "arm64") || wndl_bytes_is(name, "arm64e"))
        return EM_AARCH64;
    if (wndl_bytes_is(name, "arm"))
        return EM_ARM;
    return wndl_bytes_is(name, "x86") ? EM_386 : EM_NONE;
}

static int digit_of(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads pairs of digits, at most `most`. Returns the bytes; 0 if malformed. */
static size_t read_hex(struct wndl_bytes text, uint8_t *bytes, size_t most)
{
    if (text.size % 2 != 0 || text.size / 2 > most)
        return 0;
    for (size_t i = 0; i < text.size; i += 2) {
        const int high = digit_of(text.data[i]);
        const int low = digit_of(text.data[i + 1]);
        if (high < 0 || low < 0)
            return 0;
        bytes[i / 2] = (uint8_t)(high << 4 | low);
    }
    return text.size / 2;
}

/* The GUID of a debug id, without the age after it. */
static size_t read_guid(
    const struct wndl_breakpad_module *module, uint8_t *bytes)
{
    const struct wndl_bytes text =
        wndl_bytes_slice(module->id, 0, 2 * WNDL_GUID_SIZE);
    const size_t size = read_hex(text, bytes, WNDL_GUID_SIZE);
    if (size == WNDL_GUID_SIZE && wndl_bytes_is(module->os, "windows")) {
        const struct wndl_debug_id id =
            wndl_debug_id_of_build_id((struct wndl_bytes){bytes, size}, false);
        __builtin_memcpy(bytes, id.guid, size);
    }
    return size;
}

enum wndl_status wndl_symbol_file_object_open(
    const struct wndl_object_source *source, struct wndl_mem *mem,
    struct wndl_object **out, struct wndl_error *err)
{
    struct wndl_breakpad_module module;
    uint8_t id[WNDL_TABLE_BUILD_ID_MAX];
    *out = NULL;
    if (!wndl_breakpad_is(source->bytes))
        return wndl_object_open_source(source, mem, out, err);
    enum wndl_status status =
        wndl_breakpad_read_module(source->bytes, &module, err);
    if (status != WNDL_OK) {
        wndl_error_set_file(err, source->path);
        return status;
    }
    const struct wndl_breakpad_extent extent =
        wndl_breakpad_read_extent(source->bytes, WNDL_STACK_RECORD_CODE_MAX);
    const bool has_guid =
        wndl_bytes_is(module.os, "windows") || wndl_bytes_is(module.os, "mac");
    const size_t size = has_guid ? read_guid(&module, id)
                                 : read_hex(extent.code_id, id, sizeof id);
    const struct wndl_object_outline outline = {
        .source = source,
        .machine = machine_of(module.machine),
        .section = WNDL_STACK_RECORD_SECTION,
        .build_id = {id, size},
        .code = {extent.start},
        .code_size = extent.end - extent.start,
    };
    return wndl_object_open_outline(&outline, mem, out, err);
}
