/* SPDX-License-Identifier: MIT */
#include "obj/core/object_impl.h"

#include <elf.h>
#include <string.h>

static struct wndl_object *new_object(
    struct wndl_bytes bytes, const char *path, struct wndl_mem *mem)
{
    struct wndl_object *object = wndl_mem_zalloc(mem, sizeof *object);
    if (object == NULL)
        return NULL;
    object->mem = mem;
    object->file = bytes;
    wndl_arena_init(&object->arena, mem);
    const char *name = path == NULL ? "" : path;
    object->path = wndl_arena_copy(&object->arena, name, strlen(name));
    if (object->path == NULL) {
        wndl_object_close(object);
        return NULL;
    }
    return object;
}

static const struct wndl_object_format *find_format(
    const struct wndl_object_format *const *formats, struct wndl_bytes file)
{
    while (formats[1] != NULL && !(*formats)->is(file))
        formats++;
    return *formats;
}

enum wndl_status wndl_object_open_any(
    const struct wndl_object_format *const *formats,
    const struct wndl_object_source *source, struct wndl_mem *mem,
    struct wndl_object **out, struct wndl_error *err)
{
    *out = NULL;
    struct wndl_object *object = new_object(source->bytes, source->path, mem);
    if (object == NULL)
        return wndl_fail(err, WNDL_NOMEM, "no memory for the file's tables");
    object->formats = formats;
    object->format = find_format(formats, source->bytes);
    enum wndl_status status = object->format->open(object, source->arch, err);
    if (status != WNDL_OK) {
        wndl_error_set_file(err, source->path);
        wndl_object_close(object);
        return status;
    }
    *out = object;
    return WNDL_OK;
}

/* False when memory is out. */
static bool fill_outline(
    struct wndl_object *object, const struct wndl_object_outline *outline)
{
    struct wndl_object_section *section =
        wndl_arena_alloc(&object->arena, sizeof *section);
    struct wndl_segment *segment =
        wndl_arena_alloc(&object->arena, sizeof *segment);
    const struct wndl_bytes id = outline->build_id;
    char *copy = wndl_arena_copy(&object->arena, id.data, id.size);
    if (section == NULL || segment == NULL || copy == NULL)
        return false;
    object->machine = outline->machine;
    object->address_size =
        outline->machine == EM_386 || outline->machine == EM_ARM ? 4 : 8;
    object->type = ET_DYN;
    object->build_id = (struct wndl_bytes){(const uint8_t *)copy, id.size};
    section->view.name.data = (const uint8_t *)outline->section;
    section->view.name.size = strlen(outline->section);
    section->view.size = section->stored_size = object->file.size;
    section->view.type = SHT_PROGBITS;
    section->added = true;
    object->section_count = 1;
    *segment = (struct wndl_segment){.addr = outline->code,
        .mem_size = outline->code_size,
        .executable = true};
    object->sections = section;
    object->segments = segment;
    object->segment_count = outline->code_size != 0;
    return true;
}

enum wndl_status wndl_object_open_outline(
    const struct wndl_object_outline *outline, struct wndl_mem *mem,
    struct wndl_object **out, struct wndl_error *err)
{
    struct wndl_object *object =
        new_object(outline->source->bytes, outline->source->path, mem);
    *out = NULL;
    if (object == NULL || !fill_outline(object, outline)) {
        wndl_object_close(object);
        return wndl_fail(err, WNDL_NOMEM, "no memory for the file's tables");
    }
    *out = object;
    return WNDL_OK;
}

enum wndl_status wndl_object_add_section(
    struct wndl_object *object, const char *name, struct wndl_bytes bytes)
{
    const size_t count = object->section_count;
    struct wndl_object_section *sections =
        wndl_arena_calloc(&object->arena, count + 1, sizeof *sections);
    uint8_t *own = wndl_mem_zalloc(object->mem, bytes.size + 1);
    if (sections == NULL || own == NULL) {
        wndl_mem_free(object->mem, own);
        return WNDL_NOMEM;
    }
    if (count != 0)
        memcpy(sections, object->sections, count * sizeof *sections);
    if (bytes.size != 0)
        memcpy(own, bytes.data, bytes.size);
    struct wndl_object_section *added = &sections[count];
    added->view.name = (struct wndl_bytes){(const uint8_t *)name, strlen(name)};
    added->view.type = SHT_PROGBITS;
    added->view.size = added->stored_size = bytes.size;
    added->own = own;
    added->added = true;
    object->sections = sections;
    object->section_count = count + 1;
    return WNDL_OK;
}

void wndl_object_close(struct wndl_object *object)
{
    if (object == NULL)
        return;
    for (size_t i = 0; i < object->section_count; i++)
        wndl_mem_free(object->mem, object->sections[i].own);
    wndl_object_close(object->inner);
    wndl_mem_free(object->mem, object->inner_bytes);
    wndl_arena_free(&object->arena);
    wndl_mem_free(object->mem, object);
}

const char *wndl_object_path(const struct wndl_object *object)
{
    return object->path;
}

bool wndl_object_is_big_endian(const struct wndl_object *object)
{
    return object->big_endian;
}

unsigned wndl_object_address_size(const struct wndl_object *object)
{
    return object->address_size;
}

uint16_t wndl_object_machine(const struct wndl_object *object)
{
    return object->machine;
}

bool wndl_object_is_image(const struct wndl_object *object)
{
    return object->type == ET_EXEC || object->type == ET_DYN;
}

bool wndl_object_is_relocatable(const struct wndl_object *object)
{
    return object->type == ET_REL;
}

wndl_svma wndl_object_image_base(const struct wndl_object *object)
{
    return object->image_base;
}

wndl_svma wndl_object_entry(const struct wndl_object *object)
{
    return object->entry;
}

struct wndl_bytes wndl_object_build_id(const struct wndl_object *object)
{
    return object->build_id;
}

size_t wndl_object_segment_count(const struct wndl_object *object)
{
    return object->segment_count;
}

struct wndl_segment wndl_object_segment(
    const struct wndl_object *object, size_t index)
{
    return object->segments[index];
}

struct wndl_bytes wndl_object_loaded_bytes(
    const struct wndl_object *object, wndl_svma addr)
{
    for (size_t i = 0; i < object->segment_count; i++) {
        const struct wndl_segment *segment = &object->segments[i];
        uint64_t in = addr.v - segment->addr.v;
        if (addr.v < segment->addr.v || in >= segment->file_size)
            continue;
        struct wndl_bytes all = wndl_bytes_slice(
            object->file, segment->file_offset, segment->file_size);
        return wndl_bytes_slice(all, in, segment->file_size - in);
    }
    return (struct wndl_bytes){0};
}

void wndl_object_note_damage(
    struct wndl_object *object, const struct wndl_error *damage)
{
    if (object->damage.status != WNDL_OK)
        return;
    object->damage = *damage;
    wndl_error_set_file(&object->damage, object->path);
}

static enum wndl_status copy_stored(struct wndl_object *object,
    struct wndl_object_section *section, struct wndl_error *err)
{
    struct wndl_bytes bytes;
    enum wndl_status status =
        wndl_object_stored_bytes(object, section, &bytes, err);
    if (status != WNDL_OK || bytes.size == 0)
        return status;
    section->own = object->mem->resize(object->mem, NULL, bytes.size);
    if (section->own == NULL)
        return wndl_fail(err, WNDL_NOMEM, "no memory to relocate");
    memcpy(section->own, bytes.data, bytes.size);
    return WNDL_OK;
}

/* Fills section->own if the stored bytes are compressed or need relocation. */
static enum wndl_status need_own(struct wndl_object *object,
    struct wndl_object_section *section, struct wndl_error *err)
{
    bool relocate = wndl_object_needs_relocation(object, section);
    enum wndl_status status = WNDL_OK;
    if (section->packing != WNDL_PACKING_NONE)
        status = wndl_object_inflate(object, section, err);
    else if (relocate)
        status = copy_stored(object, section, err);
    if (status == WNDL_OK && relocate)
        status = object->format->relocate(object, section, err);
    if (status != WNDL_OK)
        wndl_object_disown(object, section);
    return status;
}

static enum wndl_status section_bytes(struct wndl_object *object,
    struct wndl_object_section *section, struct wndl_bytes *bytes,
    struct wndl_error *err)
{
    enum wndl_status status = WNDL_OK;
    if (section->own == NULL)
        status = need_own(object, section, err);
    if (status != WNDL_OK || section->own == NULL)
        return status != WNDL_OK
                   ? status
                   : wndl_object_stored_bytes(object, section, bytes, err);
    *bytes = (struct wndl_bytes){section->own, (size_t)section->view.size};
    return WNDL_OK;
}

enum wndl_status wndl_object_section_bytes(struct wndl_object *object,
    const char *name, struct wndl_bytes *bytes, struct wndl_section *info,
    struct wndl_error *err)
{
    *bytes = (struct wndl_bytes){0};
    struct wndl_object_section *section =
        wndl_object_find_section(object, name);
    enum wndl_status status =
        section == NULL
            ? wndl_fail_at(err, WNDL_NOT_FOUND, name, 0, "no such section")
            : section_bytes(object, section, bytes, err);
    if (status != WNDL_OK)
        wndl_error_set_file(err, object->path);
    if (section != NULL && info != NULL)
        *info = section->view;
    return status;
}

const struct wndl_error *wndl_object_damage(const struct wndl_object *object)
{
    return object->damage.status == WNDL_OK ? NULL : &object->damage;
}

bool wndl_object_has_symtab(const struct wndl_object *object)
{
    return object->format != NULL && object->format->has_symtab(object);
}

static enum wndl_status read_functions(
    struct wndl_object *object, struct wndl_error *err)
{
    struct wndl_arena scratch;
    struct wndl_vec read;
    wndl_arena_init(&scratch, object->mem);
    wndl_vec_init(&read, &scratch, sizeof(struct wndl_function));
    enum wndl_status status =
        object->format == NULL
            ? wndl_fail(err, WNDL_NOT_FOUND, "no symbol table")
            : object->format->read_functions(object, &read, err);
    if (status == WNDL_OK && !wndl_functions_build(object, &read))
        status = wndl_fail(err, WNDL_NOMEM, "no memory for the symbols");
    wndl_arena_free(&scratch);
    return status;
}

/* A failure is kept too: the next try would fail in the same way. */
static enum wndl_status need_functions(
    struct wndl_object *object, struct wndl_error *err)
{
    struct wndl_functions *functions = &object->functions;
    if (!functions->tried) {
        functions->tried = true;
        functions->status = read_functions(object, &functions->error);
        wndl_error_set_file(&functions->error, object->path);
    }
    if (functions->status != WNDL_OK && err != NULL)
        *err = functions->error;
    return functions->status;
}

enum wndl_status wndl_object_find_function(struct wndl_object *object,
    wndl_svma addr, struct wndl_symbol *symbol, struct wndl_error *err)
{
    enum wndl_status status = need_functions(object, err);
    if (status != WNDL_OK)
        return status;
    if (!wndl_functions_find(&object->functions, addr, symbol))
        return wndl_fail(err, WNDL_NOT_FOUND, "no function at the address");
    return WNDL_OK;
}

enum wndl_status wndl_object_functions(struct wndl_object *object,
    const struct wndl_symbol **symbols, size_t *count, struct wndl_error *err)
{
    enum wndl_status status = need_functions(object, err);
    if (status == WNDL_OK && !wndl_functions_spell_out(object))
        status = wndl_fail(err, WNDL_NOMEM, "no memory for the symbols");
    *symbols = status == WNDL_OK ? object->functions.symbols : NULL;
    *count = status == WNDL_OK ? object->functions.count : 0;
    return status;
}
