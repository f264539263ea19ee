/* SPDX-License-Identifier: MIT */
/*
 * plt: the targets of stubs in a procedure linkage table (psABIs of x86-64,
 * i386 and AArch64, "Procedure Linkage Table"). A stub jumps through a slot of
 * the global offset table, and the dynamic relocation of that slot has the
 * name. All of these are loaded, so stripped binaries have them.
 */
#include "obj/elf/impl.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

struct relocation {
    uint64_t slot; /* svma */
    uint32_t type, symbol;
    uint64_t addend;
};

/* i386, where relocations have no addend of their own. */
static bool is_narrow(const struct wndl_object *object)
{
    return object->machine == EM_386 && object->address_size == 4;
}

static bool has_stubs(const struct wndl_object *object)
{
    bool is_wide =
        (object->machine == EM_X86_64 || object->machine == EM_AARCH64) &&
        object->address_size == 8;
    return (is_wide || is_narrow(object)) && !object->big_endian;
}

static uint32_t relocation_type(const struct wndl_object *object)
{
    return is_narrow(object) ? SHT_REL : SHT_RELA;
}

static size_t relocation_size(const struct wndl_object *object)
{
    return is_narrow(object) ? sizeof(Elf32_Rel) : sizeof(Elf64_Rela);
}

static struct relocation read_relocation(
    const struct wndl_object *object, struct wndl_bytes table, uint64_t index)
{
    struct wndl_cursor c =
        wndl_cursor_at(table, index * relocation_size(object), false);
    if (is_narrow(object)) {
        uint32_t slot = wndl_cursor_u32(&c);
        uint32_t narrow_info = wndl_cursor_u32(&c);
        return (struct relocation){.slot = slot,
            .type = ELF32_R_TYPE(narrow_info),
            .symbol = ELF32_R_SYM(narrow_info)};
    }
    struct relocation r = {.slot = wndl_cursor_u64(&c)};
    uint64_t info = wndl_cursor_u64(&c);
    r.type = (uint32_t)ELF64_R_TYPE(info);
    r.symbol = (uint32_t)ELF64_R_SYM(info);
    r.addend = wndl_cursor_u64(&c);
    return r;
}

/* ---- which slot is whose */

struct reader {
    struct wndl_object *object;
    struct wndl_bytes relocations, symbols, strings;
    const char *name; /* of the section of relocations */
    struct wndl_vec slots;
};

static enum wndl_status symbol_name(const struct reader *r, uint32_t symbol,
    struct wndl_bytes *name, struct wndl_error *err)
{
    size_t size = is_narrow(r->object) ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
    uint64_t offset = (uint64_t)symbol * size;
    struct wndl_cursor c = wndl_cursor_at(r->symbols, offset, false);
    *name = wndl_object_name_at(r->strings, wndl_cursor_u32(&c));
    if (c.failed || name->data == NULL)
        return wndl_fail_at(err, WNDL_MALFORMED, r->name, offset,
            "a relocation's symbol or its name does not exist");
    return WNDL_OK;
}

/* These relocations have the same numbers on both x86 machines. */
_Static_assert((int)R_386_JMP_SLOT == (int)R_X86_64_JUMP_SLOT &&
                   (int)R_386_GLOB_DAT == (int)R_X86_64_GLOB_DAT,
    "types of relocations");

/* Whether the slot gets a function's address. */
static bool is_bound(const struct wndl_object *object, uint32_t type)
{
    if (object->machine == EM_AARCH64)
        return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
    return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
}

/*
 * A resolver chooses a function at load time; it has the name of that function.
 */
static enum wndl_status resolver_name(const struct reader *r, uint64_t addr,
    struct wndl_bytes *name, struct wndl_error *err)
{
    struct wndl_symbol symbol;
    *name = (struct wndl_bytes){0};
    enum wndl_status status =
        wndl_object_find_function(r->object, (wndl_svma){addr}, &symbol, err);
    if (status == WNDL_OK && symbol.addr.v == addr)
        *name = symbol.name;
    return status == WNDL_NOMEM ? status : WNDL_OK;
}

/* The word that the linker put into the slot at `addr`; 0 if there is none. */
static uint32_t linked_word(const struct wndl_object *object, uint64_t addr)
{
    for (size_t i = 0; i < object->section_count; i++) {
        const struct wndl_object_section *section = &object->sections[i];
        const struct wndl_section *view = &section->view;
        struct wndl_bytes bytes;
        if (addr < view->addr.v || addr - view->addr.v >= view->size ||
            view->type != SHT_PROGBITS ||
            wndl_object_stored_bytes(object, section, &bytes, NULL) != WNDL_OK)
            continue;
        struct wndl_cursor c =
            wndl_cursor_at(bytes, addr - view->addr.v, false);
        return wndl_cursor_u32(&c);
    }
    struct wndl_cursor c = {0};
    if (object->section_count == 0)
        c = wndl_cursor_at(
            wndl_object_loaded_bytes(object, (wndl_svma){addr}), 0, false);
    return wndl_cursor_u32(&c);
}

/*
 * Whether a resolver chooses the function at load time; its address is
 * `from->addend`.
 */
static bool is_resolved(
    const struct wndl_object *object, struct relocation *from)
{
    if (object->machine == EM_AARCH64)
        return from->type == R_AARCH64_IRELATIVE;
    if (!is_narrow(object))
        return from->type == R_X86_64_IRELATIVE;
    if (from->type != R_386_IRELATIVE)
        return false;
    from->addend = linked_word(object, from->slot);
    return true;
}

static enum wndl_status add_slot(
    struct reader *r, uint64_t index, struct wndl_error *err)
{
    struct relocation from = read_relocation(r->object, r->relocations, index);
    struct wndl_bytes name;
    enum wndl_status status;
    if (is_bound(r->object, from.type))
        status = symbol_name(r, from.symbol, &name, err);
    else if (is_resolved(r->object, &from))
        status = resolver_name(r, from.addend, &name, err);
    else
        return WNDL_OK;
    if (status != WNDL_OK || name.size == 0)
        return status;
    struct wndl_plt_slot *slot = wndl_vec_push(&r->slots);
    if (slot == NULL)
        return wndl_fail(err, WNDL_NOMEM, "no memory for the PLT");
    *slot = (struct wndl_plt_slot){from.slot, name};
    return WNDL_OK;
}

/* A linked table that is absent has no entries; relocations may need none. */
static enum wndl_status linked_bytes(const struct wndl_object *object,
    const struct wndl_object_section **section, struct wndl_bytes *bytes,
    struct wndl_error *err)
{
    uint32_t link = *section == NULL ? 0 : (*section)->link;
    *bytes = (struct wndl_bytes){0};
    *section = NULL;
    if (link == 0 || link >= object->section_count)
        return WNDL_OK;
    *section = &object->sections[link];
    return wndl_object_stored_bytes(object, *section, bytes, err);
}

static enum wndl_status add_each(struct reader *r, struct wndl_error *err)
{
    enum wndl_status status = WNDL_OK;
    uint64_t count = r->relocations.size / relocation_size(r->object);
    for (uint64_t i = 0; i < count && status == WNDL_OK; i++)
        status = add_slot(r, i, err);
    return status;
}

static enum wndl_status add_slots(struct reader *r,
    const struct wndl_object_section *section, struct wndl_error *err)
{
    const struct wndl_object_section *at = section;
    r->name = (const char *)section->view.name.data;
    enum wndl_status status =
        wndl_object_stored_bytes(r->object, section, &r->relocations, err);
    if (status == WNDL_OK)
        status = linked_bytes(r->object, &at, &r->symbols, err);
    if (status == WNDL_OK)
        status = linked_bytes(r->object, &at, &r->strings, err);
    return status == WNDL_OK ? add_each(r, err) : status;
}

static enum wndl_status add_dynamic_slots(
    struct reader *r, struct wndl_error *err)
{
    struct wndl_elf_dynamic_tables tables =
        wndl_elf_dynamic_tables(r->object, is_narrow(r->object));
    enum wndl_status status = WNDL_OK;
    r->name = "PT_DYNAMIC";
    r->symbols = tables.symbols;
    r->strings = tables.strings;
    for (int i = 0; i < 2 && status == WNDL_OK; i++) {
        r->relocations = tables.relocations[i];
        status = add_each(r, err);
    }
    return status;
}

/*
 * Orders slots by address; equal ones, which occur after damage, by place of
 * the name.
 */
static int compare_slots(const void *a, const void *b)
{
    const struct wndl_plt_slot *x = a, *y = b;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    return (x->name.data > y->name.data) - (x->name.data < y->name.data);
}

static enum wndl_status read_slots(
    struct wndl_object *object, struct wndl_error *err)
{
    struct reader r = {.object = object};
    wndl_vec_init(&r.slots, &object->arena, sizeof(struct wndl_plt_slot));
    if (object->section_count == 0 && add_dynamic_slots(&r, err) != WNDL_OK)
        return err->status;
    for (size_t i = 0; i < object->section_count; i++) {
        const struct wndl_object_section *section = &object->sections[i];
        if (section->view.type != relocation_type(object) ||
            (section->view.flags & SHF_ALLOC) == 0)
            continue;
        enum wndl_status status = add_slots(&r, section, err);
        if (status != WNDL_OK)
            return status;
    }
    if (r.slots.len != 0)
        qsort(r.slots.data, r.slots.len, r.slots.element, compare_slots);
    object->plt.slots = r.slots.data;
    object->plt.count = r.slots.len;
    return WNDL_OK;
}

/* A failure is kept too: the next try would fail in the same way. */
static enum wndl_status need_slots(
    struct wndl_object *object, struct wndl_error *err)
{
    struct wndl_plt *plt = &object->plt;
    if (!plt->tried) {
        plt->tried = true;
        plt->status = read_slots(object, &plt->error);
        wndl_error_set_file(&plt->error, object->path);
    }
    if (plt->status != WNDL_OK && err != NULL)
        *err = plt->error;
    return plt->status;
}

static const struct wndl_plt_slot *find_slot(
    const struct wndl_plt *plt, uint64_t addr)
{
    size_t low = 0, high = plt->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (plt->slots[middle].addr < addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low < plt->count && plt->slots[low].addr == addr ? &plt->slots[low]
                                                            : NULL;
}

/* ---- the code of stubs */

/*
 * A stub is identified by its slot, or by its number in .rela.plt (on i386 its
 * offset in .rel.plt), or it is the one that calls the loader.
 */
struct stub {
    enum { TO_SLOT, TO_NUMBER, TO_LOADER } to;
    uint64_t value;
};

static bool skip(struct wndl_cursor *c, const char *code)
{
    size_t size = strlen(code);
    if (wndl_cursor_left(c) < size || memcmp(c->next, code, size) != 0)
        return false;
    wndl_cursor_skip(c, size);
    return true;
}

static bool decode_number(struct wndl_cursor *c, struct stub *stub)
{
    stub->to = TO_NUMBER;
    stub->value = wndl_cursor_u32(c);
    return !c->failed;
}

/* The code of one stub of i386: PIC counts from the table of slots, `got`. */
static bool decode_narrow(
    struct wndl_bytes code, uint64_t got, struct stub *stub)
{
    struct wndl_cursor c = wndl_cursor_at(code, 0, false);
    skip(&c, "\xf3\x0f\x1e\xfb");                       /* endbr32 */
    if (skip(&c, "\xff\x35") || skip(&c, "\xff\xb3")) { /* push slot */
        stub->to = TO_LOADER;
        return true;
    }
    if (skip(&c, "\x68")) { /* push $offset */
        if (!decode_number(&c, stub))
            return false;
        stub->value /= sizeof(Elf32_Rel);
        return true;
    }
    bool by_got = skip(&c, "\xff\xa3"); /* jmp *slot(%ebx) */
    if (!by_got && !skip(&c, "\xff\x25"))
        return false;
    stub->to = TO_SLOT;
    stub->value = (uint32_t)(wndl_cursor_u32(&c) + (by_got ? got : 0));
    return !c.failed;
}

/* The code of one stub, which is at `addr`. */
static bool decode(struct wndl_bytes code, uint64_t addr, struct stub *stub)
{
    struct wndl_cursor c = wndl_cursor_at(code, 0, false);
    skip(&c, "\xf3\x0f\x1e\xfa"); /* endbr64 */
    if (skip(&c, "\xff\x35")) {   /* push slot(%rip) */
        stub->to = TO_LOADER;
        return true;
    }
    if (skip(&c, "\x68")) /* push $number */
        return decode_number(&c, stub);
    skip(&c, "\xf2");          /* bnd */
    if (!skip(&c, "\xff\x25")) /* jmp *slot(%rip) */
        return false;
    int32_t distance = (int32_t)wndl_cursor_u32(&c);
    stub->to = TO_SLOT;
    stub->value = addr + wndl_cursor_offset(&c) + (uint64_t)(int64_t)distance;
    return !c.failed;
}

/*
 * AArch64: adrp x16, page; ldr x17, [x16, #offset], with others around. PLT0,
 * of 32 bytes, pushes x16 and x30 first.
 */
static bool decode_arm(struct wndl_bytes code, uint64_t addr, struct stub *stub)
{
    const uint32_t bti = 0xd503245f, push = 0xa9bf7bf0;
    struct wndl_cursor c = wndl_cursor_at(code, 0, false);
    uint32_t adrp = wndl_cursor_u32(&c);
    if (adrp == bti) {
        adrp = wndl_cursor_u32(&c);
        addr += 4;
    }
    uint32_t load = wndl_cursor_u32(&c);
    stub->to = adrp == push ? TO_LOADER : TO_SLOT;
    if (stub->to == TO_LOADER)
        return !c.failed;
    if (c.failed || (adrp & 0x9f00001f) != 0x90000010 ||
        (load & 0xffc003ff) != 0xf9400211)
        return false;
    uint64_t pages = (adrp >> 29 & 3) | (adrp >> 5 & 0x7ffff) << 2;
    pages = (pages ^ 0x100000) - 0x100000; /* a sign in bit 20 */
    stub->value = (addr & ~UINT64_C(0xfff)) + (pages << 12) +
                  (load >> 10 & 0xfff) * UINT64_C(8);
    return true;
}

/*
 * The start of the stub around `offset`. A stub with checks of targets or
 * signatures has 24 bytes instead of 16, whatever the section's header says.
 */
static void place_arm(struct wndl_bytes code, uint64_t *offset, uint64_t *size)
{
    enum { USUAL = 16, LONG = 24, HEADER = 32 };
    struct stub stub;
    bool header = decode_arm(code, 0, &stub) && stub.to == TO_LOADER;
    uint64_t first = header ? HEADER : 0;
    bool large =
        !decode_arm(wndl_bytes_slice(code, first + USUAL, USUAL), 0, &stub) &&
        code.size >= first + LONG;
    *size = large ? LONG : USUAL;
    if (*offset < first) {
        *offset = 0;
        *size = HEADER;
    } else {
        *offset -= (*offset - first) % *size;
    }
}

static const struct wndl_object_section *plt_section(
    const struct wndl_object *object, uint64_t addr)
{
    static const char *const names[] = {".plt", ".plt.sec", ".plt.got"};
    for (size_t i = 0; i < object->section_count; i++) {
        const struct wndl_object_section *section = &object->sections[i];
        const struct wndl_section *view = &section->view;
        if ((view->flags & SHF_EXECINSTR) == 0 || addr < view->addr.v ||
            addr - view->addr.v >= view->size)
            continue;
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (wndl_bytes_is(view->name, names[k]))
                return section;
    }
    return NULL;
}

/* _GLOBAL_OFFSET_TABLE_: the start of .got.plt, which may be part of .got. */
static uint64_t slots_start(const struct wndl_object *object)
{
    uint64_t start = 0;
    for (size_t i = 0; i < object->section_count; i++) {
        const struct wndl_section *view = &object->sections[i].view;
        if (wndl_bytes_is(view->name, ".got.plt"))
            return view->addr.v;
        if (wndl_bytes_is(view->name, ".got"))
            start = view->addr.v;
    }
    return start;
}

/* The slot of relocation `number` of the PLT; 0 when there is none. */
static uint64_t numbered_slot(const struct wndl_object *object, uint64_t number)
{
    const char *name = is_narrow(object) ? ".rel.plt" : ".rela.plt";
    struct wndl_bytes table = {0};
    for (size_t i = 0; i < object->section_count; i++) {
        const struct wndl_object_section *section = &object->sections[i];
        if (section->view.type == relocation_type(object) &&
            wndl_bytes_is(section->view.name, name) &&
            wndl_object_stored_bytes(object, section, &table, NULL) == WNDL_OK)
            break;
    }
    return read_relocation(object, table, number).slot;
}

/* Stubs have 16 bytes; those of .plt.got have 8 if no endbr64 is needed. */
static void place_x86(
    const struct wndl_object_section *section, uint64_t *offset, uint64_t *size)
{
    enum { USUAL = 16, SMALL = 8 };
    *size = section->entry_size == SMALL ? SMALL : USUAL;
    *offset -= *offset % *size;
}

/* ---- files without section headers, which do not say where stubs are */

static struct wndl_bytes code_at(
    const struct wndl_object *object, uint64_t addr, uint64_t size)
{
    for (size_t i = 0; i < object->segment_count; i++) {
        const struct wndl_segment *segment = &object->segments[i];
        uint64_t in = addr - segment->addr.v;
        if (segment->executable && addr >= segment->addr.v &&
            in < segment->file_size && size <= segment->file_size - in)
            return wndl_bytes_slice(
                object->file, segment->file_offset + in, size);
    }
    return (struct wndl_bytes){0};
}

/*
 * Code that jumps through a function's slot is its stub: a piece of at least
 * that many bytes that begins at `addr`.
 */
static const struct wndl_plt_slot *stub_at(
    const struct wndl_object *object, uint64_t addr)
{
    enum { MOST = 16, LEAST = 8 };
    struct stub stub = {0};
    struct wndl_bytes code = code_at(object, addr, MOST);
    if (code.size == 0)
        code = code_at(object, addr, LEAST);
    bool known;
    if (object->machine == EM_AARCH64)
        known = decode_arm(code, addr, &stub);
    else if (is_narrow(object))
        known = decode_narrow(
            code, wndl_elf_dynamic_tables(object, true).got, &stub);
    else
        known = decode(code, addr, &stub);
    return known && stub.to == TO_SLOT ? find_slot(&object->plt, stub.value)
                                       : NULL;
}

/*
 * Stubs begin at multiples of 8 (those of 8 bytes) or 16. On AArch64 they begin
 * at any word; the first that fits is used.
 */
static enum wndl_status find_bare(struct wndl_object *object, uint64_t addr,
    struct wndl_symbol *entry, struct wndl_error *err)
{
    enum { SMALL = 8, USUAL = 16, WORD = 4 };
    bool arm = object->machine == EM_AARCH64;
    uint64_t step = arm ? WORD : SMALL;
    enum wndl_status status = need_slots(object, err);
    if (status != WNDL_OK)
        return status;
    for (uint64_t start = addr & ~(step - 1);
         addr - start < USUAL && start >= step; start -= step) {
        const struct wndl_plt_slot *slot = stub_at(object, start);
        if (slot == NULL)
            continue;
        bool small = !arm && (start % USUAL != 0 ||
                                 stub_at(object, start + SMALL) != NULL);
        uint64_t size = small ? SMALL : USUAL;
        if (addr - start >= size)
            break;
        *entry = (struct wndl_symbol){
            slot->name, {start}, size, .kind = WNDL_SYMBOL_FUNC};
        return WNDL_OK;
    }
    return wndl_fail(err, WNDL_NOT_FOUND, "no stub at the address");
}

static bool read_stub(const struct wndl_object *object, wndl_svma addr,
    struct wndl_symbol *entry, struct stub *stub)
{
    const struct wndl_object_section *section = plt_section(object, addr.v);
    struct wndl_bytes code;
    if (!has_stubs(object) || section == NULL ||
        wndl_object_stored_bytes(object, section, &code, NULL) != WNDL_OK)
        return false;
    bool arm = object->machine == EM_AARCH64;
    uint64_t offset = addr.v - section->view.addr.v;
    uint64_t size;
    if (arm)
        place_arm(code, &offset, &size);
    else
        place_x86(section, &offset, &size);
    *entry = (struct wndl_symbol){
        .addr = {section->view.addr.v + offset},
        .size = size,
        .kind = WNDL_SYMBOL_FUNC,
    };
    code = wndl_bytes_slice(code, offset, size);
    if (arm)
        return decode_arm(code, entry->addr.v, stub);
    return is_narrow(object) ? decode_narrow(code, slots_start(object), stub)
                             : decode(code, entry->addr.v, stub);
}

enum wndl_status wndl_object_find_plt(struct wndl_object *object,
    wndl_svma addr, struct wndl_symbol *entry, struct wndl_error *err)
{
    struct stub stub;
    if (object->section_count == 0 && has_stubs(object))
        return find_bare(object, addr.v, entry, err);
    if (!read_stub(object, addr, entry, &stub))
        return wndl_fail(err, WNDL_NOT_FOUND, "no stub at the address");
    if (stub.to == TO_LOADER)
        return WNDL_OK;
    enum wndl_status status = need_slots(object, err);
    if (status != WNDL_OK)
        return status;
    if (stub.to == TO_NUMBER)
        stub.value = numbered_slot(object, stub.value);
    const struct wndl_plt_slot *slot = find_slot(&object->plt, stub.value);
    if (slot == NULL)
        return wndl_fail(err, WNDL_NOT_FOUND, "the stub's slot has no name");
    entry->name = slot->name;
    return WNDL_OK;
}

enum wndl_status wndl_object_find_slot(struct wndl_object *object,
    wndl_svma addr, struct wndl_bytes *name, struct wndl_error *err)
{
    enum wndl_status status = WNDL_OK;
    if (has_stubs(object))
        status = need_slots(object, err);
    if (status != WNDL_OK)
        return status;
    const struct wndl_plt_slot *slot = find_slot(&object->plt, addr.v);
    if (slot == NULL)
        return wndl_fail(err, WNDL_NOT_FOUND, "the slot has no name");
    *name = slot->name;
    return WNDL_OK;
}
