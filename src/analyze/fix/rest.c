/* SPDX-License-Identifier: MIT */
/*
 * rest: modules that are closed for a while, because the address space or the
 * descriptors do not suffice for all modules of a text at once.
 */
#include "analyze/fix/modules.h"

#include <string.h>

struct wndl_fix_lost wndl_fix_module_lost(const struct wndl_fix_module *module)
{
    struct wndl_symbolizer_info info;
    if (module->symbols == NULL)
        return module->lost;
    wndl_symbolizer_get_info(module->symbols, &info);
    bool damaged = info.first_damage.status != WNDL_OK;
    if (!damaged && info.files_missing == 0)
        return module->lost;
    return (struct wndl_fix_lost){
        damaged ? info.units_damaged : info.files_missing,
        damaged ? info.first_damage : info.first_missing,
    };
}

/* False if it had nothing open. */
static bool rest(struct wndl_fix_module *module)
{
    bool had_any = module->symbols != NULL || module->object != NULL;
    module->lost = wndl_fix_module_lost(module);
    module->is_resting |= module->symbols != NULL;
    wndl_symbolizer_close(module->symbols);
    if (module->object != NULL)
        wndl_object_close(module->object);
    wndl_file_close(&module->file);
    module->symbols = NULL;
    module->object = NULL;
    module->object_tried &= !had_any;
    return had_any;
}

bool wndl_fix_modules_rest(
    struct wndl_fix_modules *modules, const struct wndl_fix_module *kept)
{
    bool had_any = false;
    for (uint32_t i = 1; i < modules->list.len; i++) {
        struct wndl_fix_module *module = wndl_fix_module_at(modules, i);
        if (module != kept)
            had_any |= rest(module);
    }
    modules->is_tight |= had_any;
    return had_any;
}

static bool keep_text(struct wndl_arena *arena, const char **text)
{
    *text = wndl_arena_copy(arena, *text, strlen(*text));
    return *text != NULL;
}

bool wndl_fix_keep_answer(struct wndl_arena *arena, struct wndl_symbols *answer)
{
    struct wndl_symbol_frame *kept =
        wndl_arena_calloc(arena, answer->count, sizeof *kept);
    if (kept == NULL)
        return false;
    for (size_t i = 0; i < answer->count; i++) {
        kept[i] = answer->frames[i];
        if (!keep_text(arena, &kept[i].function) ||
            !keep_text(arena, &kept[i].mangled) ||
            !keep_text(arena, &kept[i].file))
            return false;
    }
    answer->frames = kept;
    return true;
}
