/* SPDX-License-Identifier: MIT */
#include "cli/addr2line/modules.h"

#include "cli/core/command.h"
#include "cli/symbols/sym_open.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* With more modules than these, the one whose use is longest ago is closed. */
enum { MOST_OPEN = 64 };

struct wndl_module {
    struct wndl_module *next;
    char *name;
    bool is_build_id;
    struct wndl_sym_options o;
    struct wndl_sym_opening opening;
    struct wndl_symbolizer *symbols;
};

static void close_module(struct wndl_module *module)
{
    wndl_symbolizer_close(module->symbols);
    free(module->name);
    free(module);
}

static bool is_readable(const char *path)
{
    if (access(path, R_OK) == 0)
        return true;
    wndl_cli_error("error: '%s': %s", path, strerror(errno));
    return false;
}

static bool read_build_id(struct wndl_module *module)
{
    if (wndl_sym_read_build_id(&module->opening))
        return true;
    wndl_cli_error("error: '%s': wrong format of build-id", module->name);
    return false;
}

static bool open_module(struct wndl_module *module)
{
    module->opening.o = &module->o;
    module->o.path = module->is_build_id ? NULL : module->name;
    module->o.build_id = module->is_build_id ? module->name : NULL;
    if (!(module->is_build_id ? read_build_id(module)
                              : is_readable(module->name)))
        return false;
    module->symbols = wndl_sym_open(&module->opening);
    return module->symbols != NULL;
}

static struct wndl_module *new_module(
    const struct wndl_sym_options *o, const char *name, bool is_build_id)
{
    struct wndl_module *module = calloc(1, sizeof *module);
    if (module == NULL || (module->name = strdup(name)) == NULL) {
        wndl_cli_error("error: out of memory");
        free(module);
        return NULL;
    }
    module->o = *o;
    module->is_build_id = is_build_id;
    if (open_module(module))
        return module;
    close_module(module);
    return NULL;
}

/* Takes a module out of the list; NULL if it is not there. */
static struct wndl_module *take_module(
    struct wndl_modules *modules, const char *name, bool is_build_id)
{
    struct wndl_module **at = &modules->first;
    while (*at != NULL && ((*at)->is_build_id != is_build_id ||
                              strcmp((*at)->name, name) != 0))
        at = &(*at)->next;
    struct wndl_module *found = *at;
    if (found != NULL)
        *at = found->next;
    return found;
}

static void close_after(struct wndl_module **at)
{
    while (*at != NULL) {
        struct wndl_module *module = *at;
        *at = module->next;
        close_module(module);
    }
}

static void close_oldest(struct wndl_modules *modules)
{
    struct wndl_module **at = &modules->first;
    for (size_t i = 0; i < MOST_OPEN && *at != NULL; i++)
        at = &(*at)->next;
    close_after(at);
}

struct wndl_symbolizer *wndl_modules_find(
    struct wndl_modules *modules, const char *name, bool is_build_id)
{
    struct wndl_module *module = take_module(modules, name, is_build_id);
    if (module == NULL)
        module = new_module(modules->o, name, is_build_id);
    if (module == NULL)
        return NULL;
    module->next = modules->first;
    modules->first = module;
    close_oldest(modules);
    return module->symbols;
}

void wndl_modules_close(struct wndl_modules *modules)
{
    close_after(&modules->first);
}
