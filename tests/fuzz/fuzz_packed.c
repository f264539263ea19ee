/* SPDX-License-Identifier: MIT */
/*
 * fuzz_packed: compressed, relocated and embedded contents. The first byte
 * says what the rest is, so that damage is found behind sound headers: zlib,
 * zstd, xz, else the section of relocations of an object file.
 */
#include "obj/core/object.h"
#include "obj/packed/unpack.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OUT = 64 * 1024 };

static void unpack(struct wndl_bytes packed, bool zstd)
{
    struct wndl_unpack unpack = {
        .mem = wndl_mem_libc(), .packed = packed, .out = malloc(OUT)};
    unpack.size = packed.size == 0 ? 0 : packed.data[0] * UINT64_C(256);
    if (unpack.out == NULL)
        return;
    enum wndl_status status =
        zstd ? wndl_unpack_zstd(&unpack) : wndl_unpack_zlib(&unpack);
    if (unpack.taken > packed.size)
        abort();
    (void)status;
    free(unpack.out);
}

static void unpack_xz(struct wndl_bytes packed)
{
    struct wndl_buf out;
    uint64_t taken;
    wndl_buf_init(&out, wndl_mem_libc());
    (void)!wndl_unpack_xz(packed, &out, &taken);
    if (taken > packed.size)
        abort();
    wndl_buf_free(&out);
}

/* Section headers at the end: "", .text, .debug_info, its relocations, the
 * symbols, the names. */
struct image {
    Elf64_Ehdr header;
    uint8_t debug[64];
    Elf64_Sym symbols[4];
    char names[32];
    Elf64_Shdr sections[6];
};

static void fill_sections(struct image *image, size_t size)
{
    Elf64_Shdr *s = image->sections;
    s[1] = (Elf64_Shdr){.sh_name = 1,
        .sh_type = SHT_NOBITS,
        .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
        .sh_size = 64,
        .sh_addralign = 16};
    s[2] = (Elf64_Shdr){.sh_name = 7,
        .sh_type = SHT_PROGBITS,
        .sh_offset = offsetof(struct image, debug),
        .sh_size = sizeof image->debug};
    s[3] = (Elf64_Shdr){.sh_name = 1,
        .sh_type = SHT_RELA,
        .sh_offset = sizeof *image,
        .sh_size = size,
        .sh_link = 4,
        .sh_info = 2};
    s[4] = (Elf64_Shdr){.sh_name = 1,
        .sh_type = SHT_SYMTAB,
        .sh_offset = offsetof(struct image, symbols),
        .sh_size = sizeof image->symbols,
        .sh_link = 5};
    s[5] = (Elf64_Shdr){.sh_name = 1,
        .sh_type = SHT_STRTAB,
        .sh_offset = offsetof(struct image, names),
        .sh_size = sizeof image->names};
}

static void fill_image(struct image *image, uint16_t machine, size_t size)
{
    *image = (struct image){.names = "\0.text\0.debug_info\0f"};
    memcpy(image->header.e_ident, ELFMAG, SELFMAG);
    image->header.e_ident[EI_CLASS] = ELFCLASS64;
    image->header.e_ident[EI_DATA] = ELFDATA2LSB;
    image->header.e_type = ET_REL;
    image->header.e_machine = machine;
    image->header.e_shoff = offsetof(struct image, sections);
    image->header.e_shentsize = sizeof(Elf64_Shdr);
    image->header.e_shnum = 6;
    image->header.e_shstrndx = 5;
    for (unsigned i = 1; i < 4; i++)
        image->symbols[i] =
            (Elf64_Sym){.st_name = 19, .st_value = i, .st_shndx = 1};
    fill_sections(image, size);
}

static void relocate(uint16_t machine, struct wndl_bytes entries)
{
    struct image *image = malloc(sizeof *image + entries.size);
    struct wndl_object *object;
    struct wndl_bytes bytes;
    if (image == NULL)
        return;
    fill_image(image, machine, entries.size);
    memcpy(image + 1, entries.data, entries.size);
    struct wndl_bytes file = {
        (const uint8_t *)image, sizeof *image + entries.size};
    if (wndl_object_open(file, "fuzz", wndl_mem_libc(), &object, NULL) !=
        WNDL_OK)
        abort();
    if (wndl_object_section_bytes(object, ".debug_info", &bytes, NULL, NULL) !=
            WNDL_OK ||
        bytes.size != sizeof image->debug)
        abort();
    wndl_object_close(object);
    free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { ZLIB, ZSTD, XZ, AARCH64 };
    if (size == 0)
        return 0;
    struct wndl_bytes rest = {data + 1, size - 1};
    if (data[0] == ZLIB || data[0] == ZSTD)
        unpack(rest, data[0] == ZSTD);
    else if (data[0] == XZ)
        unpack_xz(rest);
    else
        relocate(data[0] == AARCH64 ? EM_AARCH64 : EM_X86_64, rest);
    return 0;
}
