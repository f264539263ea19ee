/* SPDX-License-Identifier: MIT */
/*
 * reloc: relocatable files (.o, .ko; gABI 4.1, "Relocation"). Their sections
 * all begin at 0, so each gets an address of its own, and relocations of debug
 * sections are applied to a private copy. Programs may keep such relocations
 * too, but those have been applied already and are ignored.
 */
#include "obj/elf/impl.h"

#include <elf.h>
#include <string.h>

/* Not 0, which in debug information means dropped code. */
static const uint64_t FIRST_PLACE = 0x10000;

/* ---- places */

static bool place(struct wndl_object_section *section, uint64_t *next)
{
    enum { MOST = 1 << 20 };
    uint64_t align = section->alignment;
    bool sane = align != 0 && align <= MOST && (align & (align - 1)) == 0;
    uint64_t mask = sane ? align - 1 : 0;
    uint64_t at;
    if (__builtin_add_overflow(*next, mask, &at))
        return false;
    at &= ~mask;
    section->view.addr.v = at;
    return !__builtin_add_overflow(at, section->view.size, next);
}

static bool place_all(struct wndl_object *object, uint64_t flag, uint64_t *next)
{
    const uint64_t mask = SHF_ALLOC | SHF_EXECINSTR;
    for (size_t i = 0; i < object->section_count; i++) {
        struct wndl_object_section *section = &object->sections[i];
        if ((section->view.flags & mask) == flag && !place(section, next))
            return false;
    }
    return true;
}

enum wndl_status wndl_elf_place_sections(
    struct wndl_object *object, struct wndl_error *err)
{
    uint64_t next = FIRST_PLACE;
    uint64_t most = object->address_size == 8 ? UINT64_MAX : UINT32_MAX;
    object->image_base.v = FIRST_PLACE;
    if (place_all(object, SHF_ALLOC | SHF_EXECINSTR, &next) &&
        place_all(object, SHF_ALLOC, &next) && next <= most)
        return WNDL_OK;
    return wndl_fail_at(err, WNDL_MALFORMED, "section headers", 0,
        "the sections are larger than the address space");
}

/* ---- types */

/* The number of bytes that change, and the base of the value. */
struct kind {
    uint16_t machine, type;
    uint8_t size;
    bool relative; /* to the place */
};

/*
 * The relocations that compilers use in debug sections, by the psABIs of x86-64
 * (4.4), i386 (4.4), AArch64 (5.7), Arm (5.6) and 64-bit PowerPC (3.5). Offsets
 * of thread-local variables are of no use here; their size is 0.
 */
static const struct kind kinds[] = {
    {EM_X86_64, R_X86_64_NONE, 0, false},
    {EM_X86_64, R_X86_64_64, 8, false},
    {EM_X86_64, R_X86_64_32, 4, false},
    {EM_X86_64, R_X86_64_32S, 4, false},
    {EM_X86_64, R_X86_64_16, 2, false},
    {EM_X86_64, R_X86_64_8, 1, false},
    {EM_X86_64, R_X86_64_PC32, 4, true},
    {EM_X86_64, R_X86_64_PC64, 8, true},
    {EM_X86_64, R_X86_64_DTPOFF32, 0, false},
    {EM_X86_64, R_X86_64_DTPOFF64, 0, false},
    {EM_386, R_386_NONE, 0, false},
    {EM_386, R_386_32, 4, false},
    {EM_386, R_386_16, 2, false},
    {EM_386, R_386_8, 1, false},
    {EM_386, R_386_PC32, 4, true},
    {EM_386, R_386_TLS_LDO_32, 0, false},
    {EM_AARCH64, R_AARCH64_NONE, 0, false},
    {EM_AARCH64, 256, 0, false}, /* the NONE of old */
    {EM_AARCH64, R_AARCH64_ABS64, 8, false},
    {EM_AARCH64, R_AARCH64_ABS32, 4, false},
    {EM_AARCH64, R_AARCH64_ABS16, 2, false},
    {EM_AARCH64, R_AARCH64_PREL64, 8, true},
    {EM_AARCH64, R_AARCH64_PREL32, 4, true},
    {EM_AARCH64, R_AARCH64_TLS_DTPREL, 0, false},
    {EM_ARM, R_ARM_NONE, 0, false},
    {EM_ARM, R_ARM_ABS32, 4, false},
    {EM_ARM, R_ARM_REL32, 4, true},
    {EM_ARM, R_ARM_TLS_LDO32, 0, false},
    {EM_PPC64, R_PPC64_NONE, 0, false},
    {EM_PPC64, R_PPC64_ADDR64, 8, false},
    {EM_PPC64, R_PPC64_ADDR32, 4, false},
    {EM_PPC64, R_PPC64_REL32, 4, true},
    {EM_PPC64, R_PPC64_REL64, 8, true},
    {EM_PPC64, R_PPC64_DTPREL64, 0, false},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static const struct kind *find_kind(uint16_t machine, uint32_t type)
{
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].machine == machine && kinds[i].type == type)
            return &kinds[i];
    return NULL;
}

static bool knows_machine(uint16_t machine)
{
    return find_kind(machine, 0) != NULL;
}

/* ---- applying */

struct job {
    struct wndl_object *object;
    const struct wndl_object_section *target;
    const char *name; /* of the section of relocations */
    struct wndl_bytes entries;
    struct wndl_elf_symbols symbols;
    bool has_addends; /* SHT_RELA */
};

struct relocation {
    uint64_t offset, addend;
    uint32_t type, symbol;
};

static size_t entry_size(const struct job *job)
{
    bool is_64 = job->object->address_size == 8;
    if (job->has_addends)
        return is_64 ? sizeof(Elf64_Rela) : sizeof(Elf32_Rela);
    return is_64 ? sizeof(Elf64_Rel) : sizeof(Elf32_Rel);
}

static struct relocation read_entry(const struct job *job, uint64_t index)
{
    struct wndl_cursor c = wndl_cursor_at(
        job->entries, index * entry_size(job), job->object->big_endian);
    struct relocation r = {0};
    if (job->object->address_size == 8) {
        r.offset = wndl_cursor_u64(&c);
        uint64_t info = wndl_cursor_u64(&c);
        r.type = (uint32_t)ELF64_R_TYPE(info);
        r.symbol = (uint32_t)ELF64_R_SYM(info);
        r.addend = job->has_addends ? wndl_cursor_u64(&c) : 0;
    } else {
        r.offset = wndl_cursor_u32(&c);
        uint32_t info = wndl_cursor_u32(&c);
        r.type = ELF32_R_TYPE(info);
        r.symbol = ELF32_R_SYM(info);
        r.addend = job->has_addends ? wndl_cursor_u32(&c) : 0;
    }
    return r;
}

static uint64_t load(const struct job *job, const uint8_t *at, unsigned size)
{
    struct wndl_cursor c = wndl_cursor_at(
        (struct wndl_bytes){at, size}, 0, job->object->big_endian);
    return wndl_cursor_uint(&c, size);
}

static void store(
    const struct job *job, uint8_t *at, unsigned size, uint64_t value)
{
    for (unsigned i = 0; i < size; i++) {
        unsigned byte = job->object->big_endian ? size - 1 - i : i;
        at[i] = (uint8_t)(value >> 8 * byte);
    }
}

/* The fault of an entry; NULL if there is none. */
static const char *apply(const struct job *job, const struct relocation *r)
{
    const struct kind *kind = find_kind(job->object->machine, r->type);
    if (kind == NULL)
        return "a relocation of a type that is not known";
    uint64_t value = 0;
    uint64_t size = job->target->view.size;
    if (kind->size == 0)
        return NULL;
    if (r->offset > size || kind->size > size - r->offset)
        return "a relocation after the end of its section";
    if (!wndl_elf_symbol_address(&job->symbols, r->symbol, &value))
        return "a relocation's symbol does not exist";
    uint8_t *at = job->target->own + r->offset;
    value += job->has_addends ? r->addend : load(job, at, kind->size);
    if (kind->relative)
        value -= job->target->view.addr.v + r->offset;
    store(job, at, kind->size, value);
    return NULL;
}

/* A wrong entry is left out, and the first one is remembered. */
static void apply_all(const struct job *job)
{
    uint64_t count = job->entries.size / entry_size(job);
    for (uint64_t i = 0; i < count; i++) {
        struct relocation r = read_entry(job, i);
        const char *what = apply(job, &r);
        if (what == NULL)
            continue;
        struct wndl_error damage = {0};
        (void)wndl_fail_at(
            &damage, WNDL_MALFORMED, job->name, i * entry_size(job), what);
        wndl_object_note_damage(job->object, &damage);
    }
}

static enum wndl_status apply_section(struct wndl_object *object,
    const struct wndl_object_section *target,
    const struct wndl_object_section *from, struct wndl_error *err)
{
    struct job job = {
        .object = object,
        .target = target,
        .name = (const char *)from->view.name.data,
        .has_addends = from->view.type == SHT_RELA,
    };
    if (from->link >= object->section_count)
        return wndl_fail_at(err, WNDL_MALFORMED, job.name, 0,
            "the relocations' symbol table does not exist");
    enum wndl_status status =
        wndl_object_stored_bytes(object, from, &job.entries, err);
    if (status == WNDL_OK)
        status = wndl_elf_symbols_open(
            object, &object->sections[from->link], &job.symbols, err);
    if (status == WNDL_OK)
        apply_all(&job);
    return status;
}

static bool is_for(const struct wndl_object *object,
    const struct wndl_object_section *from,
    const struct wndl_object_section *target)
{
    uint32_t type = from->view.type;
    return (type == SHT_RELA || type == SHT_REL) && from->stored_size != 0 &&
           from->info == (uint64_t)(target - object->sections);
}

bool wndl_elf_needs_relocation(
    const struct wndl_object *object, const struct wndl_object_section *section)
{
    struct wndl_bytes name = section->view.name;
    bool is_debug = section->packing == WNDL_PACKING_ZDEBUG ||
                    wndl_bytes_is(wndl_bytes_slice(name, 0, 7), ".debug_");
    if (object->type != ET_REL || !is_debug)
        return false;
    for (size_t i = 0; i < object->section_count; i++)
        if (is_for(object, &object->sections[i], section))
            return true;
    return false;
}

/* Sections of a sound file do not overlap, so that no more relocations are
 * read than there are bytes. */
enum wndl_status wndl_elf_relocate(struct wndl_object *object,
    struct wndl_object_section *section, struct wndl_error *err)
{
    uint64_t unread = object->file.size;
    enum wndl_status status = WNDL_OK;
    if (!knows_machine(object->machine))
        return wndl_fail_at(err, WNDL_UNSUPPORTED,
            (const char *)section->view.name.data, 0,
            "the relocations of this machine are not known");
    for (size_t i = 0; i < object->section_count && status == WNDL_OK; i++) {
        const struct wndl_object_section *from = &object->sections[i];
        if (!is_for(object, from, section) || from->stored_size > unread)
            continue;
        unread -= from->stored_size;
        status = apply_section(object, section, from, err);
    }
    return status;
}
