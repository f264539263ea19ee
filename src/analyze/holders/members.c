/* SPDX-License-Identifier: MIT */
#include "analyze/holders/members.h"

#include "analyze/names/block_type.h"
#include "base/buf.h"
#include "model/frame_key.h"
#include "symbolize/symbolizer.h"

/* An image; `types` is NULL where it has no DWARF. */
struct image {
    uint32_t image;
    struct wndl_symbolizer *symbols;
    struct wndl_types *types;
};

/* The type of a site's blocks; `type` is NULL where it is not known. */
struct site_type {
    struct wndl_types *types;
    const struct wndl_type *type;
    uint64_t size;
};

/* ---- files */

void wndl_heap_members_init(struct wndl_heap_members *members,
    const struct wndl_symbolized *s, const struct wndl_symbol_sources *sources)
{
    members->s = s;
    members->sources = sources;
    wndl_arena_init(&members->arena, s->arena.mem);
    wndl_vec_init(&members->images, &members->arena, sizeof(struct image));
    wndl_vec_init(&members->types, &members->arena, sizeof(struct site_type));
    wndl_map_init(&members->known, &members->arena);
}

void wndl_heap_members_free(struct wndl_heap_members *members)
{
    for (size_t i = 0; i < members->images.len; i++) {
        const struct image *image = wndl_vec_at(&members->images, i);
        wndl_types_close(image->types);
        wndl_symbolizer_close(image->symbols);
    }
    wndl_arena_free(&members->arena);
}

/* An image whose names had no lines, or whose file is gone, has no types. */
static enum wndl_status open_image(
    const struct wndl_heap_members *m, struct image *image)
{
    const struct wndl_module *module =
        wndl_vec_at(&m->s->modules, image->image);
    struct wndl_dwarf *dwarf;
    if (module->state != WNDL_SYMBOLS_LINES)
        return WNDL_OK;
    enum wndl_status status = wndl_image_symbols_open(
        wndl_vec_at(&m->s->profile->images, image->image),
        wndl_intern_text(&m->s->strings, module->path), m->sources,
        &image->symbols, NULL);
    if (status != WNDL_OK)
        return status == WNDL_NOMEM ? status : WNDL_OK;
    status = wndl_symbolizer_dwarf(image->symbols, &dwarf);
    if (status != WNDL_OK || dwarf == NULL)
        return status;
    return wndl_types_open(dwarf, m->arena.mem, &image->types);
}

/* NOT_FOUND: it has no types. */
static enum wndl_status image_of(
    struct wndl_heap_members *m, uint32_t index, const struct image **found)
{
    for (size_t i = 0; i < m->images.len; i++) {
        *found = wndl_vec_at(&m->images, i);
        if ((*found)->image == index)
            return (*found)->types == NULL ? WNDL_NOT_FOUND : WNDL_OK;
    }
    struct image *added = wndl_vec_push(&m->images);
    if (added == NULL)
        return WNDL_NOMEM;
    *added = (struct image){.image = index};
    *found = added;
    const enum wndl_status status = open_image(m, added);
    return status == WNDL_OK && added->types == NULL ? WNDL_NOT_FOUND : status;
}

/* ---- types */

static enum wndl_status find_type(struct wndl_heap_members *m,
    const struct wndl_heap_code *code, struct site_type *found)
{
    const struct image *image;
    if (code->frame == WNDL_NO_INDEX || found->size == 0)
        return WNDL_NOT_FOUND;
    const struct wndl_frame_key *key =
        wndl_vec_at(&m->s->profile->frames, code->frame);
    if (key->image == WNDL_NO_INDEX)
        return WNDL_NOT_FOUND;
    const enum wndl_status status = image_of(m, key->image, &image);
    if (status != WNDL_OK)
        return status;
    found->types = image->types;
    const struct wndl_block_code block = {
        .address =
            wndl_symbolizer_linked(image->symbols, wndl_frame_key_byte(key)),
        .line = code->line,
        .size = found->size,
    };
    return wndl_block_type_infer(image->types, &m->arena, &block, &found->type);
}

/* The type of a site, which is looked for once. NULL when memory is out. */
static const struct site_type *type_of(
    const struct wndl_heap_known *known, uint32_t site)
{
    struct wndl_heap_members *m = known->members;
    const struct wndl_alloc_site *of = wndl_vec_at(&known->heap->sites, site);
    uint64_t *slot = wndl_map_put(&m->known, site);
    if (slot == NULL || *slot != 0)
        return slot == NULL ? NULL : wndl_vec_at(&m->types, *slot - 1);
    struct site_type *added = wndl_vec_push(&m->types);
    if (added == NULL)
        return NULL;
    *slot = m->types.len;
    *added = (struct site_type){.size = of->requested};
    const enum wndl_status status =
        find_type(m, &known->places.codes[site], added);
    if (status != WNDL_OK)
        added->type = NULL;
    return status == WNDL_NOMEM ? NULL : added;
}

uint32_t wndl_heap_same_site(
    const struct wndl_process_heap *heap, uint32_t a, uint32_t b)
{
    if (a == b || a == WNDL_NO_INDEX || b == WNDL_NO_INDEX)
        return a == b ? a : WNDL_NO_INDEX;
    const struct wndl_alloc_site *x = wndl_vec_at(&heap->sites, a);
    const struct wndl_alloc_site *y = wndl_vec_at(&heap->sites, b);
    return x->requested == y->requested ? a : WNDL_NO_INDEX;
}

/* ---- members */

static bool put_member(struct wndl_heap_holders *h,
    const struct site_type *type, uint64_t offset, uint32_t *member)
{
    struct wndl_buf out;
    wndl_buf_init(&out, h->arena.mem);
    const enum wndl_status status = wndl_types_path(
        type->types, type->type, offset, sizeof(uint64_t), &out);
    bool is_put = status != WNDL_NOMEM && !out.failed;
    if (is_put && status == WNDL_OK)
        is_put = wndl_intern_add(
            &h->strings, (struct wndl_bytes){out.data, out.size}, member);
    wndl_buf_free(&out);
    return is_put;
}

bool wndl_heap_member(struct wndl_heap_holders *h,
    const struct wndl_heap_known *known, uint32_t site, uint64_t offset,
    uint32_t *member)
{
    *member = 0;
    if (known->members == NULL || site == WNDL_NO_INDEX)
        return true;
    const struct site_type *type = type_of(known, site);
    if (type == NULL || type->type == NULL || offset >= type->size)
        return type != NULL;
    return put_member(h, type, offset, member);
}
