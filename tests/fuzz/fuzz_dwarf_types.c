/* SPDX-License-Identifier: MIT */
/*
 * fuzz_dwarf_types: types in any sections, as fuzz_sections.h has them in the
 * input; .debug_types is what is left.
 */
#include "fuzz_sections.h"

#include "dbg/dwarf/types.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PLACES = 96, MOST_MEMBERS = 64, DEEPEST = 3 };

/* A name of bytes is there, or `out` is as it was. */
static void ask_path(struct wndl_types *types, const struct wndl_type *type,
    uint64_t offset, uint64_t size)
{
    struct wndl_buf out;
    wndl_buf_init(&out, wndl_mem_libc());
    const bool is_found =
        wndl_types_path(types, type, offset, size, &out) == WNDL_OK;
    if (is_found != (out.size != 0))
        abort();
    wndl_buf_free(&out);
}

static void ask(
    struct wndl_types *types, const struct wndl_type *type, int depth)
{
    const struct wndl_type_member *members;
    const struct wndl_type *target;
    size_t count;
    uint64_t bytes;
    if (wndl_types_size(types, type, &bytes) != WNDL_OK ||
        wndl_types_members(types, type, &members, &count) != WNDL_OK)
        abort();
    for (uint64_t at = 0; at < PLACES; at += 4)
        ask_path(types, type, at, 4);
    ask_path(types, type, UINT64_MAX - 8, 8);
    if (depth == DEEPEST)
        return;
    for (size_t i = 0; i < count && i < MOST_MEMBERS; i++)
        ask(types, members[i].type, depth + 1);
    if (wndl_types_target(types, type, &target) == WNDL_OK)
        ask(types, target, depth + 1);
}

static void ask_name(struct wndl_types *types, const char *name)
{
    const struct wndl_type *type, *stripped;
    if (wndl_types_find(types, name, (wndl_svma){0x1004}, &type) != WNDL_OK)
        return;
    ask(types, type, 0);
    if (wndl_types_strip(types, type, &stripped) == WNDL_OK &&
        stripped->kind == WNDL_TYPE_ALIAS)
        abort();
}

static void ask_code(struct wndl_types *types, uint64_t address)
{
    struct wndl_arena arena;
    struct wndl_vec pointers;
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&pointers, &arena, sizeof(struct wndl_type_pointer));
    if (wndl_types_pointers_at(types, (wndl_svma){address}, &pointers) ==
        WNDL_OK)
        for (size_t i = 0; i < pointers.len && i < MOST_MEMBERS; i++) {
            const struct wndl_type_pointer *p = wndl_vec_at(&pointers, i);
            ask(types, p->target, DEEPEST - 1);
        }
    wndl_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"node", "int", "color", "s::Square",
        "s::Square::Nested", "struct packed", "u16"};
    struct wndl_dwarf_sections in = {0};
    struct wndl_dwarf *d;
    struct wndl_types *types;
    struct wndl_error err;
    in.types = split((struct wndl_bytes){data, size}, &in);
    if (wndl_dwarf_open(&in, wndl_mem_libc(), &d, &err) != WNDL_OK)
        return 0;
    if (wndl_types_open(d, wndl_mem_libc(), &types) != WNDL_OK)
        abort();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ask_name(types, names[i]);
    for (uint64_t at = 0x1000; at < 0x1040; at += 8)
        ask_code(types, at);
    if ((wndl_types_damage(types, &err) == 0) != (err.status == WNDL_OK))
        abort();
    wndl_types_close(types);
    wndl_dwarf_close(d);
    return 0;
}
