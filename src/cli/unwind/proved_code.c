/* SPDX-License-Identifier: MIT */
#include "cli/unwind/proved_code.h"

#include "base/search.h"
#include "os/maps.h"
#include "os/process_memory.h"
#include "unwind/table/named.h"

#include <stdio.h>
#include <string.h>

enum {
    CACHED = 8192, /* instructions; a power of two */
    MAPS_ROOM = 64 * 1024,
    LONGEST = 15, /* bytes of an instruction */
    PUSHF = 0x9c,
    MISSES = 256, /* addresses in no module until the maps are read again */
};

/* Code that is mapped from a file. */
struct place {
    uint64_t start, end, bias;
    struct wndl_proved_module *module;
};

bool wndl_proved_code_init(struct wndl_proved_code *c, pid_t pid,
    const char *wanted, const char *const *debug_dirs)
{
    *c = (struct wndl_proved_code){
        .pid = pid, .wanted = wanted, .debug_dirs = debug_dirs};
    wndl_arena_init(&c->arena, wndl_mem_libc());
    wndl_vec_init(&c->modules, &c->arena, sizeof(struct wndl_proved_module *));
    wndl_vec_init(&c->places, &c->arena, sizeof(struct place));
    c->cache = wndl_arena_calloc(&c->arena, CACHED, sizeof *c->cache);
    return c->cache != NULL;
}

static struct wndl_proved_module *module_at(
    const struct wndl_proved_code *c, size_t i)
{
    return *(struct wndl_proved_module **)wndl_vec_at(&c->modules, i);
}

void wndl_proved_code_free(struct wndl_proved_code *c)
{
    for (size_t i = 0; i < c->modules.len; i++) {
        struct wndl_proved_module *m = module_at(c, i);
        if (m->is_open)
            wndl_proof_rules_close(&m->rules);
    }
    wndl_arena_free(&c->arena);
}

/* ---- modules */

static struct wndl_proved_module *add_module(
    struct wndl_proved_code *c, struct wndl_bytes path)
{
    struct wndl_proved_module *m = wndl_arena_alloc(&c->arena, sizeof *m);
    struct wndl_proved_module **place = wndl_vec_push(&c->modules);
    if (m != NULL)
        m->path = wndl_arena_copy(&c->arena, path.data, path.size);
    if (m == NULL || place == NULL || m->path == NULL) {
        c->modules.len -= place != NULL;
        c->failed = true;
        return NULL;
    }
    *place = m;
    m->is_wanted = c->wanted == NULL || wndl_table_names(c->wanted, m->path);
    m->is_open = wndl_proof_rules_open(
                     &m->rules, m->path, c->debug_dirs, NULL) == WNDL_OK;
    return m;
}

static struct wndl_proved_module *find_module(
    struct wndl_proved_code *c, struct wndl_bytes path)
{
    for (size_t i = 0; i < c->modules.len; i++) {
        struct wndl_proved_module *m = module_at(c, i);
        if (wndl_bytes_is(path, m->path))
            return m;
    }
    return add_module(c, path);
}

static bool take_mapping(void *context, const struct wndl_mapping *mapping)
{
    struct wndl_proved_code *c = context;
    struct place place = {.start = mapping->start, .end = mapping->end};
    if (!mapping->executable || mapping->inode == 0)
        return true;
    place.module = find_module(c, mapping->path);
    if (place.module == NULL || !place.module->is_open ||
        !wndl_proof_rules_bias(
            &place.module->rules, mapping->start, mapping->offset, &place.bias))
        return !c->failed;
    struct place *added = wndl_vec_push(&c->places);
    if (added != NULL)
        *added = place;
    c->failed |= added == NULL;
    return !c->failed;
}

void wndl_proved_code_refresh(struct wndl_proved_code *c)
{
    uint8_t room[MAPS_ROOM];
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)c->pid);
    memset(c->cache, 0, CACHED * sizeof *c->cache);
    c->places.len = 0;
    (void)wndl_maps_each(
        path, (struct wndl_bytes){room, sizeof room}, take_mapping, c);
}

static const struct place *place_of(
    const struct wndl_proved_code *c, uint64_t address)
{
    const struct place *all = c->places.data;
    const size_t count = c->places.len;
    const size_t n = count == 0 ? 0
                                : wndl_search_up_to(
                                      &all->start, sizeof *all, count, address);
    return n != 0 && address < all[n - 1].end ? &all[n - 1] : NULL;
}

/* ---- instructions */

static void decode(
    const struct wndl_proved_code *c, struct wndl_proved_insn *insn)
{
    uint8_t bytes[LONGEST];
    const size_t size =
        wndl_process_read(c->pid, insn->address, bytes, sizeof bytes);
    if (size == 0)
        return;
    insn->is_known = wndl_insn_decode(WNDL_INSN_64,
        (struct wndl_bytes){bytes, size}, insn->address, &insn->insn);
    insn->pushes_flags = bytes[0] == PUSHF;
    insn->is_call_of_kernel = size > 1 && bytes[0] == 0x0f && bytes[1] == 0x05;
}

static void find_rule(struct wndl_proved_code *c, struct wndl_proved_insn *insn)
{
    const struct place *place = place_of(c, insn->address);
    if (place == NULL && c->misses++ % MISSES == 0) {
        const struct wndl_proved_insn kept = *insn;
        wndl_proved_code_refresh(c);
        *insn = kept;
        place = place_of(c, insn->address);
    }
    if (place == NULL)
        return;
    insn->module = place->module;
    insn->svma = insn->address - place->bias;
    if (wndl_proof_rules_at(&place->module->rules, insn->svma, &insn->rule) !=
        WNDL_OK) {
        c->failed = true;
        insn->module = NULL;
    }
}

const struct wndl_proved_insn *wndl_proved_code_at(
    struct wndl_proved_code *c, uint64_t address)
{
    struct wndl_proved_insn *insn =
        &c->cache[(address ^ address >> 13) % CACHED];
    if (insn->address == address)
        return insn;
    *insn = (struct wndl_proved_insn){.address = address};
    decode(c, insn);
    find_rule(c, insn);
    return insn;
}
