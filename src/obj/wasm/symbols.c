/* SPDX-License-Identifier: MIT */
/*
 * Functions of modules. Bodies have a place and an end, and are counted after
 * the imported functions; names belong to those numbers (Core Specification
 * 2.0, 5.5.5, 5.5.13 and 7.4.1; tool conventions, "Linking").
 */
#include "obj/wasm/impl.h"

#include <elf.h>
#include <string.h>

static const char NAMES[] = "name";
static const char LINKING[] = "linking";

/* Kinds of imports, exports and symbols. */
enum { FUNCTION = 0, TABLE = 1, MEMORY = 2, GLOBAL = 3, TAG = 4 };

/* Flags of limits: of tables and memories. */
enum { HAS_MOST = 1, HAS_PAGE_SIZE = 8 };

/* Value types with a type of the heap after them. */
enum { REF_NULL = 0x63, REF = 0x64 };

/* Subsections. */
enum { FUNCTION_NAMES = 1, SYMBOL_TABLE = 8 };

/* Symbols of object files. */
enum {
    SYMBOL_DATA = 1,
    SYMBOL_SECTION = 3,
    BINDING_LOCAL = 0x02,
    UNDEFINED = 0x10,
    EXPLICIT_NAME = 0x40,
};

/* A function with code in the module. */
struct body {
    uint64_t start; /* after its size, where DWARF has it begin */
    uint64_t end;
    struct wndl_bytes name;
    bool is_local;
};

struct reading {
    struct wndl_object *object;
    struct wndl_vec bodies; /* struct body */
    uint64_t imported;      /* the number of functions */
};

static void skip_type(struct wndl_cursor *c)
{
    uint8_t type = wndl_cursor_u8(c);
    if (type == REF_NULL || type == REF)
        (void)wndl_cursor_sleb(c);
}

static void skip_limits(struct wndl_cursor *c)
{
    uint64_t flags = wndl_cursor_uleb(c);
    (void)wndl_cursor_uleb(c);
    if ((flags & HAS_MOST) != 0)
        (void)wndl_cursor_uleb(c);
    if ((flags & HAS_PAGE_SIZE) != 0)
        (void)wndl_cursor_uleb(c);
}

/* Skips what is imported. Kinds that came later than this reader fail. */
static void skip_import(struct wndl_cursor *c, uint8_t kind)
{
    switch (kind) {
    case FUNCTION:
        (void)wndl_cursor_uleb(c);
        break;
    case TABLE:
        skip_type(c);
        skip_limits(c);
        break;
    case MEMORY:
        skip_limits(c);
        break;
    case GLOBAL:
        skip_type(c);
        (void)wndl_cursor_u8(c);
        break;
    case TAG:
        (void)wndl_cursor_u8(c);
        (void)wndl_cursor_uleb(c);
        break;
    default:
        wndl_cursor_fail(c);
        break;
    }
}

/* False if imports are damaged: no function's number is known then. */
static bool count_imports(struct reading *r)
{
    struct wndl_bytes imports = r->object->wasm->imports;
    struct wndl_cursor c = wndl_cursor_at(imports, 0, false);
    if (imports.size == 0)
        return true;
    uint64_t count = wndl_cursor_uleb(&c);
    for (uint64_t i = 0; i < count && !c.failed; i++) {
        (void)wndl_wasm_take_name(&c);
        (void)wndl_wasm_take_name(&c);
        uint8_t kind = wndl_cursor_u8(&c);
        skip_import(&c, kind);
        if (kind == FUNCTION)
            r->imported++;
    }
    if (c.failed)
        wndl_wasm_note(r->object, "import", imports, &c,
            "imports that cannot be counted: functions have no names");
    return !c.failed;
}

static enum wndl_status read_bodies(struct reading *r)
{
    struct wndl_bytes code = r->object->wasm->code;
    struct wndl_cursor c = wndl_cursor_at(code, 0, false);
    uint64_t count = wndl_cursor_uleb(&c);
    for (uint64_t i = 0; i < count && !c.failed; i++) {
        struct wndl_cursor body = c;
        uint64_t size = wndl_cursor_uleb(&c);
        uint64_t start = wndl_cursor_offset(&c);
        wndl_cursor_skip(&c, size);
        if (c.failed) {
            wndl_wasm_note(r->object, ".text", code, &body,
                "a function reaches past the end of the code");
            break;
        }
        struct body *slot = wndl_vec_push(&r->bodies);
        if (slot == NULL)
            return WNDL_NOMEM;
        *slot = (struct body){.start = start, .end = start + size};
    }
    return WNDL_OK;
}

/* Names a function by its number, unless it has a name. */
static void name_function(
    struct reading *r, uint64_t number, struct wndl_bytes name, bool is_local)
{
    if (name.size == 0 || name.data[0] == '\0' || number < r->imported ||
        number - r->imported >= r->bodies.len)
        return;
    struct body *body = wndl_vec_at(&r->bodies, (size_t)(number - r->imported));
    if (body->name.size != 0)
        return;
    body->name = name;
    body->is_local = is_local;
}

/*
 * The contents of the first subsection of this kind, after `from`; empty if
 * there is none.
 */
static struct wndl_bytes find_subsection(struct reading *r,
    struct wndl_bytes all, uint64_t from, const char *section, uint8_t wanted)
{
    struct wndl_cursor c = wndl_cursor_at(all, from, false);
    while (wndl_cursor_left(&c) != 0) {
        struct wndl_cursor start = c;
        uint8_t kind = wndl_cursor_u8(&c);
        struct wndl_bytes contents = wndl_wasm_take_name(&c);
        if (c.failed)
            wndl_wasm_note(r->object, section, all, &start,
                "a subsection reaches past the end of its section");
        else if (kind == wanted)
            return contents;
    }
    return (struct wndl_bytes){0};
}

static void read_names(struct reading *r)
{
    struct wndl_bytes names =
        find_subsection(r, r->object->wasm->names, 0, NAMES, FUNCTION_NAMES);
    struct wndl_cursor c = wndl_cursor_at(names, 0, false);
    uint64_t count = names.size == 0 ? 0 : wndl_cursor_uleb(&c);
    for (uint64_t i = 0; i < count && !c.failed; i++) {
        uint64_t number = wndl_cursor_uleb(&c);
        struct wndl_bytes name = wndl_wasm_take_name(&c);
        if (!c.failed)
            name_function(r, number, name, false);
    }
    if (c.failed)
        wndl_wasm_note(
            r->object, NAMES, names, &c, "names reach past their section");
}

/* Reads a symbol of a function, global, tag or table. */
static void read_indexed_symbol(
    struct reading *r, struct wndl_cursor *c, uint8_t kind, uint64_t flags)
{
    uint64_t number = wndl_cursor_uleb(c);
    if ((flags & UNDEFINED) != 0 && (flags & EXPLICIT_NAME) == 0)
        return;
    struct wndl_bytes name = wndl_wasm_take_name(c);
    if (kind == FUNCTION && !c->failed)
        name_function(r, number, name, (flags & BINDING_LOCAL) != 0);
}

static void read_symbol(struct reading *r, struct wndl_cursor *c)
{
    uint8_t kind = wndl_cursor_u8(c);
    uint64_t flags = wndl_cursor_uleb(c);
    if (kind == SYMBOL_SECTION) {
        (void)wndl_cursor_uleb(c);
        return;
    }
    if (kind != SYMBOL_DATA) {
        read_indexed_symbol(r, c, kind, flags);
        return;
    }
    (void)wndl_wasm_take_name(c);
    for (int i = 0; i < 3 && (flags & UNDEFINED) == 0; i++)
        (void)wndl_cursor_uleb(c); /* segment, offset, size */
}

static void read_linking(struct reading *r)
{
    struct wndl_bytes linking = r->object->wasm->linking;
    struct wndl_cursor version = wndl_cursor_at(linking, 0, false);
    if (linking.size == 0)
        return;
    (void)wndl_cursor_uleb(&version);
    struct wndl_bytes symbols = find_subsection(
        r, linking, wndl_cursor_offset(&version), LINKING, SYMBOL_TABLE);
    struct wndl_cursor c = wndl_cursor_at(symbols, 0, false);
    uint64_t count = symbols.size == 0 ? 0 : wndl_cursor_uleb(&c);
    for (uint64_t i = 0; i < count && !c.failed; i++)
        read_symbol(r, &c);
    if (c.failed)
        wndl_wasm_note(r->object, LINKING, symbols, &c,
            "symbols reach past their section");
}

static void read_exports(struct reading *r)
{
    struct wndl_bytes exports = r->object->wasm->exports;
    struct wndl_cursor c = wndl_cursor_at(exports, 0, false);
    uint64_t count = exports.size == 0 ? 0 : wndl_cursor_uleb(&c);
    for (uint64_t i = 0; i < count && !c.failed; i++) {
        struct wndl_bytes name = wndl_wasm_take_name(&c);
        uint8_t kind = wndl_cursor_u8(&c);
        uint64_t number = wndl_cursor_uleb(&c);
        if (kind == FUNCTION && !c.failed)
            name_function(r, number, name, false);
    }
    if (c.failed)
        wndl_wasm_note(r->object, "export", exports, &c,
            "exports reach past their section");
}

/* Names of modules have no NUL at their end; one inside ends them. */
static enum wndl_status push(struct reading *r, struct wndl_vec *functions)
{
    for (size_t i = 0; i < r->bodies.len; i++) {
        const struct body *body = wndl_vec_at(&r->bodies, i);
        if (body->name.size == 0)
            continue;
        struct wndl_function *function = wndl_vec_push(functions);
        char *name = wndl_arena_copy(
            &r->object->arena, body->name.data, body->name.size);
        if (function == NULL || name == NULL)
            return WNDL_NOMEM;
        *function = (struct wndl_function){
            .start = body->start,
            .end = body->end,
            .name = (const uint8_t *)name,
            .order = (uint32_t)i,
            .kind = WNDL_SYMBOL_FUNC,
            .binding = body->is_local ? STB_LOCAL : STB_GLOBAL,
            .has_size = true,
        };
    }
    return WNDL_OK;
}

bool wndl_wasm_has_symtab(const struct wndl_object *object)
{
    return object->wasm->names.size != 0 || object->wasm->linking.size != 0;
}

enum wndl_status wndl_wasm_read_functions(struct wndl_object *object,
    struct wndl_vec *functions, struct wndl_error *err)
{
    struct wndl_arena scratch;
    struct reading r = {.object = object};
    if (object->wasm->code.size == 0)
        return wndl_fail(err, WNDL_NOT_FOUND, "no section of code");
    wndl_arena_init(&scratch, object->mem);
    wndl_vec_init(&r.bodies, &scratch, sizeof(struct body));
    enum wndl_status status = read_bodies(&r);
    if (status == WNDL_OK && count_imports(&r)) {
        read_names(&r);
        read_linking(&r);
        read_exports(&r);
        status = push(&r, functions);
    }
    wndl_arena_free(&scratch);
    if (status != WNDL_OK)
        return wndl_fail(err, status, "no memory for the symbols");
    return WNDL_OK;
}
