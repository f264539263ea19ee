/* SPDX-License-Identifier: MIT */
/*
 * The functions of a PE file: COFF symbols, which Microsoft's linker leaves
 * out, or else exports. Neither has sizes: each reaches to the next.
 */
#include "obj/pe/impl.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { SYMBOL = 18, IN_FUNCTION = 0x20, EXTERNAL = 2, STATIC = 3, LABEL = 6 };

struct listing {
    struct wndl_object *object;
    struct wndl_vec *functions; /* struct wndl_function */
    uint64_t names_left;        /* bytes of names yet to be read */
};

static const struct wndl_object_section *code_at(
    const struct wndl_object *object, uint64_t address)
{
    for (size_t i = 0; i < object->section_count; i++) {
        const struct wndl_object_section *section = &object->sections[i];
        if ((section->view.flags & SHF_EXECINSTR) != 0 &&
            address - section->view.addr.v < section->view.size)
            return section;
    }
    return NULL;
}

/* The x of C is _x on i386. */
static bool push(
    struct listing *l, const struct wndl_function *from, const uint8_t *name)
{
    const struct wndl_object_section *section = code_at(l->object, from->start);
    if (section == NULL || name[0] == '\0' || name[0] == '.')
        return true;
    struct wndl_function *function = wndl_vec_push(l->functions);
    if (function == NULL)
        return false;
    *function = *from;
    function->end = section->view.addr.v + section->view.size;
    function->name =
        name + (l->object->machine == EM_386 && name[0] == '_' ? 1 : 0);
    function->order = (uint32_t)l->functions->len;
    function->has_size = true;
    function->is_open = true;
    return true;
}

/* Eight bytes, or an offset into the strings. NULL when memory is out. */
static const uint8_t *name_of(struct listing *l, const uint8_t bytes[8])
{
    struct wndl_cursor c =
        wndl_cursor_at((struct wndl_bytes){bytes, 8}, 0, false);
    if (wndl_cursor_u32(&c) != 0)
        return (const uint8_t *)wndl_arena_copy(
            &l->object->arena, bytes, strnlen((const char *)bytes, 8));
    struct wndl_bytes name =
        wndl_object_name_at(l->object->pe->strings, wndl_cursor_u32(&c));
    /* A name that does not end was read up to the longest length. */
    uint64_t cost = name.size != 0 ? name.size : UINT16_MAX;
    l->names_left -= cost < l->names_left ? cost : l->names_left;
    return name.data == NULL ? (const uint8_t *)"" : name.data;
}

static void note_endless_names(struct wndl_object *object, const char *where)
{
    struct wndl_error damage = {0};
    (void)wndl_fail_at(&damage, WNDL_MALFORMED, where, 0,
        "their names are longer than the file");
    wndl_object_note_damage(object, &damage);
}

/*
 * Linkers let symbols of the same name share its string, but real files have
 * far less shared text than code and symbols.
 */
static enum wndl_status add_symbols(struct listing *l)
{
    enum { SHARED = 4 };
    const struct wndl_object *object = l->object;
    l->names_left = SHARED * (uint64_t)object->file.size;
    struct wndl_cursor c = wndl_cursor_at(object->pe->symbols, 0, false);
    while (wndl_cursor_left(&c) >= SYMBOL) {
        const uint8_t *bytes = wndl_cursor_take(&c, 8);
        uint64_t value = wndl_cursor_u32(&c);
        uint16_t section = wndl_cursor_u16(&c);
        uint16_t type = wndl_cursor_u16(&c);
        uint8_t class = wndl_cursor_u8(&c);
        uint8_t more = wndl_cursor_u8(&c);
        wndl_cursor_skip(&c, (uint64_t)more * SYMBOL);
        bool is_function = (type & 0xf0) == IN_FUNCTION;
        if (section == 0 || section > object->section_count ||
            (class != EXTERNAL && class != STATIC && class != LABEL) ||
            (!is_function && more != 0))
            continue;
        const struct wndl_function function = {
            .start = object->sections[section - 1].view.addr.v + value,
            .kind = is_function || class == EXTERNAL ? WNDL_SYMBOL_FUNC
                                                     : WNDL_SYMBOL_OTHER,
            .binding = class == EXTERNAL ? STB_GLOBAL : STB_LOCAL,
        };
        if (code_at(object, function.start) == NULL)
            continue;
        const uint8_t *name = name_of(l, bytes);
        if (name == NULL || !push(l, &function, name))
            return WNDL_NOMEM;
        if (l->names_left == 0) {
            note_endless_names(l->object, "symbols");
            break;
        }
    }
    return WNDL_OK;
}

/*
 * A string of the image, which ends in its section; "" if there is none, or if
 * it is too long for a name.
 */
static const uint8_t *text_at(struct listing *l, uint32_t rva)
{
    struct wndl_bytes bytes = wndl_pe_loaded(l->object, rva);
    if (bytes.size > UINT16_MAX)
        bytes.size = UINT16_MAX;
    if (bytes.size > l->names_left)
        bytes.size = (size_t)l->names_left;
    struct wndl_bytes text = wndl_bytes_cstr(bytes, 0);
    l->names_left -= text.data == NULL ? bytes.size : text.size + 1;
    return text.data == NULL ? (const uint8_t *)"" : text.data;
}

static uint32_t number_at(struct wndl_bytes list, uint64_t index, unsigned size)
{
    struct wndl_cursor c = wndl_cursor_at(list, index * size, false);
    uint64_t number = wndl_cursor_uint(&c, size);
    return c.failed ? UINT32_MAX : (uint32_t)number;
}

/*
 * Names, the number of each, and addresses by number. An address inside the
 * exports themselves is the name of another library's function. Each export has
 * a name of its own, so that all names together are no longer than the file.
 */
static enum wndl_status add_exports(struct listing *l)
{
    const struct wndl_object *object = l->object;
    struct wndl_pe_part part = object->pe->exports;
    struct wndl_cursor c =
        wndl_cursor_at(wndl_pe_loaded(object, part.rva), 24, false);
    uint32_t count = wndl_cursor_u32(&c);
    struct wndl_bytes addresses = wndl_pe_loaded(object, wndl_cursor_u32(&c));
    struct wndl_bytes names = wndl_pe_loaded(object, wndl_cursor_u32(&c));
    struct wndl_bytes numbers = wndl_pe_loaded(object, wndl_cursor_u32(&c));
    if (part.size == 0 || c.failed)
        return WNDL_OK;
    l->names_left = object->file.size;
    for (uint32_t i = 0; i < count && i < names.size / 4; i++) {
        uint32_t number = number_at(numbers, i, 2);
        uint32_t rva =
            number == UINT32_MAX ? UINT32_MAX : number_at(addresses, number, 4);
        const struct wndl_function function = {
            .start = object->image_base.v + rva,
            .kind = WNDL_SYMBOL_FUNC,
            .binding = STB_GLOBAL,
        };
        if (rva == UINT32_MAX || rva - part.rva < part.size)
            continue;
        if (!push(l, &function, text_at(l, number_at(names, i, 4))))
            return WNDL_NOMEM;
        if (l->names_left == 0) {
            note_endless_names(l->object, "exports");
            break;
        }
    }
    return WNDL_OK;
}

static int compare_functions(const void *left, const void *right)
{
    const struct wndl_function *a = left;
    const struct wndl_function *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/*
 * Each function ends where the next one begins. A label inside a function does
 * not end it.
 */
static void settle_ends(struct wndl_vec *functions)
{
    struct wndl_function *list = functions->data;
    uint64_t next[2] = {UINT64_MAX, UINT64_MAX}; /* function, anything */
    uint64_t at = UINT64_MAX;
    if (functions->len > 1)
        qsort(list, functions->len, sizeof *list, compare_functions);
    uint64_t last[2] = {UINT64_MAX, UINT64_MAX};
    for (size_t i = functions->len; i-- > 0;) {
        bool is_function = list[i].kind == WNDL_SYMBOL_FUNC;
        if (list[i].start != at) {
            next[0] = last[0];
            next[1] = last[1];
            at = list[i].start;
        }
        if (list[i].end > next[!is_function])
            list[i].end = next[!is_function];
        if (is_function)
            last[0] = at;
        last[1] = at;
    }
}

enum wndl_status wndl_pe_read_functions(struct wndl_object *object,
    struct wndl_vec *functions, struct wndl_error *err)
{
    struct listing l = {.object = object, .functions = functions};
    enum wndl_status status = add_symbols(&l);
    if (status == WNDL_OK && functions->len == 0)
        status = add_exports(&l);
    if (status != WNDL_OK)
        return wndl_fail(err, status, "no memory for the symbols");
    settle_ends(functions);
    return functions->len == 0
               ? wndl_fail(err, WNDL_NOT_FOUND, "no symbols of functions")
               : WNDL_OK;
}

bool wndl_pe_has_symtab(const struct wndl_object *object)
{
    return object->pe->symbols.size != 0;
}
