/* SPDX-License-Identifier: MIT */
/*
 * typedump FILE NAME...: the layout of each type of that name: a line with
 * kind, size and name, and one for each of its members: bit offset, bits of a
 * bit field, bytes of the type, name. Exit code 2: damage was found.
 */
#include "base/status.h"
#include "dbg/dwarf/types.h"
#include "symbolize/symbolizer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const kinds[] = {
    "base", "enum", "pointer", "struct", "union", "array", "alias", "other"};

static void print_text(struct wndl_bytes text)
{
    printf("%.*s\n", (int)text.size, (const char *)text.data);
}

static void print_type(struct wndl_types *types, const char *name)
{
    const struct wndl_type *type;
    const struct wndl_type_member *members;
    size_t count;
    if (wndl_types_find(types, name, (wndl_svma){0}, &type) != WNDL_OK ||
        wndl_types_strip(types, type, &type) != WNDL_OK ||
        wndl_types_members(types, type, &members, &count) != WNDL_OK) {
        printf("missing %s\n", name);
        return;
    }
    printf("%s %" PRIu64 " %s\n", kinds[type->kind], type->size, name);
    for (size_t i = 0; i < count; i++) {
        uint64_t size;
        if (wndl_types_size(types, members[i].type, &size) != WNDL_OK)
            exit(1);
        printf("  %" PRIu64 " %" PRIu64 " %" PRIu64 " ", members[i].bit_at,
            members[i].bits, size);
        print_text(
            members[i].is_base ? members[i].type->name : members[i].name);
    }
}

int main(int argc, char **argv)
{
    struct wndl_symbolizer *symbols;
    struct wndl_dwarf *dwarf;
    struct wndl_types *types;
    struct wndl_error damage;
    if (argc < 2 ||
        wndl_symbolizer_open(argv[1], NULL, &symbols, &damage) != WNDL_OK ||
        wndl_symbolizer_dwarf(symbols, &dwarf) != WNDL_OK || dwarf == NULL ||
        wndl_types_open(dwarf, wndl_mem_libc(), &types) != WNDL_OK)
        return 1;
    for (int i = 2; i < argc; i++)
        print_type(types, argv[i]);
    const bool is_damaged = wndl_types_damage(types, &damage) != 0;
    wndl_types_close(types);
    wndl_symbolizer_close(symbols);
    return is_damaged ? 2 : 0;
}
