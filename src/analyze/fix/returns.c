/* SPDX-License-Identifier: MIT */
/* returns: whether an address of a frame is one that a call returns to. */
#include "analyze/fix/modules.h"

#include <elf.h>

/* The bytes that will be at `rva`, or none. */
static struct wndl_bytes code_at(
    const struct wndl_fix_module *module, uint64_t rva, size_t size)
{
    size_t count = wndl_object_segment_count(module->object);
    for (size_t i = 0; i < count; i++) {
        struct wndl_segment s = wndl_object_segment(module->object, i);
        uint64_t offset = module->base + rva - s.addr.v;
        if (s.executable && offset < s.file_size && size <= s.file_size &&
            offset <= s.file_size - size)
            return wndl_bytes_slice(
                module->bytes, s.file_offset + offset, size);
    }
    return (struct wndl_bytes){0};
}

bool wndl_fix_module_is_sigreturn(
    const struct wndl_fix_module *module, uint64_t rva)
{
    static const struct {
        uint8_t size;
        uint8_t code[9];
    } trampolines[] = {
        /* x86-64: mov $15, %rax; syscall */
        {9, {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}},
        /* i386: mov $173, %eax; int $0x80 */
        {7, {0xb8, 0xad, 0, 0, 0, 0xcd, 0x80}},
        /* i386: pop %eax; mov $119, %eax; int $0x80 */
        {8, {0x58, 0xb8, 0x77, 0, 0, 0, 0xcd, 0x80}},
    };
    if (module->object == NULL)
        return false;
    for (size_t i = 0; i < sizeof trampolines / sizeof trampolines[0]; i++) {
        struct wndl_bytes wanted = {trampolines[i].code, trampolines[i].size};
        if (wndl_bytes_equal(code_at(module, rva, wanted.size), wanted))
            return true;
    }
    return false;
}

/* The lengths of indirect calls: FF /2. */
static bool is_x86_call_before(const uint8_t *end)
{
    static const uint8_t lengths[] = {2, 3, 4, 6, 7};
    if (end[-5] == 0xe8)
        return true;
    for (size_t i = 0; i < sizeof lengths; i++)
        if (end[-lengths[i]] == 0xff && (end[1 - lengths[i]] & 0x38) == 0x10)
            return true;
    return false;
}

/* BL, BLR, and BLRAA and the like. */
static bool is_aarch64_call(uint32_t code)
{
    return (code & 0xfc000000) == 0x94000000 ||
           (code & 0xfffffc1f) == 0xd63f0000 ||
           (code & 0xfefff800) == 0xd63f0800;
}

/* True also where that cannot be known. */
static bool may_return_to(const struct wndl_fix_module *module, uint64_t rva)
{
    enum { LONGEST = 7 };
    if (rva < LONGEST)
        return true;
    struct wndl_bytes code = code_at(module, rva - LONGEST, LONGEST);
    if (code.size != LONGEST)
        return true;
    struct wndl_cursor c = wndl_cursor_at(code, LONGEST - 4, false);
    switch (wndl_object_machine(module->object)) {
    case EM_X86_64:
    case EM_386:
        return is_x86_call_before(code.data + LONGEST);
    case EM_AARCH64:
        return is_aarch64_call(wndl_cursor_u32(&c));
    default:
        return true;
    }
}

bool wndl_fix_module_is_entry(struct wndl_fix_module *module, uint64_t rva)
{
    struct wndl_symbol symbol;
    wndl_svma addr = {module->base + rva};
    struct wndl_error err = {0};
    if (module->object == NULL || may_return_to(module, rva))
        return false;
    if (wndl_object_find_function(module->object, addr, &symbol, &err) ==
        WNDL_OK)
        return symbol.addr.v == addr.v;
    wndl_fix_note_lack(module, &err);
    return false;
}
