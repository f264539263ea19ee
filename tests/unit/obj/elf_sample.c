/* SPDX-License-Identifier: MIT */
#include "elf_sample.h"

#include <zlib.h>

/* Contents of the sections of the sample; freed together. */
struct parts {
    struct wndl_buf notes, symbols, strings, link, packed, zdebug;
};

static void parts_init(struct parts *parts)
{
    struct wndl_buf *all[] = {&parts->notes, &parts->symbols, &parts->strings,
        &parts->link, &parts->packed, &parts->zdebug};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        wndl_buf_init(all[i], wndl_mem_libc());
}

static void parts_free(struct parts *parts)
{
    struct wndl_buf *all[] = {&parts->notes, &parts->symbols, &parts->strings,
        &parts->link, &parts->packed, &parts->zdebug};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        wndl_buf_free(all[i]);
}

void put_deflated(struct wndl_buf *buf, const void *data, size_t size)
{
    uLongf packed = compressBound(size);
    uint8_t *to = wndl_buf_reserve(buf, packed);
    assert_non_null(to);
    assert_int_equal(compress(to, &packed, data, size), Z_OK);
    buf->size += packed;
}

void put_chdr(struct wndl_buf *buf, const struct elf_recipe *recipe,
    uint32_t method, uint64_t size)
{
    put(buf, recipe, method, 4);
    if (recipe->is_64)
        put(buf, recipe, 0, 4);
    put_word(buf, recipe, size);
    put_word(buf, recipe, 1);
}

static void fill_parts(struct parts *parts, const struct elf_recipe *recipe)
{
    static const struct made_symbol symbols[] = {
        {"outer", 0x401000, 0x100, ELF64_ST_INFO(STB_GLOBAL, FUNC), TEXT},
        {"inner", 0x401040, 0x10, ELF64_ST_INFO(STB_LOCAL, FUNC), TEXT},
        {"table", 0x402000, 0x10, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 2},
        {"undefined", 0, 0, ELF64_ST_INFO(STB_GLOBAL, FUNC), SHN_UNDEF},
    };
    const struct elf_recipe big = {.is_64 = true, .big_endian = true};
    parts_init(parts);
    put_build_id(&parts->notes, recipe, build_id, sizeof build_id);
    make_symbols(recipe, symbols, sizeof symbols / sizeof *symbols,
        &parts->symbols, &parts->strings);
    wndl_buf_add(&parts->link, "prog.debug\0", 12);
    put(&parts->link, recipe, 0x12345678, 4);
    put_chdr(&parts->packed, recipe, ELFCOMPRESS_ZLIB, sizeof debug_text);
    put_deflated(&parts->packed, debug_text, sizeof debug_text);
    wndl_buf_add(&parts->zdebug, "ZLIB", 4);
    put(&parts->zdebug, &big, sizeof debug_text, 8);
    put_deflated(&parts->zdebug, debug_text, sizeof debug_text);
}

struct wndl_bytes text_bytes(const char *text)
{
    return (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
}

struct wndl_bytes make_sample(struct elf_recipe *recipe)
{
    struct parts parts;
    fill_parts(&parts, recipe);
    const struct made_section sections[] = {
        {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x401000,
            text_bytes("code"), 0, 0, 16, 0, 0},
        {".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, 0x402000, {0}, 0, 0, 8, 0,
            0x1234},
        {".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 0x400200,
            bytes_of(&parts.notes), 0, 0, 4, 0, 0},
        {".symtab", SHT_SYMTAB, 0, 0, bytes_of(&parts.symbols), 5, 0, 8,
            recipe->is_64 ? 24 : 16, 0},
        {".strtab", SHT_STRTAB, 0, 0, bytes_of(&parts.strings), 0, 0, 1, 0, 0},
        {".gnu_debuglink", SHT_PROGBITS, 0, 0, bytes_of(&parts.link), 0, 0, 4,
            0, 0},
        {".debug_info", SHT_PROGBITS, SHF_COMPRESSED, 0,
            bytes_of(&parts.packed), 0, 0, 1, 0, 0},
        {".zdebug_line", SHT_PROGBITS, 0, 0, bytes_of(&parts.zdebug), 0, 0, 1,
            0, 0},
    };
    const struct made_segment segments[] = {
        {PT_LOAD, PF_R | PF_X, 0x401000, 0x1000, 0x1000, 1},
        {PT_NOTE, PF_R, 0x400200, 0x20, 4, 3},
        {PT_LOAD, PF_R, 0x400200, 0x100, 0x1000, 3},
    };
    recipe->type = ET_DYN;
    recipe->sections = sections;
    recipe->section_count = sizeof sections / sizeof *sections;
    recipe->segments = segments;
    recipe->segment_count = sizeof segments / sizeof *segments;
    struct wndl_bytes elf = make_elf(recipe);
    parts_free(&parts);
    return elf;
}

struct wndl_object *open_or_fail(struct wndl_bytes bytes)
{
    struct wndl_object *object;
    struct wndl_error err = {0};
    char text[512];
    if (wndl_object_open(bytes, "sample", wndl_mem_libc(), &object, &err) !=
        WNDL_OK)
        fail_msg("%s", wndl_error_text(&err, text, sizeof text));
    return object;
}

void for_each_layout(void (*check)(struct elf_recipe *recipe))
{
    for (unsigned bits = 0; bits < 8; bits++) {
        struct elf_recipe recipe = {
            .is_64 = (bits & 1) != 0,
            .big_endian = (bits & 2) != 0,
            .extended = (bits & 4) != 0,
            .machine = EM_PPC64,
        };
        check(&recipe);
    }
}

const char *name_at(struct wndl_object *object, uint64_t addr)
{
    struct wndl_symbol symbol;
    enum wndl_status status =
        wndl_object_find_function(object, (wndl_svma){addr}, &symbol, NULL);
    if (status == WNDL_NOT_FOUND)
        return "-";
    assert_int_equal(status, WNDL_OK);
    return (const char *)symbol.name.data;
}
