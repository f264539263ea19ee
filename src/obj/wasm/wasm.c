/* SPDX-License-Identifier: MIT */
/*
 * Sections of modules (WebAssembly Core Specification 2.0, 5.5), and the custom
 * ones of the tool conventions: "build_id" and "external_debug_info".
 */
#include "obj/wasm/impl.h"

#include "base/text.h"

#include <elf.h>
#include <string.h>

static const char HEADER[] = "WebAssembly header";
static const char SECTIONS[] = "sections";

static const char MAGIC[4] = {0, 'a', 's', 'm'};

enum { HEADER_SIZE = 8, VERSION = 1 };

/* Identifiers of sections. */
enum { CUSTOM = 0, IMPORTS = 2, EXPORTS = 7, CODE = 10 };

bool wndl_wasm_is(struct wndl_bytes bytes)
{
    return bytes.size >= sizeof MAGIC &&
           memcmp(bytes.data, MAGIC, sizeof MAGIC) == 0;
}

bool wndl_object_is_wasm(const struct wndl_object *object)
{
    return object->wasm != NULL;
}

struct wndl_bytes wndl_wasm_external(const struct wndl_object *object)
{
    return object->wasm == NULL ? (struct wndl_bytes){0}
                                : object->wasm->external;
}

bool wndl_wasm_same_code(
    const struct wndl_object *a, const struct wndl_object *b)
{
    return a->wasm != NULL && b->wasm != NULL && a->wasm->code.size != 0 &&
           wndl_bytes_equal(a->wasm->code, b->wasm->code);
}

struct wndl_bytes wndl_wasm_take_name(struct wndl_cursor *c)
{
    uint64_t size = wndl_cursor_uleb(c);
    const uint8_t *data = wndl_cursor_take(c, size);
    if (c->failed)
        return (struct wndl_bytes){0};
    return (struct wndl_bytes){data, (size_t)size};
}

void wndl_wasm_note(struct wndl_object *object, const char *section,
    struct wndl_bytes contents, const struct wndl_cursor *at, const char *what)
{
    struct wndl_error damage = {0};
    uint64_t offset = wndl_cursor_offset(at);
    if (contents.data != NULL)
        offset += (uint64_t)(contents.data - object->file.data);
    (void)wndl_fail_at(&damage, WNDL_MALFORMED, section, offset, what);
    wndl_object_note_damage(object, &damage);
}

static struct wndl_bytes rest_of(const struct wndl_cursor *c)
{
    return (struct wndl_bytes){c->next, wndl_cursor_left(c)};
}

/* A section that was read: its contents, and of a custom one, its name. */
struct found {
    struct wndl_bytes contents;
    struct wndl_bytes name;
    uint8_t id;
};

static enum wndl_status add_section(struct wndl_object *object,
    struct wndl_vec *sections, const struct found *found)
{
    bool code = found->id == CODE;
    struct wndl_object_section *section = wndl_vec_push(sections);
    char *name = code ? wndl_arena_copy(&object->arena, ".text", 5)
                      : wndl_arena_copy(
                            &object->arena, found->name.data, found->name.size);
    if (section == NULL || name == NULL)
        return WNDL_NOMEM;
    section->view = (struct wndl_section){
        .name = {(const uint8_t *)name, code ? 5 : found->name.size},
        .size = found->contents.size,
        .offset = (uint64_t)(found->contents.data - object->file.data),
        .type = SHT_PROGBITS,
        .flags = code ? SHF_ALLOC | SHF_EXECINSTR : 0,
    };
    section->stored_size = found->contents.size;
    return WNDL_OK;
}

static enum wndl_status add_code(
    struct wndl_object *object, const struct found *found)
{
    object->wasm->code = found->contents;
    object->segments =
        wndl_arena_alloc(&object->arena, sizeof *object->segments);
    if (object->segments == NULL)
        return WNDL_NOMEM;
    *object->segments = (struct wndl_segment){
        .mem_size = found->contents.size,
        .file_offset = (uint64_t)(found->contents.data - object->file.data),
        .file_size = found->contents.size,
        .executable = true,
    };
    object->segment_count = 1;
    return WNDL_OK;
}

static void take_custom(struct wndl_object *object, const struct found *found)
{
    struct wndl_wasm *wasm = object->wasm;
    struct wndl_cursor c = wndl_cursor_at(found->contents, 0, false);
    if (wndl_bytes_is(found->name, "name"))
        wasm->names = found->contents;
    else if (wndl_bytes_is(found->name, "build_id"))
        object->build_id = wndl_wasm_take_name(&c);
    else if (wndl_bytes_is(found->name, "external_debug_info"))
        wasm->external = wndl_wasm_take_name(&c);
    else if (wndl_bytes_is(found->name, "linking")) {
        wasm->linking = found->contents;
        object->type = ET_REL;
    } else if (wndl_bytes_start_with(found->name, "dylink"))
        object->type = ET_DYN;
}

/* Takes over what the section is for. A second section of code is refused. */
static enum wndl_status take_section(struct wndl_object *object,
    struct wndl_vec *sections, const struct found *found)
{
    struct wndl_wasm *wasm = object->wasm;
    enum wndl_status status = WNDL_OK;
    if (found->id == CUSTOM)
        take_custom(object, found);
    else if (found->id == IMPORTS)
        wasm->imports = found->contents;
    else if (found->id == EXPORTS)
        wasm->exports = found->contents;
    else if (found->id != CODE)
        return WNDL_OK;
    if (found->id == CODE && object->segment_count != 0)
        return WNDL_MALFORMED;
    if (found->id == CODE)
        status = add_code(object, found);
    if (status == WNDL_OK && (found->id == CUSTOM || found->id == CODE))
        status = add_section(object, sections, found);
    return status;
}

/* The section at `c`, which moves to the next. NULL, or what is wrong. */
static const char *read_section(struct wndl_cursor *c, struct found *found)
{
    *found = (struct found){.id = wndl_cursor_u8(c)};
    uint64_t size = wndl_cursor_uleb(c);
    if (c->failed)
        return "the file ends inside a section's size";
    struct wndl_cursor body = wndl_cursor_sub(c, size);
    if (c->failed)
        return "a section reaches past the end of the file";
    if (found->id == CUSTOM)
        found->name = wndl_wasm_take_name(&body);
    if (body.failed)
        return "a custom section's name reaches past its end";
    found->contents = rest_of(&body);
    return NULL;
}

/*
 * Reads up to the first section that is damaged: nothing says where the one
 * after it begins.
 */
static enum wndl_status read_sections(
    struct wndl_object *object, struct wndl_vec *sections)
{
    struct wndl_cursor c = wndl_cursor_at(object->file, HEADER_SIZE, false);
    while (wndl_cursor_left(&c) != 0) {
        struct found found;
        struct wndl_cursor start = c;
        const char *wrong = read_section(&c, &found);
        enum wndl_status status = wrong != NULL
                                      ? WNDL_MALFORMED
                                      : take_section(object, sections, &found);
        if (status == WNDL_NOMEM)
            return status;
        if (status != WNDL_OK)
            wndl_wasm_note(object, SECTIONS, object->file, &start,
                wrong != NULL ? wrong : "there is a second section of code");
        if (wrong != NULL)
            break;
    }
    return WNDL_OK;
}

static enum wndl_status read_header(
    struct wndl_object *object, struct wndl_error *err)
{
    struct wndl_cursor c = wndl_cursor_at(object->file, sizeof MAGIC, false);
    uint16_t version = wndl_cursor_u16(&c);
    uint16_t layer = wndl_cursor_u16(&c);
    if (c.failed)
        return wndl_fail_at(err, WNDL_TRUNCATED, HEADER, object->file.size,
            "the file ends inside the header");
    if (layer != 0)
        return wndl_fail_at(err, WNDL_UNSUPPORTED, HEADER, sizeof MAGIC,
            "a component, or another layer of WebAssembly, and not a module");
    if (version != VERSION)
        return wndl_fail_at(err, WNDL_UNSUPPORTED, HEADER, sizeof MAGIC,
            "a version of WebAssembly other than 1");
    return WNDL_OK;
}

enum wndl_status wndl_wasm_open(
    struct wndl_object *object, const char *arch, struct wndl_error *err)
{
    (void)arch;
    struct wndl_vec sections;
    enum wndl_status status = read_header(object, err);
    if (status != WNDL_OK)
        return status;
    object->wasm = wndl_arena_alloc(&object->arena, sizeof *object->wasm);
    if (object->wasm == NULL)
        return wndl_fail(err, WNDL_NOMEM, "no memory for the file's tables");
    object->address_size = 4;
    object->type = ET_EXEC;
    wndl_vec_init(
        &sections, &object->arena, sizeof(struct wndl_object_section));
    status = read_sections(object, &sections);
    object->sections = sections.data;
    object->section_count = sections.len;
    if (status != WNDL_OK)
        return wndl_fail(err, status, "no memory for the file's tables");
    return WNDL_OK;
}
