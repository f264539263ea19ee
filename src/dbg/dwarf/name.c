/* SPDX-License-Identifier: MIT */
/* The names of a function: its DIE, and the DIEs to which that refers. */
#include "dbg/dwarf/internal.h"

/* A step from DIE to DIE that ends when both names are known. */
struct chain {
    struct wndl_dwarf *d;
    struct wndl_dw_unit *unit; /* of the DIE last read */
    struct wndl_dw_names *names;
    struct wndl_dwarf *next_in;
    uint64_t next; /* DIE to read */
};

static enum wndl_status take_name(struct chain *chain,
    const struct wndl_dw_die *die, enum wndl_dw_slot slot,
    struct wndl_bytes *name)
{
    if (name->size > 0 || !wndl_dw_has(die, slot))
        return WNDL_OK;
    return wndl_dw_string(
        chain->d, chain->unit, die->slots[slot], chain->d->in.info, name);
}

/* The unit of the next DIE, in which it must be. */
static enum wndl_status enter_unit(struct chain *chain)
{
    struct wndl_dw_unit *unit;
    enum wndl_status status =
        wndl_dw_unit_of(chain->next_in, chain->next, &unit);
    if (status == WNDL_NOMEM)
        return status;
    if (status != WNDL_OK || chain->next < unit->dies)
        return wndl_dw_damage(chain->d, ".debug_info", chain->next,
            "reference to a DIE that is in no unit");
    chain->d = chain->next_in;
    chain->unit = unit;
    return wndl_dw_load_unit(chain->d, unit);
}

/* NOT_FOUND when `origin` is no DIE that we can read. */
static enum wndl_status go_to(struct chain *chain, struct wndl_dw_value origin)
{
    chain->next = origin.u;
    if (origin.kind == WNDL_DW_REFERENCE)
        return WNDL_OK;
    if (origin.kind != WNDL_DW_SUP_REFERENCE)
        return WNDL_NOT_FOUND;
    enum wndl_status status = wndl_dw_load_supplementary(chain->d);
    chain->next_in = chain->d->supplementary;
    return chain->next_in == NULL && status == WNDL_OK ? WNDL_NOT_FOUND
                                                       : status;
}

/* Reads one DIE. NOT_FOUND at the end of the chain. */
static enum wndl_status hop(struct chain *chain)
{
    struct wndl_dw_die die;
    enum wndl_status status = enter_unit(chain);
    if (status != WNDL_OK)
        return status;
    if (chain->unit->language != 0)
        chain->names->language = chain->unit->language;
    struct wndl_cursor c =
        wndl_dw_cursor_at(chain->d, chain->unit, chain->next);
    status = wndl_dw_read_die(chain->d, chain->unit, &c, &die);
    if (status == WNDL_OK)
        status = take_name(chain, &die, WNDL_DW_NAME, &chain->names->name);
    if (status == WNDL_OK)
        status = take_name(
            chain, &die, WNDL_DW_LINKAGE_NAME, &chain->names->linkage_name);
    if (status != WNDL_OK)
        return status;
    bool known =
        chain->names->name.size > 0 && chain->names->linkage_name.size > 0;
    if (known || !wndl_dw_has(&die, WNDL_DW_ORIGIN))
        return WNDL_NOT_FOUND;
    return go_to(chain, die.slots[WNDL_DW_ORIGIN]);
}

static enum wndl_status follow(struct chain *chain)
{
    enum wndl_status status = WNDL_OK;
    for (int hops = 0; status == WNDL_OK; hops++) {
        if (hops < WNDL_DW_CHAIN_LIMIT)
            status = hop(chain);
        else
            status = wndl_dw_damage(chain->d, ".debug_info", chain->next,
                "origins of a function go in a circle");
    }
    if (chain->unit != NULL)
        status = wndl_dw_lose_if_damaged(chain->d, chain->unit, status);
    return status == WNDL_NOMEM ? status : WNDL_OK;
}

enum wndl_status wndl_dw_names_of(
    struct wndl_dwarf *d, uint64_t die, struct wndl_dw_names *names)
{
    uint64_t *known = wndl_map_put(&d->name_of, die);
    if (known == NULL)
        return WNDL_NOMEM;
    if (*known == 0) {
        wndl_dw_release_pages_after(d, WNDL_DW_PAGE_COST);
        struct wndl_dw_names *slot = wndl_vec_push(&d->names);
        if (slot == NULL)
            return WNDL_NOMEM;
        struct wndl_bytes empty = {(const uint8_t *)"", 0};
        *slot = (struct wndl_dw_names){empty, empty, 0};
        struct chain chain = {.d = d, .names = slot, .next_in = d, .next = die};
        enum wndl_status status = follow(&chain);
        if (status != WNDL_OK)
            return status;
        *known = d->names.len;
    }
    *names = *(struct wndl_dw_names *)wndl_vec_at(&d->names, *known - 1);
    return WNDL_OK;
}
