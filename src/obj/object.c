/* SPDX-License-Identifier: MIT */
#include "obj/object_impl.h"

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

enum wndl_status wndl_object_open(struct wndl_bytes bytes, const char *path,
    struct wndl_mem *mem, struct wndl_object **out, struct wndl_error *err)
{
    *out = NULL;
    struct wndl_object *object = new_object(bytes, path, mem);
    if (object == NULL)
        return wndl_fail(err, WNDL_NOMEM, "no memory for the file's tables");
    enum wndl_status status = wndl_elf_open(object, err);
    if (status != WNDL_OK) {
        wndl_error_set_file(err, path);
        wndl_object_close(object);
        return status;
    }
    *out = object;
    return WNDL_OK;
}

void wndl_object_close(struct wndl_object *object)
{
    if (object == NULL)
        return;
    for (size_t i = 0; i < object->section_count; i++)
        wndl_mem_free(object->mem, object->sections[i].inflated);
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

wndl_svma wndl_object_image_base(const struct wndl_object *object)
{
    return object->image_base;
}

struct wndl_bytes wndl_object_build_id(const struct wndl_object *object)
{
    return object->build_id;
}

size_t wndl_object_section_count(const struct wndl_object *object)
{
    return object->section_count;
}

struct wndl_section wndl_object_section(
    const struct wndl_object *object, size_t index)
{
    return object->sections[index].view;
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

enum wndl_status wndl_object_stored_bytes(const struct wndl_object *object,
    const struct wndl_object_section *section, struct wndl_bytes *bytes,
    struct wndl_error *err)
{
    *bytes = (struct wndl_bytes){0};
    if (section->view.type == SHT_NOBITS || section->view.type == SHT_NULL)
        return wndl_fail_at(err, WNDL_NOT_FOUND,
            (const char *)section->view.name.data, 0,
            "the section has no bytes in this file");
    if (section->stored_size == 0)
        return WNDL_OK;
    *bytes = wndl_bytes_slice(
        object->file, section->view.offset, section->stored_size);
    if (bytes->size == 0)
        return wndl_fail_at(err, WNDL_TRUNCATED,
            (const char *)section->view.name.data, 0,
            "the section reaches past the end of the file");
    return WNDL_OK;
}

/* ".zdebug_info" answers to ".debug_info". */
static bool section_is(
    const struct wndl_object_section *section, const char *name)
{
    struct wndl_bytes own = section->view.name;
    if (section->packing != WNDL_PACKING_ZDEBUG)
        return wndl_bytes_is(own, name);
    return name[0] == '.' &&
           wndl_bytes_is(wndl_bytes_slice(own, 2, own.size - 2), name + 1);
}

static struct wndl_object_section *find_section(
    const struct wndl_object *object, const char *name)
{
    for (size_t i = 0; i < object->section_count; i++)
        if (section_is(&object->sections[i], name))
            return &object->sections[i];
    return NULL;
}

static enum wndl_status section_bytes(struct wndl_object *object,
    struct wndl_object_section *section, struct wndl_bytes *bytes,
    struct wndl_error *err)
{
    if (section->packing == WNDL_PACKING_NONE)
        return wndl_object_stored_bytes(object, section, bytes, err);
    enum wndl_status status = wndl_object_inflate(object, section, err);
    if (status == WNDL_OK)
        *bytes =
            (struct wndl_bytes){section->inflated, (size_t)section->view.size};
    return status;
}

enum wndl_status wndl_object_section_bytes(struct wndl_object *object,
    const char *name, struct wndl_bytes *bytes, struct wndl_section *info,
    struct wndl_error *err)
{
    *bytes = (struct wndl_bytes){0};
    struct wndl_object_section *section = find_section(object, name);
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

static enum wndl_status read_functions(
    struct wndl_object *object, struct wndl_error *err)
{
    struct wndl_arena scratch;
    struct wndl_vec candidates;
    wndl_arena_init(&scratch, object->mem);
    wndl_vec_init(&candidates, &scratch, sizeof(struct wndl_candidate));
    enum wndl_status status = wndl_elf_read_functions(object, &candidates, err);
    if (status == WNDL_OK && !wndl_functions_build(object, &candidates))
        status = wndl_fail(err, WNDL_NOMEM, "no memory for the symbols");
    wndl_arena_free(&scratch);
    return status;
}

/* A failure is kept too: it would be the same the next time. */
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
    const struct wndl_symbol *found =
        wndl_functions_find(&object->functions, addr);
    if (found == NULL)
        return wndl_fail(err, WNDL_NOT_FOUND, "no function at the address");
    *symbol = *found;
    return WNDL_OK;
}

enum wndl_status wndl_object_functions(struct wndl_object *object,
    const struct wndl_symbol **symbols, size_t *count, struct wndl_error *err)
{
    enum wndl_status status = need_functions(object, err);
    *symbols = status == WNDL_OK ? object->functions.functions : NULL;
    *count = status == WNDL_OK ? object->functions.function_count : 0;
    return status;
}
