/* SPDX-License-Identifier: MIT */
/*
 * A Breakpad symbol file instead of a binary. Its addresses count from the
 * image base, which it does not contain.
 */
#include "dbg/breakpad/breakpad.h"
#include "obj/find/debug_id.h"
#include "symbolize/core/symbolizer_impl.h"
#include "symbolize/demangle/msvc.h"
#include "symbolize/sources/sources.h"

#include <string.h>

static void give_up(void *context)
{
    const struct wndl_symbolizer *s = context;
    wndl_file_give_up(&s->file);
}

/* Whether it is of the requested build, if one is requested. */
static enum wndl_status check_id(const struct wndl_breakpad_module *module,
    const struct wndl_symbolizer_options *options, struct wndl_error *err)
{
    char text[WNDL_DEBUG_ID_TEXT];
    if (options->build_id == NULL)
        return WNDL_OK;
    struct wndl_bytes wanted = {options->build_id, options->build_id_size};
    struct wndl_debug_id id = wndl_debug_id_of_build_id(wanted, false);
    if (wndl_bytes_is(module->id, wndl_debug_id_text(&id, text)))
        return WNDL_OK;
    return wndl_symbolizer_other_build(err);
}

static enum wndl_status begin(struct wndl_symbolizer *s, struct wndl_bytes text,
    const char *path, const struct wndl_symbolizer_options *options,
    struct wndl_error *err)
{
    struct wndl_breakpad_module module;
    wndl_error_set_file(err, path);
    enum wndl_status status = wndl_breakpad_read_module(text, &module, err);
    if (status == WNDL_OK)
        status = check_id(&module, options, err);
    if (status != WNDL_OK)
        return status;
    s->is_narrow = wndl_bytes_is(module.machine, "x86") ||
                   wndl_bytes_is(module.machine, "arm");
    s->breakpad_text = text;
    s->breakpad_id = module.id;
    s->breakpad_path =
        path == NULL ? "" : wndl_arena_copy(&s->arena, path, strlen(path));
    s->is_deferred = true;
    wndl_symbolizer_add_source(s, &wndl_source_breakpad);
    return s->breakpad_path == NULL ? wndl_symbolizer_no_memory(err) : WNDL_OK;
}

static enum wndl_status open_text(struct wndl_symbolizer *s)
{
    const struct wndl_breakpad_source source = {
        .text = s->breakpad_text,
        .path = s->breakpad_path,
        .give_up = give_up,
        .context = s,
    };
    return wndl_breakpad_open(&source, s->mem, &s->breakpad, NULL);
}

/*
 * Names may be mangled, depending on the tool that wrote them: C++, Rust and D,
 * and Microsoft's compiler's.
 */
static bool is_mangled(struct wndl_bytes name)
{
    if (wndl_msvc_is_mangled(name))
        return true;
    return name.size > 2 && name.data[0] == '_' &&
           strchr("ZRD_", name.data[1]) != NULL &&
           memchr(name.data, '@', name.size) == NULL;
}

static bool set_names(struct wndl_symbolizer *s, struct wndl_bytes name,
    const char **mangled, const char **function)
{
    *mangled = (const char *)name.data;
    *function = is_mangled(name) ? wndl_symbolizer_name(s, name, 0) : *mangled;
    return *function != NULL;
}

static enum wndl_status resolve(struct wndl_symbolizer *s,
    struct wndl_arena *arena, uint64_t rva, struct wndl_symbols *answer)
{
    struct wndl_breakpad_frames from;
    enum wndl_status status = wndl_symbolizer_need_open(s);
    if (status == WNDL_OK)
        status = wndl_breakpad_lookup(s->breakpad, rva, &from);
    if (status != WNDL_OK)
        return status == WNDL_NOT_FOUND ? WNDL_OK : status;
    struct wndl_symbol_frame *frames =
        wndl_arena_calloc(arena, from.count, sizeof *frames);
    if (frames == NULL)
        return WNDL_NOMEM;
    for (size_t i = 0; i < from.count; i++) {
        const struct wndl_breakpad_frame *f = &from.frames[i];
        frames[i].file = (const char *)f->file.data;
        frames[i].line = f->line;
        frames[i].inlined = f->inlined;
        frames[i].function_rva = f->start;
        if (!set_names(s, f->name, &frames[i].mangled, &frames[i].function))
            return WNDL_NOMEM;
    }
    *answer = (struct wndl_symbols){frames, from.count};
    return WNDL_OK;
}

static enum wndl_status add_function(
    void *context, const struct wndl_breakpad_function *from)
{
    struct wndl_listing *l = context;
    struct wndl_symbol_range *range;
    struct wndl_symbol_function *function = wndl_listing_push(l, 1, &range);
    if (function == NULL ||
        !set_names(l->s, from->name, &function->mangled, &function->function))
        return WNDL_NOMEM;
    *range = (struct wndl_symbol_range){from->rva, from->size};
    return WNDL_OK;
}

static enum wndl_status list(struct wndl_listing *l)
{
    const struct wndl_symbolizer *s = l->s;
    return s->breakpad == NULL
               ? WNDL_OK
               : wndl_breakpad_visit_functions(s->breakpad, add_function, l);
}

static void add_info(
    const struct wndl_symbolizer *s, struct wndl_symbolizer_info *info)
{
    struct wndl_breakpad_stats stats = {0};
    if (s->breakpad != NULL)
        wndl_breakpad_get_stats(s->breakpad, &stats);
    *info = (struct wndl_symbolizer_info){
        .has_symtab = true,
        .debug_file = "",
        .units_damaged = stats.damaged,
        .first_damage = stats.first_damage,
        .address_size = s->is_narrow ? 4 : 8,
    };
}

const struct wndl_name_source wndl_source_breakpad = {
    .begin = begin,
    .open = open_text,
    .resolve = resolve,
    .list = list,
    .add_info = add_info,
};
