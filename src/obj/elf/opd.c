/* SPDX-License-Identifier: MIT */
/*
 * opd: function descriptors of 64-bit PowerPC, ELFv1 ("Function Descriptors"):
 * a function symbol is that of a descriptor in .opd, whose first word is the
 * address of the code.
 */
#include "obj/elf/impl.h"

#include <elf.h>

static uint64_t section_end(const struct wndl_object *object, uint64_t addr)
{
    for (size_t i = 0; i < object->section_count; i++) {
        const struct wndl_section *view = &object->sections[i].view;
        if ((view->flags & SHF_EXECINSTR) != 0 && addr >= view->addr.v &&
            addr - view->addr.v < view->size)
            return view->addr.v + view->size;
    }
    return addr;
}

/* The size is that of the code already. */
static void follow(const struct wndl_object *object,
    struct wndl_function *function, uint64_t code)
{
    uint64_t size = function->end - function->start;
    uint64_t end;
    function->start = code;
    if (!function->has_size)
        end = section_end(object, code);
    else if (__builtin_add_overflow(code, size, &end))
        end = UINT64_MAX;
    function->end = end;
}

void wndl_elf_follow_descriptors(
    struct wndl_object *object, struct wndl_vec *functions)
{
    struct wndl_bytes bytes;
    struct wndl_section opd;
    if (object->machine != EM_PPC64 || wndl_object_section_bytes(object, ".opd",
                                           &bytes, &opd, NULL) != WNDL_OK)
        return;
    for (size_t i = 0; i < functions->len; i++) {
        struct wndl_function *f = wndl_vec_at(functions, i);
        if (f->start < opd.addr.v || f->start - opd.addr.v >= bytes.size)
            continue;
        struct wndl_cursor c =
            wndl_cursor_at(bytes, f->start - opd.addr.v, object->big_endian);
        uint64_t code = wndl_cursor_u64(&c);
        if (!c.failed)
            follow(object, f, code);
    }
}
