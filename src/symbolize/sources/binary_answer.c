/* SPDX-License-Identifier: MIT */
/*
 * One address: the answers of the symbol table, DWARF and the linkage table,
 * joined.
 */
#include "symbolize/sources/binary.h"

/* Fills mangled and function. False when memory is out. */
static bool set_name(struct wndl_symbolizer *s, struct wndl_symbol_frame *frame,
    struct wndl_bytes name)
{
    frame->mangled = name.size == 0 ? "" : (const char *)name.data;
    frame->function = wndl_symbolizer_name(s, name, frame->language);
    return frame->function != NULL;
}

static bool fill_from_dwarf(struct wndl_symbolizer *s,
    struct wndl_symbol_frame *frame, const struct wndl_dwarf_frame *from)
{
    bool linked = from->linkage_name.size != 0;
    frame->file = from->file.size == 0 ? "" : (const char *)from->file.data;
    frame->line = from->line;
    frame->column = from->column;
    frame->inlined = from->inlined;
    frame->language = from->language;
    frame->function_rva = wndl_symbolizer_rva(s, from->function_start).v;
    return set_name(s, frame, linked ? from->linkage_name : from->name);
}

static bool fill_from_symbol(struct wndl_symbolizer *s,
    struct wndl_symbol_frame *frame, const struct wndl_symbol *symbol)
{
    frame->function_rva = wndl_symbolizer_rva(s, symbol->addr).v;
    return set_name(s, frame, symbol->name);
}

/*
 * A symbol's name shows the clone of a function (.cold, .part, .isra), and is
 * complete where DWARF has only its last part. A symbol without a size or type
 * is only a guess; DWARF's name is used then.
 */
bool wndl_binary_symbol_is_sure(const struct wndl_symbol *symbol)
{
    return symbol->size != 0 && symbol->kind == WNDL_SYMBOL_FUNC;
}

static bool fill_frames(struct wndl_symbolizer *s,
    struct wndl_symbol_frame *frames, const struct wndl_dwarf_frames *from,
    const struct wndl_symbol *symbol)
{
    for (size_t i = 0; i < from->count; i++)
        if (!fill_from_dwarf(s, &frames[i], &from->frames[i]))
            return false;
    if (from->count == 0) {
        frames[0].file = "";
        return fill_from_symbol(s, &frames[0], symbol);
    }
    struct wndl_symbol_frame *outermost = &frames[from->count - 1];
    bool nameless = outermost->mangled[0] == '\0';
    if (symbol != NULL && (nameless || wndl_binary_symbol_is_sure(symbol)))
        return fill_from_symbol(s, outermost, symbol);
    return true;
}

static enum wndl_status symbol_of(struct wndl_symbolizer *s,
    struct wndl_object *object, wndl_svma addr, struct wndl_symbol *symbol)
{
    struct wndl_error err = {0};
    enum wndl_status status =
        wndl_object_find_function(object, addr, symbol, &err);
    if (status != WNDL_OK && status != WNDL_NOT_FOUND && status != WNDL_NOMEM)
        wndl_symbolizer_note_damage(s, &err);
    const struct wndl_error *damage = wndl_object_damage(object);
    if (damage != NULL)
        wndl_symbolizer_note_damage(s, damage);
    return status == WNDL_OK || status == WNDL_NOMEM ? status : WNDL_NOT_FOUND;
}

/* The tables of a debug file and of the binary count as one. */
enum wndl_status wndl_binary_symbol(
    struct wndl_symbolizer *s, wndl_svma addr, struct wndl_symbol *symbol)
{
    enum wndl_status status = symbol_of(s, s->symbols, addr, symbol);
    if (s->symbols == s->binary || status == WNDL_NOMEM ||
        (status == WNDL_OK && symbol->size != 0))
        return status;
    struct wndl_symbol other;
    enum wndl_status also = symbol_of(s, s->binary, addr, &other);
    if (also == WNDL_NOMEM)
        return also;
    if (also != WNDL_OK ||
        (status == WNDL_OK && other.addr.v <= symbol->addr.v))
        return status;
    *symbol = other;
    return WNDL_OK;
}

/* Damage counts as no answer. OK or NOMEM. */
static enum wndl_status ask_debug_information(struct wndl_symbolizer *s,
    wndl_svma addr, bool is_likely, struct wndl_dwarf_frames *frames)
{
    if (s->dwarf == NULL && s->map == NULL && s->go == NULL)
        return WNDL_OK;
    enum wndl_status status =
        s->go != NULL    ? wndl_go_table_lookup(s->go, addr, frames)
        : s->map != NULL ? wndl_debug_map_lookup(s->map, addr, frames)
        : is_likely      ? wndl_dwarf_lookup(s->dwarf, addr, frames, NULL)
                    : wndl_dwarf_lookup_unlikely(s->dwarf, addr, frames, NULL);
    if (status == WNDL_NOMEM)
        return status;
    if (status != WNDL_OK)
        frames->count = 0;
    return WNDL_OK;
}

/*
 * Whether the function of a symbol without an end has one by its debug
 * information, which has nothing at an address that the symbol seems to cover.
 */
static enum wndl_status ask_ended(struct wndl_symbolizer *s,
    const struct wndl_symbol *symbol, bool *has_ended)
{
    struct wndl_dwarf_frames frames = {0};
    *has_ended = false;
    if (symbol->has_end)
        return WNDL_OK;
    if (ask_debug_information(s, symbol->addr, true, &frames) != WNDL_OK)
        return WNDL_NOMEM;
    const struct wndl_dwarf_frame *outermost =
        frames.count == 0 ? NULL : &frames.frames[frames.count - 1];
    *has_ended = outermost != NULL && outermost->name.size != 0 &&
                 outermost->function_start.v == symbol->addr.v;
    return WNDL_OK;
}

static enum wndl_status resolve_code(struct wndl_symbolizer *s,
    struct wndl_arena *arena, wndl_svma addr, struct wndl_symbols *answer)
{
    struct wndl_dwarf_frames frames = {0};
    struct wndl_symbol symbol;
    if (wndl_symbolizer_need_open(s) != WNDL_OK)
        return WNDL_NOMEM;
    enum wndl_status found = wndl_binary_symbol(s, addr, &symbol);
    if (found == WNDL_NOMEM)
        return found;
    bool is_likely = found == WNDL_OK || !s->has_symtab;
    if (ask_debug_information(s, addr, is_likely, &frames) != WNDL_OK)
        return WNDL_NOMEM;
    size_t count = frames.count;
    if (count == 0 && found == WNDL_OK) {
        bool has_ended;
        if (ask_ended(s, &symbol, &has_ended) != WNDL_OK)
            return WNDL_NOMEM;
        count = has_ended ? 0 : 1;
    }
    struct wndl_symbol_frame *filled =
        wndl_arena_calloc(arena, count, sizeof *filled);
    if (filled == NULL)
        return WNDL_NOMEM;
    if (count != 0 &&
        !fill_frames(s, filled, &frames, found == WNDL_OK ? &symbol : NULL))
        return WNDL_NOMEM;
    *answer = (struct wndl_symbols){filled, count};
    return WNDL_OK;
}

static bool fill_from_stub(struct wndl_symbolizer *s,
    struct wndl_symbol_frame *frame, const struct wndl_symbol *stub)
{
    frame->file = "";
    if (!fill_from_symbol(s, frame, stub))
        return false;
    if (stub->name.size == 0) {
        frame->mangled = frame->function = "[plt]";
        return true;
    }
    bool plain = frame->function == frame->mangled;
    frame->mangled = wndl_symbolizer_mark(s, frame->mangled, "@plt");
    frame->function = plain ? frame->mangled
                            : wndl_symbolizer_mark(s, frame->function, "@plt");
    return frame->mangled != NULL && frame->function != NULL;
}

/* Stubs are in no symbol table and no debug information. */
static enum wndl_status resolve_stub(struct wndl_symbolizer *s,
    struct wndl_arena *arena, wndl_svma addr, struct wndl_symbols *answer)
{
    struct wndl_symbol stub;
    struct wndl_error err = {0};
    enum wndl_status status =
        wndl_object_find_plt(s->binary, addr, &stub, &err);
    if (status == WNDL_NOMEM)
        return status;
    if (status != WNDL_OK) {
        if (status != WNDL_NOT_FOUND)
            wndl_symbolizer_note_damage(s, &err);
        return WNDL_OK;
    }
    struct wndl_symbol_frame *frame = wndl_arena_alloc(arena, sizeof *frame);
    if (frame == NULL || !fill_from_stub(s, frame, &stub))
        return WNDL_NOMEM;
    *answer = (struct wndl_symbols){frame, 1};
    return WNDL_OK;
}

enum wndl_status wndl_binary_resolve(struct wndl_symbolizer *s,
    struct wndl_arena *arena, uint64_t rva, struct wndl_symbols *answer)
{
    wndl_svma addr = wndl_symbolizer_svma(s, rva);
    enum wndl_status status = resolve_code(s, arena, addr, answer);
    if (status == WNDL_OK && answer->count == 0)
        status = resolve_stub(s, arena, addr, answer);
    return status;
}
