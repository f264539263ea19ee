/* SPDX-License-Identifier: MIT */
#include "analyze/vm/mvp_types.h"

#include "analyze/names/block_type.h"
#include "analyze/vm/mvp_order.h"
#include "analyze/vm/vm_code.h"
#include "dbg/dwarf/types.h"
#include "symbolize/symbolizer.h"

#include <string.h>

/* A file with code; `types` is NULL where it has no DWARF. */
struct image {
    uint32_t code;
    struct wndl_symbolizer *symbols;
    struct wndl_types *types;
    uint64_t to_svma;
};

/* ---- files */

bool wndl_mvp_types_init(struct wndl_mvp_types *types, struct wndl_arena *arena,
    const struct wndl_symbol_sources *sources, const struct wndl_vec *code)
{
    *types = (struct wndl_mvp_types){
        .arena = arena, .sources = sources, .code = code};
    wndl_vec_init(&types->images, arena, sizeof(struct image));
    return wndl_vm_code_map_fill(&types->map, arena, code);
}

void wndl_mvp_types_close(struct wndl_mvp_types *types)
{
    for (size_t i = 0; i < types->images.len; i++) {
        struct image *image = wndl_vec_at(&types->images, i);
        wndl_types_close(image->types);
        wndl_symbolizer_close(image->symbols);
    }
    types->images.len = 0;
}

static enum wndl_status open_image(
    const struct wndl_mvp_types *t, struct image *image)
{
    struct wndl_mem *mem = t->arena->mem;
    const struct wndl_vm_code *code = wndl_vec_at(t->code, image->code);
    struct wndl_vm_code_place place;
    struct wndl_dwarf *dwarf;
    if (!wndl_vm_code_place(code, mem, &place))
        return WNDL_OK;
    image->to_svma = place.to_svma;
    image->symbols = wndl_vm_code_open(code, t->sources, mem);
    if (image->symbols == NULL)
        return WNDL_OK;
    enum wndl_status status = wndl_symbolizer_dwarf(image->symbols, &dwarf);
    if (status != WNDL_OK || dwarf == NULL)
        return status;
    return wndl_types_open(dwarf, mem, &image->types);
}

/* The file with the code at `ip`. NOT_FOUND: none, or it has no DWARF. */
static enum wndl_status image_of(
    struct wndl_mvp_types *t, uint64_t ip, struct image **found)
{
    const struct wndl_vm_piece *piece = wndl_vm_code_map_find(&t->map, ip);
    if (piece == NULL)
        return WNDL_NOT_FOUND;
    *found = NULL;
    for (size_t i = 0; i < t->images.len && *found == NULL; i++) {
        struct image *image = wndl_vec_at(&t->images, i);
        if (image->code == piece->code)
            *found = image;
    }
    if (*found == NULL) {
        *found = wndl_vec_push(&t->images);
        if (*found == NULL)
            return WNDL_NOMEM;
        **found = (struct image){.code = piece->code};
        enum wndl_status status = open_image(t, *found);
        if (status != WNDL_OK)
            return status;
    }
    return (*found)->types == NULL ? WNDL_NOT_FOUND : WNDL_OK;
}

/* ---- types that the user gave */

static enum wndl_status find_given(struct wndl_mvp_types *t,
    const struct wndl_mvp_type_site *site, const struct wndl_mvp_given_type *g,
    struct wndl_mvp_block_type *found)
{
    struct image *image;
    const struct wndl_type *stripped;
    enum wndl_status status = image_of(t, site->ip, &image);
    if (status != WNDL_OK)
        return status;
    const wndl_svma near = {site->ip + image->to_svma};
    status = wndl_types_find(image->types, g->type, near, &found->type);
    if (status == WNDL_OK)
        status = wndl_types_strip(image->types, found->type, &stripped);
    if (status == WNDL_OK)
        status = wndl_types_size(image->types, stripped, &found->size);
    if (status != WNDL_OK || found->size == 0)
        return status == WNDL_NOMEM ? status : WNDL_NOT_FOUND;
    found->types = image->types;
    return WNDL_OK;
}

enum wndl_status wndl_mvp_types_given(struct wndl_mvp_types *types,
    const struct wndl_mvp_type_site *site, uint64_t largest,
    struct wndl_mvp_block_type *found)
{
    *found = (struct wndl_mvp_block_type){0};
    for (size_t i = 0; i < types->given_count; i++) {
        struct wndl_mvp_given_type *g = &types->given[i];
        struct wndl_mvp_block_type type = {0};
        enum wndl_mvp_type_use use = WNDL_MVP_TYPE_NO_TYPE;
        if (memmem(site->text, strlen(site->text), g->site.data,
                g->site.size) == NULL)
            continue;
        enum wndl_status status = find_given(types, site, g, &type);
        if (status == WNDL_NOMEM)
            return status;
        if (status == WNDL_OK)
            use =
                type.size > largest ? WNDL_MVP_TYPE_NO_FIT : WNDL_MVP_TYPE_USED;
        if (use > g->use)
            g->use = use;
        if (use == WNDL_MVP_TYPE_USED)
            *found = type;
    }
    return WNDL_OK;
}

/* ---- types that debug information suggests */

enum wndl_status wndl_mvp_types_infer(struct wndl_mvp_types *types,
    const struct wndl_mvp_type_site *site, uint64_t size,
    struct wndl_mvp_block_type *found)
{
    struct image *image;
    const struct wndl_type *named;
    *found = (struct wndl_mvp_block_type){0};
    if (size == 0)
        return WNDL_OK;
    enum wndl_status status = image_of(types, site->ip, &image);
    if (status != WNDL_OK)
        return status == WNDL_NOMEM ? status : WNDL_OK;
    const wndl_svma code = {site->ip + image->to_svma};
    const struct wndl_block_code block = {code, site->line, size};
    status = wndl_block_type_infer(image->types, types->arena, &block, &named);
    if (status == WNDL_OK)
        *found = (struct wndl_mvp_block_type){image->types, named, size, true};
    return status == WNDL_NOMEM ? status : WNDL_OK;
}

/* ---- names */

/* The text that is in `out`, in the arena; NULL when memory is out. */
static const char *keep(const struct wndl_mvp_types *t, struct wndl_buf *out)
{
    const char *kept =
        out->failed ? NULL : wndl_arena_copy(t->arena, out->data, out->size);
    wndl_buf_free(out);
    return kept;
}

const char *wndl_mvp_types_member(const struct wndl_mvp_types *types,
    const struct wndl_mvp_block_type *type, uint64_t offset, uint64_t size)
{
    struct wndl_buf out;
    if (type->types == NULL)
        return "";
    wndl_buf_init(&out, types->arena->mem);
    const enum wndl_status status = wndl_types_path(
        type->types, type->type, offset % type->size, size, &out);
    if (status == WNDL_NOT_FOUND) {
        wndl_buf_free(&out);
        return "";
    }
    return keep(types, &out);
}

/* "struct node", or the alias that stands for it. */
static const char *type_text(
    const struct wndl_mvp_types *t, const struct wndl_mvp_block_type *type)
{
    struct wndl_buf out;
    const struct wndl_type *at = type->type;
    wndl_buf_init(&out, t->arena->mem);
    while (at->name.size == 0 && at->kind == WNDL_TYPE_ALIAS &&
           wndl_types_target(type->types, at, &at) == WNDL_OK)
        continue;
    if (at->kind == WNDL_TYPE_STRUCT || at->kind == WNDL_TYPE_UNION)
        wndl_buf_text(
            &out, at->kind == WNDL_TYPE_STRUCT ? "struct " : "union ");
    if (at->name.size == 0)
        wndl_buf_text(&out, "without a name");
    wndl_buf_add(&out, at->name.data, at->name.size);
    return keep(t, &out);
}

/* Only a type that is as large as the elements has one. */
static enum wndl_status find_order(const struct wndl_mvp_types *t,
    const struct wndl_mvp_block_type *type, struct wndl_mvp_data *data)
{
    struct wndl_buf out;
    if (type->size != data->size)
        return WNDL_OK;
    wndl_buf_init(&out, t->arena->mem);
    const enum wndl_status status =
        wndl_mvp_order_find(type->types, type->type, &data->ordered, &out);
    data->order = keep(t, &out);
    return data->order == NULL ? WNDL_NOMEM : status;
}

enum wndl_status wndl_mvp_types_name(const struct wndl_mvp_types *types,
    const struct wndl_mvp_block_type *type, struct wndl_mvp_data *data)
{
    struct wndl_mvp_field *fields = (struct wndl_mvp_field *)data->fields;
    struct wndl_mvp_gap *gaps = (struct wndl_mvp_gap *)data->gaps;
    if (type->types == NULL)
        return WNDL_OK;
    data->type = type_text(types, type);
    data->type_is_inferred = type->is_inferred;
    bool whole = data->type != NULL;
    for (uint32_t i = 0; i < data->field_count && whole; i++) {
        fields[i].name = wndl_mvp_types_member(
            types, type, fields[i].offset, fields[i].size);
        whole = fields[i].name != NULL;
    }
    for (uint32_t i = 0; i < data->gap_count && whole; i++) {
        gaps[i].name = wndl_mvp_types_member(
            types, type, gaps[i].start, gaps[i].end - gaps[i].start);
        whole = gaps[i].name != NULL;
        if (whole && gaps[i].name[0] == '\0')
            gaps[i].name = "padding";
    }
    return whole ? find_order(types, type, data) : WNDL_NOMEM;
}
