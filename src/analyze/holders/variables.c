/* SPDX-License-Identifier: MIT */
#include "analyze/holders/variables.h"

#include "base/search.h"
#include "model/profile.h"
#include "obj/core/object.h"
#include "os/file.h"

#include <stdlib.h>
#include <string.h>

struct variable {
    uint64_t start, size;
    struct wndl_bytes name;
};

struct variable_module {
    struct wndl_bytes path;
    struct wndl_vec variables; /* struct variable, by start */
};

/* ---- reading */

/* A name is copied, because the file is closed. */
static bool add(void *context, const struct wndl_symbol *symbol)
{
    struct wndl_vec *to = context;
    const char *name =
        wndl_arena_copy(to->arena, symbol->name.data, symbol->name.size);
    struct variable *v = name == NULL ? NULL : wndl_vec_push(to);
    if (v == NULL)
        return false;
    *v = (struct variable){
        .start = symbol->addr.v,
        .size = symbol->size,
        .name = {(const uint8_t *)name, symbol->name.size},
    };
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct variable *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* Whether the object is the image that was recorded under the path. */
static bool is_recorded(const struct wndl_profile *p, struct wndl_bytes path,
    const struct wndl_object *object)
{
    const struct wndl_bytes id = wndl_object_build_id(object);
    const struct wndl_image *images = p->images.data;
    for (size_t i = 0; i < p->images.len; i++) {
        if (images[i].path.size == path.size &&
            memcmp(images[i].path.data, path.data, path.size) == 0)
            return images[i].build_id.size == 0 ||
                   (images[i].build_id.size == id.size &&
                       memcmp(images[i].build_id.data, id.data, id.size) == 0);
    }
    return true;
}

/* A file that cannot be read has no variables. */
static void read_file(struct wndl_variable_names *names,
    struct variable_module *module, const char *path)
{
    struct wndl_error err = {0};
    struct wndl_object *object;
    struct wndl_file file;
    if (wndl_file_open(path, &file, &err) != WNDL_OK)
        return;
    if (wndl_object_open(file.bytes, path, names->arena.mem, &object, &err) ==
        WNDL_OK) {
        if (is_recorded(names->profile, module->path, object) &&
            wndl_object_each_variable(object, add, &module->variables, &err) ==
                WNDL_OK &&
            module->variables.len != 0)
            qsort(module->variables.data, module->variables.len,
                module->variables.element, compare);
        wndl_object_close(object);
    }
    wndl_file_close(&file);
}

static const struct variable_module *module_of(
    struct wndl_variable_names *names, struct wndl_bytes path)
{
    const struct variable_module *known = names->modules.data;
    for (size_t i = 0; i < names->modules.len; i++) {
        if (known[i].path.size == path.size &&
            memcmp(known[i].path.data, path.data, path.size) == 0)
            return &known[i];
    }
    const char *text = wndl_arena_copy(&names->arena, path.data, path.size);
    struct variable_module *added =
        text == NULL ? NULL : wndl_vec_push(&names->modules);
    if (added == NULL)
        return NULL;
    added->path = (struct wndl_bytes){(const uint8_t *)text, path.size};
    wndl_vec_init(&added->variables, &names->arena, sizeof(struct variable));
    read_file(names, added, text);
    return added;
}

/* ---- finding */

static bool find(void *context, struct wndl_bytes path, uint64_t svma,
    struct wndl_heap_root *variable)
{
    const struct variable_module *module = module_of(context, path);
    if (module == NULL || module->variables.len == 0)
        return false;
    const struct variable *all = module->variables.data;
    const size_t after = wndl_search_up_to(
        &all->start, sizeof *all, module->variables.len, svma);
    if (after == 0 || svma - all[after - 1].start >= all[after - 1].size)
        return false;
    variable->svma = all[after - 1].start;
    variable->size = all[after - 1].size;
    variable->name = all[after - 1].name;
    return true;
}

void wndl_variable_names_init(struct wndl_variable_names *names,
    const struct wndl_profile *profile, struct wndl_mem *mem)
{
    names->profile = profile;
    wndl_arena_init(&names->arena, mem);
    wndl_vec_init(
        &names->modules, &names->arena, sizeof(struct variable_module));
}

void wndl_variable_names_free(struct wndl_variable_names *names)
{
    wndl_arena_free(&names->arena);
}

struct wndl_heap_variables wndl_variable_names_finder(
    struct wndl_variable_names *names)
{
    return (struct wndl_heap_variables){find, names};
}
