/* SPDX-License-Identifier: MIT */
/*
 * reloc: relocatable files (.o, .ko; gABI 4.1, "Relocation"). Their sections
 * all begin at 0, so each gets an address of its own, and relocations of debug
 * sections are applied to a private copy. Programs may keep such relocations
 * too, but those have been applied already and are ignored.
 */
#include "obj/elf/impl.h"
#include "obj/elf/reloc_kinds.h"

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

/* ---- applying */

struct job {
    struct wndl_object *object;
    const struct wndl_object_section *target;
    const char *name; /* of the section of relocations */
    struct wndl_bytes entries;
    struct wndl_elf_symbols symbols;
    struct wndl_reloc_kinds kinds;
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

/*
 * The 64-bit MIPS has a symbol, a special symbol and three types, each applied
 * to the result of the one before (MIPSpro ELF-64, 2.9). The bytes keep their
 * order in little-endian files. Debug sections need the first type only; more
 * than one gives a type that no table has.
 */
static void read_mips64_info(struct wndl_cursor *c, struct relocation *r)
{
    r->symbol = wndl_cursor_u32(c);
    wndl_cursor_skip(c, 1);
    unsigned third = wndl_cursor_u8(c);
    unsigned second = wndl_cursor_u8(c);
    r->type = wndl_cursor_u8(c) | second << 8 | third << 16;
}

/* SPARC V9 keeps data of its own in the upper bits of a type. */
static void read_info(
    const struct job *job, struct wndl_cursor *c, struct relocation *r)
{
    uint16_t machine = job->object->machine;
    if (job->object->address_size == 4) {
        uint32_t info = wndl_cursor_u32(c);
        r->type = ELF32_R_TYPE(info);
        r->symbol = ELF32_R_SYM(info);
    } else if (machine == EM_MIPS) {
        read_mips64_info(c, r);
    } else {
        uint64_t info = wndl_cursor_u64(c);
        r->type = (uint32_t)ELF64_R_TYPE(info);
        r->symbol = (uint32_t)ELF64_R_SYM(info);
        if (machine == EM_SPARCV9)
            r->type &= 0xff;
    }
}

static struct relocation read_entry(const struct job *job, uint64_t index)
{
    struct wndl_cursor c = wndl_cursor_at(
        job->entries, index * entry_size(job), job->object->big_endian);
    struct relocation r = {0};
    bool is_64 = job->object->address_size == 8;
    r.offset = is_64 ? wndl_cursor_u64(&c) : wndl_cursor_u32(&c);
    read_info(job, &c, &r);
    if (job->has_addends)
        r.addend = is_64 ? wndl_cursor_u64(&c) : wndl_cursor_u32(&c);
    return r;
}

/* ---- places of a relocation */

/* The bits at `at`: `bytes` of them hold `kind->bits`, or a LEB128 number. */
struct field {
    uint8_t *at;
    unsigned bytes;
    unsigned bits;
    bool leb;
};

/* False if it goes beyond the end of the section. */
static bool find_field(const struct job *job,
    const struct wndl_reloc_kind *kind, uint64_t offset, struct field *field)
{
    enum { MOST_LEB = 10 };
    uint64_t size = job->target->view.size;
    *field = (struct field){.leb = kind->bits == WNDL_RELOC_LEB};
    if (offset >= size)
        return false;
    uint64_t room = size - offset;
    field->at = job->target->own + offset;
    field->bits = kind->bits;
    field->bytes = (kind->bits + 7u) / 8;
    if (!field->leb)
        return field->bytes <= room;
    field->bytes = 1;
    while (field->bytes < MOST_LEB && field->bytes <= room &&
           (field->at[field->bytes - 1] & 0x80) != 0)
        field->bytes++;
    field->bits = 7 * field->bytes;
    return field->bytes <= room;
}

static uint64_t load_leb(const struct field *field)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < field->bytes; i++)
        value |= (uint64_t)(field->at[i] & 0x7f) << 7 * i;
    return value;
}

static void store_leb(const struct field *field, uint64_t value)
{
    for (unsigned i = 0; i < field->bytes; i++, value >>= 7)
        field->at[i] =
            (uint8_t)((value & 0x7f) | (i + 1 < field->bytes ? 0x80 : 0));
}

static uint64_t mask_of(const struct field *field)
{
    return field->bits >= 64 ? UINT64_MAX : (UINT64_C(1) << field->bits) - 1;
}

/* All of its bytes, of which `bits` are the field. */
static uint64_t load_bytes(const struct job *job, const struct field *field)
{
    struct wndl_cursor c =
        wndl_cursor_at((struct wndl_bytes){field->at, field->bytes}, 0,
            job->object->big_endian);
    return wndl_cursor_uint(&c, field->bytes);
}

static uint64_t load(const struct job *job, const struct field *field)
{
    if (field->leb)
        return load_leb(field);
    return load_bytes(job, field) & mask_of(field);
}

static void store(
    const struct job *job, const struct field *field, uint64_t value)
{
    uint64_t mask = mask_of(field);
    if (field->leb) {
        store_leb(field, value);
        return;
    }
    value = (load_bytes(job, field) & ~mask) | (value & mask);
    for (unsigned i = 0; i < field->bytes; i++) {
        unsigned byte = job->object->big_endian ? field->bytes - 1 - i : i;
        field->at[i] = (uint8_t)(value >> 8 * byte);
    }
}

/* ---- applying */

static uint64_t combine(
    enum wndl_reloc_action action, uint64_t old, uint64_t value, uint64_t place)
{
    switch (action) {
    case WNDL_RELOC_RELATIVE:
        return value - place;
    case WNDL_RELOC_ADD:
        return old + value;
    case WNDL_RELOC_SUBTRACT:
        return old - value;
    default:
        return value;
    }
}

/* Without addends of its own the file has them at the places. */
static enum wndl_status apply(
    const struct job *job, const struct relocation *r, const char **what)
{
    struct field field;
    uint64_t value = 0;
    const struct wndl_reloc_kind *kind =
        wndl_reloc_kind_find(job->kinds, r->type);
    *what = "a relocation of a type that is not known";
    if (kind == NULL)
        return WNDL_UNSUPPORTED;
    if (kind->action == WNDL_RELOC_NOTHING)
        return WNDL_OK;
    *what = "a relocation after the end of its section";
    if (!find_field(job, kind, r->offset, &field))
        return WNDL_MALFORMED;
    *what = "a relocation's symbol does not exist";
    if (!wndl_elf_symbol_address(&job->symbols, r->symbol, &value))
        return WNDL_MALFORMED;
    uint64_t old = load(job, &field);
    value += job->has_addends ? r->addend : old;
    uint64_t place = job->target->view.addr.v + r->offset;
    store(job, &field, combine(kind->action, old, value, place));
    return WNDL_OK;
}

/* A wrong entry is left out, and the first one is remembered. */
static void apply_all(const struct job *job)
{
    uint64_t count = job->entries.size / entry_size(job);
    for (uint64_t i = 0; i < count; i++) {
        struct relocation r = read_entry(job, i);
        struct wndl_error damage = {0};
        const char *what;
        enum wndl_status status = apply(job, &r, &what);
        if (status == WNDL_OK)
            continue;
        (void)wndl_fail_at(
            &damage, status, job->name, i * entry_size(job), what);
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
        .kinds = wndl_reloc_kinds_of(object->machine),
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
    bool is_opd = object->machine == EM_PPC64 && wndl_bytes_is(name, ".opd");
    if (object->type != ET_REL || (!is_debug && !is_opd))
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
    if (wndl_reloc_kinds_of(object->machine).count == 0)
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
