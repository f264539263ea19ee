/* SPDX-License-Identifier: MIT */
/*
 * elf_plt: what the stubs of a procedure linkage table call (x86-64 psABI,
 * "Procedure Linkage Table"). A stub jumps through a slot of the global
 * offset table, and the dynamic relocation of that slot has the name. All of
 * it is loaded, so stripped binaries have it.
 */
#include "obj/object_impl.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

struct relocation {
    uint64_t slot; /* svma */
    uint32_t type, symbol;
    uint64_t addend;
};

static struct relocation read_relocation(
    struct wndl_bytes table, uint64_t index)
{
    struct wndl_cursor c =
        wndl_cursor_at(table, index * sizeof(Elf64_Rela), false);
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
    uint64_t offset = (uint64_t)symbol * sizeof(Elf64_Sym);
    struct wndl_cursor c = wndl_cursor_at(r->symbols, offset, false);
    *name = wndl_elf_name(r->strings, wndl_cursor_u32(&c));
    if (c.failed || name->data == NULL)
        return wndl_fail_at(err, WNDL_MALFORMED, r->name, offset,
            "a relocation's symbol or its name does not exist");
    return WNDL_OK;
}

/* The function that decides at load time goes by the name of its choices. */
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

static enum wndl_status add_slot(
    struct reader *r, uint64_t index, struct wndl_error *err)
{
    struct relocation from = read_relocation(r->relocations, index);
    struct wndl_bytes name;
    enum wndl_status status;
    if (from.type == R_X86_64_JUMP_SLOT || from.type == R_X86_64_GLOB_DAT)
        status = symbol_name(r, from.symbol, &name, err);
    else if (from.type == R_X86_64_IRELATIVE)
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
    uint64_t count = r->relocations.size / sizeof(Elf64_Rela);
    for (uint64_t i = 0; i < count && status == WNDL_OK; i++)
        status = add_slot(r, i, err);
    return status;
}

/* By address; of equal ones, which damage makes, by place of the name. */
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
    for (size_t i = 0; i < object->section_count; i++) {
        const struct wndl_object_section *section = &object->sections[i];
        if (section->view.type != SHT_RELA ||
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

/* A failure is kept too: it would be the same the next time. */
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

/* ---- what a stub does */

/* By its slot, or by its number in .rela.plt, or that of the loader. */
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

/* The code of one stub, which is at `addr`. */
static bool decode(struct wndl_bytes code, uint64_t addr, struct stub *stub)
{
    struct wndl_cursor c = wndl_cursor_at(code, 0, false);
    skip(&c, "\xf3\x0f\x1e\xfa"); /* endbr64 */
    if (skip(&c, "\xff\x35")) {   /* push slot(%rip) */
        stub->to = TO_LOADER;
        return true;
    }
    if (skip(&c, "\x68")) { /* push $number */
        stub->to = TO_NUMBER;
        stub->value = wndl_cursor_u32(&c);
        return !c.failed;
    }
    skip(&c, "\xf2");          /* bnd */
    if (!skip(&c, "\xff\x25")) /* jmp *slot(%rip) */
        return false;
    int32_t distance = (int32_t)wndl_cursor_u32(&c);
    stub->to = TO_SLOT;
    stub->value = addr + wndl_cursor_offset(&c) + (uint64_t)(int64_t)distance;
    return !c.failed;
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

/* The slot of relocation `number` of .rela.plt; 0 when there is none. */
static uint64_t numbered_slot(const struct wndl_object *object, uint64_t number)
{
    struct wndl_bytes table = {0};
    for (size_t i = 0; i < object->section_count; i++) {
        const struct wndl_object_section *section = &object->sections[i];
        if (section->view.type == SHT_RELA &&
            wndl_bytes_is(section->view.name, ".rela.plt") &&
            wndl_object_stored_bytes(object, section, &table, NULL) == WNDL_OK)
            break;
    }
    return read_relocation(table, number).slot;
}

/* Stubs have 16 bytes; those of .plt.got have 8 where no endbr64 is due. */
static bool read_stub(const struct wndl_object *object, wndl_svma addr,
    struct wndl_symbol *entry, struct stub *stub)
{
    enum { USUAL = 16, SMALL = 8 };
    const struct wndl_object_section *section = plt_section(object, addr.v);
    struct wndl_bytes code;
    if (object->machine != EM_X86_64 || object->address_size != 8 ||
        object->big_endian || section == NULL ||
        wndl_object_stored_bytes(object, section, &code, NULL) != WNDL_OK)
        return false;
    uint64_t size = section->entry_size == SMALL ? SMALL : USUAL;
    uint64_t offset = addr.v - section->view.addr.v;
    offset -= offset % size;
    *entry = (struct wndl_symbol){
        .addr = {section->view.addr.v + offset},
        .size = size,
        .kind = WNDL_SYMBOL_FUNC,
    };
    return decode(wndl_bytes_slice(code, offset, size), entry->addr.v, stub);
}

enum wndl_status wndl_object_find_plt(struct wndl_object *object,
    wndl_svma addr, struct wndl_symbol *entry, struct wndl_error *err)
{
    struct stub stub;
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
