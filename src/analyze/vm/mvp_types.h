/* SPDX-License-Identifier: MIT */
/* mvp_types: the types of blocks by debug information, and their members. */
#ifndef WNDL_ANALYZE_VM_MVP_TYPES_H
#define WNDL_ANALYZE_VM_MVP_TYPES_H

#include "analyze/names/profile_names.h"
#include "analyze/vm/vm_code_map.h"
#include "model/mvp_view.h"

/* How a type that the user gave was used. */
enum wndl_mvp_type_use {
    WNDL_MVP_TYPE_NO_SITE, /* no line that allocates has this text */
    WNDL_MVP_TYPE_NO_TYPE, /* debug information has no such type */
    WNDL_MVP_TYPE_NO_FIT,  /* it is larger than the blocks */
    WNDL_MVP_TYPE_USED,
};

/* The type of the blocks whose line that allocates has `site` in its text. */
struct wndl_mvp_given_type {
    struct wndl_bytes site;
    const char *type;
    enum wndl_mvp_type_use use; /* set by wndl_mvp_types_given */
};

/* The debug information of the files that allocate, opened as needed. */
struct wndl_mvp_types {
    struct wndl_arena *arena;
    const struct wndl_symbol_sources *sources;
    const struct wndl_vec *code; /* struct wndl_vm_code */
    struct wndl_vm_code_map map;
    struct wndl_mvp_given_type *given;
    size_t given_count;
    struct wndl_vec images; /* struct image of mvp_types.c */
};

/* A line that allocates: code there, its number, its text. */
struct wndl_mvp_type_site {
    uint64_t ip;
    uint32_t line;
    const char *text;
};

/* A type of some blocks. */
struct wndl_mvp_block_type {
    struct wndl_types *types; /* NULL: it is not known */
    const struct wndl_type *type;
    uint64_t size; /* bytes, above 0 */
    bool is_inferred;
};

/*
 * Makes `types` ready, with memory of `arena`; `given` are `given_count` types
 * that the user gave, borrowed. False when memory is out. Ends with
 * wndl_mvp_types_close.
 */
bool wndl_mvp_types_init(struct wndl_mvp_types *types, struct wndl_arena *arena,
    const struct wndl_symbol_sources *sources, const struct wndl_vec *code);

/* Closes the files. */
void wndl_mvp_types_close(struct wndl_mvp_types *types);

/* Finds the type that the user gave for blocks of `largest` bytes. NOMEM. */
enum wndl_status wndl_mvp_types_given(struct wndl_mvp_types *types,
    const struct wndl_mvp_type_site *site, uint64_t largest,
    struct wndl_mvp_block_type *found) WNDL_MUST_USE;

/*
 * Finds the struct of `size` bytes that the site allocates, as in
 * analyze/names/block_type.h; 0 has none. NOMEM.
 */
enum wndl_status wndl_mvp_types_infer(struct wndl_mvp_types *types,
    const struct wndl_mvp_type_site *site, uint64_t size,
    struct wndl_mvp_block_type *found) WNDL_MUST_USE;

/*
 * Sets the type of `data`, the names of its fields and gaps, and the order;
 * `fields` and `gaps` are those of `data`. NOMEM.
 */
enum wndl_status wndl_mvp_types_name(const struct wndl_mvp_types *types,
    const struct wndl_mvp_block_type *type,
    struct wndl_mvp_data *data) WNDL_MUST_USE;

/* The name of `size` bytes at `offset` of elements of that type; "" where there
 * is none, NULL when memory is out. */
const char *wndl_mvp_types_member(const struct wndl_mvp_types *types,
    const struct wndl_mvp_block_type *type, uint64_t offset, uint64_t size);

#endif
