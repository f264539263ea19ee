/* SPDX-License-Identifier: MIT */
/* Sources of rules: .eh_frame sections, files as GDB reads them. */
#include "jit_fixture.h"

#include "unwind/jit/registry.h"

#include <elf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static void registered_frames_lead_through_generated_code(void **state)
{
    (void)state;
    static struct cfi_build b;
    struct wndl_jit *jit = new_jit(ROOM);
    build_frames(&b);
    size_t size = b.section.bytes.size;
    assert_int_equal(wndl_jit_add_frames(jit, b.data, SIZE_MAX), WNDL_OK);
    passes(jit, true);
    assert_int_equal(
        wndl_jit_add_frames(jit, b.data, size), WNDL_MALFORMED); /* twice */
    assert_int_equal(wndl_jit_remove(jit, (uintptr_t)page, PAGE), WNDL_OK);
    passes(jit, false);
    for (size_t cut = 1; cut < size - 4; cut++) {
        enum wndl_status status = wndl_jit_add_frames(jit, b.data, cut);
        if (status == WNDL_OK) /* up to the end of a record */
            assert_int_equal(
                wndl_jit_remove(jit, 0, UINT64_MAX), WNDL_NOT_FOUND);
    }
    b.data[8] = 9; /* the CIE's version */
    assert_int_equal(wndl_jit_add_frames(jit, b.data, size), WNDL_UNSUPPORTED);
    free(jit);
}

static struct wndl_jit_source source_of(
    const struct cfi_build *b, uint64_t origin)
{
    return (struct wndl_jit_source){.frame = b->section, .origin = origin};
}

/* Two sources of one origin go one by one. */
static void sources_are_removed_by_their_origin(void **state)
{
    (void)state;
    static struct cfi_build b, other;
    const struct cfi_shape shape = {.address_size = 8, .version = 1};
    const uint8_t *bytes;
    struct wndl_jit *jit = new_jit(ROOM);
    build_frames(&b);
    cfi_build_init(&other, &shape, (uintptr_t)other.data);
    size_t cie = cfi_put_cie(&other, CFI_BYTES(0));
    cfi_put_fde(&other, cie, 0x10000, 16, CFI_BYTES(0x0c, 7, 8));
    struct wndl_jit_source source = source_of(&b, 5);
    assert_int_equal(wndl_jit_add_source(jit, &source), WNDL_OK);
    source = source_of(&other, 5);
    assert_int_equal(wndl_jit_add_source(jit, &source), WNDL_OK);
    assert_int_equal(wndl_jit_remove_source(jit, 6, &bytes), WNDL_NOT_FOUND);
    passes(jit, true);
    assert_int_equal(wndl_jit_remove_source(jit, 5, &bytes), WNDL_OK);
    assert_ptr_equal(bytes, other.data);
    passes(jit, true);
    assert_int_equal(wndl_jit_remove_source(jit, 5, &bytes), WNDL_OK);
    assert_ptr_equal(bytes, b.data);
    passes(jit, false);
    assert_int_equal(wndl_jit_remove_source(jit, 5, &bytes), WNDL_NOT_FOUND);
    free(jit);
}

/* LuaJIT registers such. */
static void frames_without_a_cfa_tell_nothing(void **state)
{
    (void)state;
    static struct cfi_build b;
    const struct cfi_shape shape = {.address_size = 8, .version = 1};
    struct wndl_jit *jit = new_jit(ROOM);
    cfi_build_init(&b, &shape, (uintptr_t)b.data);
    size_t cie = cfi_put_cie(&b, CFI_BYTES(0));
    cfi_put_fde(&b, cie, 0x10000, 16, CFI_BYTES(0));
    struct wndl_jit_source source = source_of(&b, 5);
    assert_int_equal(wndl_jit_add_source(jit, &source), WNDL_NOT_FOUND);
    assert_int_equal(
        wndl_jit_add_frames(jit, b.data, b.section.bytes.size), WNDL_OK);
    assert_false(wndl_jit_covers(jit, 0x10000));
    free(jit);
}

/* ---- GDB's interface ---- */

struct gdb_entry {
    struct gdb_entry *next, *previous;
    const char *file;
    uint64_t size;
};

static struct {
    uint32_t version, action;
    struct gdb_entry *relevant, *first;
} descriptor = {.version = 1};

static const char names[] = "\0.text\0.eh_frame\0.shstrtab";

struct elf_file {
    Elf64_Ehdr header;
    Elf64_Shdr sections[4];
    char names[sizeof names];
    uint8_t frames[512];
};

static void build_elf(struct elf_file *f, const struct cfi_build *b)
{
    *f = (struct elf_file){
        .header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
            .e_type = ET_REL,
            .e_machine = EM_X86_64,
            .e_shoff = offsetof(struct elf_file, sections),
            .e_shentsize = sizeof(Elf64_Shdr),
            .e_shnum = 4,
            .e_shstrndx = 3},
        .sections = {{0},
            {.sh_name = 1,
                .sh_type = SHT_NOBITS,
                .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                .sh_addr = (uintptr_t)page,
                .sh_size = sizeof generated},
            {.sh_name = 7,
                .sh_type = SHT_PROGBITS,
                .sh_offset = offsetof(struct elf_file, frames),
                .sh_size = b->section.bytes.size},
            {.sh_name = 17,
                .sh_type = SHT_STRTAB,
                .sh_offset = offsetof(struct elf_file, names),
                .sh_size = sizeof names}},
    };
    memcpy(f->names, names, sizeof names);
    memcpy(f->frames, b->data, b->section.bytes.size);
}

static enum wndl_status tell(
    struct wndl_jit *jit, uint32_t action, const void *file, size_t size)
{
    static struct gdb_entry entry;
    entry = (struct gdb_entry){.file = file, .size = size};
    descriptor.action = action;
    descriptor.relevant = &entry;
    return wndl_jit_follow_gdb(jit, &descriptor);
}

static void files_told_to_gdb_lead_through_generated_code(void **state)
{
    (void)state;
    static struct cfi_build b;
    static struct elf_file f;
    struct wndl_jit *jit = new_jit(ROOM);
    build_frames(&b);
    build_elf(&f, &b);
    assert_int_equal(tell(jit, 2, &f, sizeof f), WNDL_NOT_FOUND);
    assert_int_equal(tell(jit, 1, &f, sizeof f), WNDL_OK);
    passes(jit, true);
    assert_int_equal(tell(jit, 1, &f, sizeof f), WNDL_MALFORMED);
    assert_int_equal(tell(jit, 2, &f, sizeof f), WNDL_OK);
    passes(jit, false);
    f.sections[1].sh_addr += 1; /* the FDE is of other code */
    assert_int_equal(tell(jit, 1, &f, sizeof f), WNDL_UNSUPPORTED);
    f.sections[1].sh_addr = 0; /* not relocated */
    assert_int_equal(tell(jit, 1, &f, sizeof f), WNDL_UNSUPPORTED);
    f.sections[2].sh_name = 1; /* no .eh_frame */
    assert_int_equal(tell(jit, 1, &f, sizeof f), WNDL_NOT_FOUND);
    assert_int_equal(tell(jit, 0, &f, sizeof f), WNDL_UNSUPPORTED);
    free(jit);
}

static void damaged_files_are_not_taken(void **state)
{
    (void)state;
    static struct cfi_build b;
    static struct elf_file f;
    struct wndl_jit *jit = new_jit(ROOM);
    build_frames(&b);
    build_elf(&f, &b);
    const size_t used =
        offsetof(struct elf_file, frames) + b.section.bytes.size;
    uint8_t *copy = malloc(used);
    for (size_t i = 0; i < used; i++) {
        /* Exactly as long as said: a sanitizer sees a read past the end. */
        uint8_t *cut = memcpy(malloc(i + 1), &f, i + 1);
        memcpy(copy, &f, used);
        copy[i] ^= 0xff;
        (void)!tell(jit, 1, cut, i);
        (void)!tell(jit, 2, cut, i);
        (void)!tell(jit, 1, copy, used);
        (void)!tell(jit, 2, copy, used);
        free(cut);
    }
    free(copy);
    free(jit);
}

/* A file of which so many parts can be had. */
struct parts {
    int left;
    uint64_t last;
};

static const uint8_t *take_part(void *context, uint64_t address, size_t size)
{
    struct parts *parts = context;
    (void)size;
    parts->last = address;
    return parts->left-- > 0 ? (const uint8_t *)(uintptr_t)address : NULL;
}

static void files_are_read_part_by_part(void **state)
{
    (void)state;
    static struct cfi_build b;
    static struct elf_file f;
    struct wndl_jit_source source;
    build_frames(&b);
    build_elf(&f, &b);
    for (int left = 0; left < 6; left++) {
        struct parts parts = {.left = left};
        const struct wndl_jit_file file = {
            (uintptr_t)&f, sizeof f, take_part, &parts};
        enum wndl_status status = wndl_jit_gdb_file(&file, &source);
        if (left < 4) {
            assert_true(status == WNDL_UNSUPPORTED || status == WNDL_NOT_FOUND);
            continue;
        }
        assert_int_equal(status, WNDL_OK);
        assert_int_equal(source.origin, (uintptr_t)&f);
        assert_int_equal(parts.last, (uintptr_t)f.frames);
        assert_ptr_equal(source.frame.bytes.data, f.frames);
        assert_int_equal(source.frame.bytes.size, b.section.bytes.size);
    }
}

/* ---- replacement ---- */

/* Replaces all with sources of one piece of code each; whether it could. */
static bool replace(struct wndl_jit *jit, const uint64_t *starts, size_t count)
{
    static struct cfi_build b[ROOM];
    const struct cfi_shape shape = {.address_size = 8, .version = 1};
    struct wndl_jit_change change;
    if (!wndl_jit_replace_begin(jit, &change))
        return false;
    for (size_t i = 0; i < count; i++) {
        cfi_build_init(&b[i], &shape, (uintptr_t)b[i].data);
        size_t cie = cfi_put_cie(&b[i], CFI_BYTES(0x0c, 7, 8));
        cfi_put_fde(&b[i], cie, starts[i], 16, CFI_BYTES(0));
        struct wndl_jit_source source = source_of(&b[i], 1);
        enum wndl_status status = wndl_jit_replace_add(&change, &source);
        assert_int_equal(status, WNDL_OK);
    }
    wndl_jit_replace_end(jit, &change);
    return true;
}

static void replacement_is_of_all_and_waits_for_nobody(void **state)
{
    (void)state;
    struct wndl_code code;
    struct wndl_jit_hold hold;
    struct wndl_jit *jit = new_jit(ROOM);
    const uint64_t first[] = {0x30000, 0x10000, 0x10008, 0x20000};
    const uint64_t second[] = {0x10000, 0x40000};
    assert_true(replace(jit, first, 4));
    assert_true(wndl_jit_covers(jit, 0x1000f));
    assert_false(wndl_jit_covers(jit, 0x10010)); /* was there twice */
    assert_true(wndl_jit_covers(jit, 0x30000));
    assert_int_equal(wndl_jit_find(jit, 0x20000, &code, &hold), WNDL_CODE_ROW);
    assert_true(replace(jit, second, 2));
    assert_false(wndl_jit_covers(jit, 0x20000));
    assert_true(wndl_jit_covers(jit, 0x40000));
    assert_false(replace(jit, first, 4)); /* a walk still uses it */
    assert_true(wndl_jit_covers(jit, 0x40000));
    wndl_jit_leave(&hold);
    assert_true(replace(jit, first, 4));
    assert_false(wndl_jit_covers(jit, 0x40000));
    assert_int_equal(add(jit, 0x50000, 16), WNDL_OK); /* as before */
    assert_true(wndl_jit_covers(jit, 0x10000));
    assert_true(replace(jit, first, 0));
    assert_int_equal(wndl_jit_remove(jit, 0, UINT64_MAX), WNDL_NOT_FOUND);
    free(jit);
}

static _Atomic bool replaced_enough;

static void *replace_often(void *jit)
{
    enum { TIMES = 2000 };
    const uint64_t starts[] = {0x20000, 0x10000, 0x30000, 0x40000};
    for (size_t i = 0; i < TIMES; i++)
        (void)replace(jit, starts, 2 + i % 3);
    replaced_enough = true;
    return NULL;
}

static void replacement_is_seen_at_once_or_not_at_all(void **state)
{
    (void)state;
    struct wndl_jit *jit = new_jit(ROOM);
    const uint64_t first = 0x10000;
    pthread_t thread;
    bool covered = true;
    assert_true(replace(jit, &first, 1));
    replaced_enough = false;
    assert_int_equal(pthread_create(&thread, NULL, replace_often, jit), 0);
    while (!replaced_enough)
        covered = wndl_jit_covers(jit, 0x10000) && covered;
    pthread_join(thread, NULL);
    assert_true(covered);
    free(jit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registered_frames_lead_through_generated_code),
        cmocka_unit_test(sources_are_removed_by_their_origin),
        cmocka_unit_test(frames_without_a_cfa_tell_nothing),
        cmocka_unit_test(files_told_to_gdb_lead_through_generated_code),
        cmocka_unit_test(damaged_files_are_not_taken),
        cmocka_unit_test(replacement_is_of_all_and_waits_for_nobody),
        cmocka_unit_test(replacement_is_seen_at_once_or_not_at_all),
        cmocka_unit_test(files_are_read_part_by_part),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
