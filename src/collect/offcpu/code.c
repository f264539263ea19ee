/* SPDX-License-Identifier: MIT */
#include "collect/offcpu/code.h"

#include "base/search.h"
#include "base/vec.h"
#include "collect/proc/proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAPS_ROOM = 64 * 1024, PROC_PATH = 32 };

static const uint64_t first_pause = 50 * UINT64_C(1000000);
static const uint64_t last_pause = 10 * UINT64_C(1000000000);

/* The machine of a process that is gone by now is most likely ours. */
static uint16_t machine_of(pid_t pid)
{
    const uint16_t machine = wndl_proc_machine(pid);
    return machine != 0 ? machine : wndl_proc_own_machine();
}

void wndl_offcpu_code_init(struct wndl_offcpu_code *code, pid_t pid)
{
    *code = (struct wndl_offcpu_code){
        .pause = first_pause, .machine = machine_of(pid)};
    wndl_arena_init(&code->arena, wndl_mem_libc());
}

void wndl_offcpu_code_free(struct wndl_offcpu_code *code)
{
    wndl_arena_free(&code->arena);
}

/* ---- reading the map */

struct module {
    struct wndl_remote_module remote;
    struct wndl_binary *binary;
};

struct reading {
    struct wndl_binaries *binaries;
    struct wndl_binaries_user user;
    struct wndl_vec found; /* struct module */
};

static bool is_listed(const struct wndl_vec *found, uint64_t bias,
    const struct wndl_binary *binary)
{
    for (size_t i = found->len; i > 0; i--) {
        const struct module *m = wndl_vec_at(found, i - 1);
        if (m->binary == binary && m->remote.bias == bias)
            return true;
    }
    return false;
}

static bool take_mapping(void *context, const struct wndl_mapping *mapping)
{
    struct reading *r = context;
    uint64_t bias;
    if (!mapping->executable)
        return true;
    struct wndl_binary *binary =
        wndl_binaries_get(r->binaries, r->user, mapping);
    if (binary == NULL || !wndl_binary_bias(binary, mapping, &bias) ||
        is_listed(&r->found, bias, binary))
        return true;
    struct module *m = wndl_vec_push(&r->found);
    if (m == NULL)
        return false;
    *m = (struct module){.binary = binary};
    m->remote = wndl_binary_module(binary, bias);
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct module *x = a, *y = b;
    return (x->remote.start > y->remote.start) -
           (x->remote.start < y->remote.start);
}

static bool is_same(
    const struct wndl_offcpu_code *code, const struct wndl_vec *found)
{
    if (code->count != found->len)
        return false;
    for (size_t i = 0; i < code->count; i++) {
        const struct module *m = wndl_vec_at(found, i);
        if (m->binary != code->binaries[i] ||
            m->remote.start != code->modules[i].start ||
            m->remote.table != code->modules[i].table)
            return false;
    }
    return true;
}

/* Takes over `arena` and the modules in it. */
static void replace(struct wndl_offcpu_code *code, struct wndl_arena *arena,
    const struct wndl_vec *found)
{
    size_t count = found->len;
    struct wndl_remote_module *modules =
        wndl_arena_calloc(arena, count + 1, sizeof *modules);
    struct wndl_binary **binaries =
        wndl_arena_calloc(arena, count + 1, sizeof(struct wndl_binary *));
    if (modules == NULL || binaries == NULL)
        count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct module *m = wndl_vec_at(found, i);
        modules[i] = m->remote;
        binaries[i] = m->binary;
        if (i > 0 && modules[i - 1].end > modules[i].start)
            modules[i - 1].end = modules[i].start;
    }
    wndl_arena_free(&code->arena);
    code->arena = *arena;
    code->modules = modules;
    code->binaries = binaries;
    code->count = count;
    code->changed++;
}

/* The modules that there are, before `found` replaces them. */
static bool list_known(
    const struct wndl_offcpu_code *code, struct wndl_vec *found)
{
    for (size_t i = 0; i < code->count; i++) {
        struct module *m = wndl_vec_push(found);
        if (m == NULL)
            return false;
        *m = (struct module){code->modules[i], code->binaries[i]};
    }
    return true;
}

static void sort_modules(struct wndl_vec *found)
{
    if (found->len != 0)
        qsort(found->data, found->len, sizeof(struct module), by_start);
}

void wndl_offcpu_code_add(struct wndl_offcpu_code *code,
    struct wndl_binaries *binaries, pid_t pid,
    const struct wndl_mapping *mapping)
{
    struct wndl_arena arena;
    struct reading reading = {
        .binaries = binaries, .user = {pid, code->machine}};
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&reading.found, &arena, sizeof(struct module));
    if (!list_known(code, &reading.found) || !take_mapping(&reading, mapping) ||
        reading.found.len == code->count) {
        wndl_arena_free(&arena);
        return;
    }
    sort_modules(&reading.found);
    replace(code, &arena, &reading.found);
}

void wndl_offcpu_code_copy(
    struct wndl_offcpu_code *code, const struct wndl_offcpu_code *from)
{
    struct wndl_arena arena;
    struct wndl_vec found;
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&found, &arena, sizeof(struct module));
    code->machine = from->machine;
    if (list_known(from, &found))
        replace(code, &arena, &found);
    else
        wndl_arena_free(&arena);
}

bool wndl_offcpu_code_refresh(struct wndl_offcpu_code *code,
    struct wndl_binaries *binaries, pid_t pid, uint64_t now)
{
    struct wndl_arena arena;
    struct reading reading = {
        .binaries = binaries, .user = {pid, code->machine}};
    uint8_t room[MAPS_ROOM];
    char path[PROC_PATH];
    if (now < code->again && !code->is_stale)
        return false;
    code->is_stale = false;
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&reading.found, &arena, sizeof(struct module));
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    /* The map of a process that has ended is empty. */
    bool is_read = wndl_maps_each(path, (struct wndl_bytes){room, sizeof room},
                       take_mapping, &reading) &&
                   reading.found.len != 0;
    sort_modules(&reading.found);
    bool is_new = is_read && !is_same(code, &reading.found);
    if (is_new)
        replace(code, &arena, &reading.found);
    else
        wndl_arena_free(&arena);
    code->pause = is_new                         ? first_pause
                  : code->pause < last_pause / 2 ? code->pause * 2
                                                 : last_pause;
    code->again = now + code->pause;
    return is_new;
}

void wndl_offcpu_code_renew(struct wndl_offcpu_code *code, uint32_t made)
{
    if (code->made == made)
        return;
    code->made = made;
    for (size_t i = 0; i < code->count; i++) {
        struct wndl_remote_module *m = &code->modules[i];
        const struct wndl_remote_module now =
            wndl_binary_module(code->binaries[i], m->bias);
        m->table = now.table;
        m->table_size = now.table_size;
    }
}

bool wndl_offcpu_code_want(const struct wndl_offcpu_code *code,
    struct wndl_binaries *binaries, uint64_t address)
{
    const size_t at = wndl_offcpu_code_find(code, address);
    return at != code->count && code->binaries[at]->may_lack_rules &&
           !wndl_binary_has_rules(
               code->binaries[at], address - code->modules[at].bias) &&
           wndl_binaries_want(binaries, code->binaries[at]);
}

size_t wndl_offcpu_code_find(
    const struct wndl_offcpu_code *code, uint64_t address)
{
    const struct wndl_remote_module *all = code->modules;
    if (code->count == 0)
        return 0;
    size_t count =
        wndl_search_up_to(&all->start, sizeof *all, code->count, address);
    return count != 0 && address < all[count - 1].end ? count - 1 : code->count;
}
