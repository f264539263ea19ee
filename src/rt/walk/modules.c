/* SPDX-License-Identifier: MIT */
/*
 * modules: rows are only added. A module that was unloaded keeps its row, and
 * has it again if it comes back to the same place, however often.
 */
#include "rt/walk/modules.h"

#include "os/maps.h"
#include "os/raw.h"
#include "rt/core/rt.h"
#include "rt/walk/rules.h"
#include "unwind/table/set.h"

#include <elf.h>
#include <link.h>
#include <string.h>

static bool mapped_row_covers(
    const struct wndl_shm_module *row, uint64_t address)
{
    return atomic_load_explicit(&row->ready, memory_order_acquire) != 0 &&
           address >= row->start && address < row->end &&
           atomic_load_explicit(&row->mapped, memory_order_relaxed) != 0;
}

static uint32_t row_count(void)
{
    uint32_t count =
        atomic_load_explicit(&wndl_rt.shm->module_count, memory_order_relaxed);
    return count < WNDL_SHM_MODULES ? count : WNDL_SHM_MODULES;
}

static bool listed(uint64_t address, uint32_t *owner)
{
    for (uint32_t i = row_count(); i-- > 0;) {
        if (!mapped_row_covers(&wndl_rt.shm->modules[i], address))
            continue;
        *owner = i + 1;
        return true;
    }
    return false;
}

struct note {
    const char *name;
    uint32_t type;
    struct wndl_bytes contents;
};

static uint64_t padded(uint64_t size)
{
    return (size + 3) & ~UINT64_C(3);
}

/* Name and contents are padded to 4; Go counts the padding as its name. */
static bool find_note(struct wndl_cursor notes, struct note *wanted)
{
    size_t wanted_size = strlen(wanted->name) + 1;
    while (wndl_cursor_left(&notes) >= sizeof(ElfW(Nhdr))) {
        uint32_t name_size = wndl_cursor_u32(&notes);
        uint32_t size = wndl_cursor_u32(&notes);
        uint32_t type = wndl_cursor_u32(&notes);
        const uint8_t *name = wndl_cursor_take(&notes, padded(name_size));
        const uint8_t *contents = wndl_cursor_take(&notes, padded(size));
        if (contents == NULL)
            return false;
        if (type == wanted->type && padded(name_size) == padded(wanted_size) &&
            memcmp(name, wanted->name, wanted_size) == 0) {
            wanted->contents = (struct wndl_bytes){contents, size};
            return true;
        }
    }
    return false;
}

static bool module_note(const struct wndl_dlmodule *module, struct note *wanted)
{
    const struct wndl_bytes table = wndl_dlmodule_headers(module);
    const ElfW(Phdr) *ph = (const ElfW(Phdr) *)(const void *)table.data;
    for (size_t i = 0; i < table.size / sizeof *ph; i++) {
        if (ph[i].p_type != PT_NOTE)
            continue;
        struct wndl_bytes notes =
            wndl_dlmodule_from(module, module->bias.v + ph[i].p_vaddr);
        notes = wndl_bytes_slice(notes, 0, ph[i].p_filesz);
        if (find_note(wndl_cursor_at(notes, 0, false), wanted))
            return true;
    }
    return false;
}

bool wndl_rt_module_is_go(const struct wndl_dlmodule *module)
{
    enum { GO_BUILD_ID = 4 };
    struct note id = {.name = "Go", .type = GO_BUILD_ID};
    return module_note(module, &id);
}

struct wndl_bytes wndl_rt_module_build_id(const struct wndl_dlmodule *module)
{
    struct note id = {.name = ELF_NOTE_GNU, .type = NT_GNU_BUILD_ID};
    return module_note(module, &id) ? id.contents : (struct wndl_bytes){0};
}

/* Copies the path into the shared strings; false if they are full. */
static bool keep_path(struct wndl_shm_module *row, const char *path)
{
    size_t size = strlen(path);
    uint32_t offset = atomic_fetch_add_explicit(
        &wndl_rt.shm->string_bytes, (uint32_t)size, memory_order_relaxed);
    if (offset > WNDL_SHM_STRINGS || size > WNDL_SHM_STRINGS - offset)
        return false;
    memcpy(wndl_rt.shm->strings + offset, path, size);
    row->path_offset = offset;
    row->path_size = (uint32_t)size;
    return true;
}

struct naming {
    uint64_t address;
    char *name; /* WNDL_RT_MODULE_PATH bytes */
    bool found;
};

static bool take_name(void *context, const struct wndl_mapping *m)
{
    struct naming *naming = context;
    if (naming->address < m->start || naming->address >= m->end)
        return true;
    naming->found = m->path.size != 0 && m->path.data[0] == '/';
    if (naming->found) {
        memcpy(naming->name, m->path.data, m->path.size);
        naming->name[m->path.size] = '\0';
    }
    return false;
}

bool wndl_rt_module_path(
    const struct wndl_dlmodule *module, char path[WNDL_RT_MODULE_PATH])
{
    uint8_t room[WNDL_RT_MODULE_PATH]; /* a longer line is skipped */
    struct naming naming = {.address = module->map_start, .name = path};
    return !wndl_rt_is_careful() &&
           wndl_maps_each("/proc/self/maps",
               (struct wndl_bytes){room, sizeof room}, take_name, &naming) &&
           naming.found;
}

/*
 * The module's path. An emulator's file names are relative to a folder of its
 * own, and the collector takes the emulator for the executable. But the
 * emulator's list of mappings has the names that files have outside.
 */
static const char *path_of(
    const struct wndl_dlmodule *module, char name[WNDL_RT_MODULE_PATH])
{
    if (module->map_start == wndl_rt.vdso && wndl_rt.vdso != 0)
        return "[vdso]";
    if (WNDL_ARCH_MAY_BE_EMULATED && wndl_rt_module_path(module, name))
        return name;
    return module->name;
}

static bool has_name(const struct wndl_shm_module *row, const char *name)
{
    return strlen(name) == row->path_size &&
           memcmp(name, wndl_rt.shm->strings + row->path_offset,
               row->path_size) == 0;
}

static bool is_at_place_of(
    const struct wndl_dlmodule *module, const struct wndl_shm_module *row)
{
    char name[WNDL_RT_MODULE_PATH];
    return module->map_start == row->start && module->map_end == row->end &&
           module->bias.v == row->bias && has_name(row, path_of(module, name));
}

/* A build-id that is too long is not kept. */
static bool has_build_id(
    const struct wndl_shm_module *row, const struct wndl_bytes id)
{
    const struct wndl_bytes kept = {row->build_id, row->build_id_size};
    return id.size > sizeof row->build_id ? kept.size == 0
                                          : wndl_bytes_equal(kept, id);
}

/* Maps the row again of a module that comes back to its place. */
static bool reopen_row(const struct wndl_dlmodule *module, uint32_t *owner)
{
    const struct wndl_bytes id = wndl_rt_module_build_id(module);
    for (uint32_t i = row_count(); i-- > 0;) {
        struct wndl_shm_module *row = &wndl_rt.shm->modules[i];
        if (atomic_load_explicit(&row->ready, memory_order_acquire) == 0 ||
            !is_at_place_of(module, row) || !has_build_id(row, id))
            continue;
        atomic_store(&row->mapped, 1);
        atomic_fetch_add(&wndl_rt.shm->modules_come, 1);
        *owner = i + 1;
        return true;
    }
    return false;
}

/* False if the list is full. */
static bool add_row(const struct wndl_dlmodule *module, uint32_t *owner)
{
    if (row_count() == WNDL_SHM_MODULES)
        return false;
    uint32_t index = atomic_fetch_add_explicit(
        &wndl_rt.shm->module_count, 1, memory_order_relaxed);
    if (index >= WNDL_SHM_MODULES)
        return false;
    struct wndl_shm_module *row = &wndl_rt.shm->modules[index];
    char name[WNDL_RT_MODULE_PATH];
    if (!keep_path(row, path_of(module, name)))
        return false;
    row->start = module->map_start;
    row->end = module->map_end;
    row->bias = module->bias.v;
    row->time = wndl_raw_clock_ns(CLOCK_MONOTONIC);
    *owner = index + 1;
    const struct wndl_bytes id = wndl_rt_module_build_id(module);
    if (id.size != 0 && id.size <= sizeof row->build_id) {
        memcpy(row->build_id, id.data, id.size);
        row->build_id_size = (uint32_t)id.size;
    }
    atomic_store(&row->mapped, 1);
    atomic_store_explicit(&row->ready, 1, memory_order_release);
    atomic_fetch_add(&wndl_rt.shm->modules_come, 1);
    return true;
}

bool wndl_rt_module_note(uint64_t address, uint32_t *owner)
{
    struct wndl_dlmodule module;
    if (listed(address, owner) || !wndl_dlfind(address, &module))
        return true;
    /* A sample may be about to list the same one. */
    uint64_t all = WNDL_RT_ALL_SIGNALS;
    uint64_t before = 0;
    (void)wndl_raw4(
        SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before, sizeof all);
    bool done = listed(address, owner) || reopen_row(&module, owner) ||
                add_row(&module, owner);
    (void)wndl_raw4(
        SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof before);
    return done;
}

static bool gone(const struct wndl_shm_module *row)
{
    struct wndl_dlmodule module;
    return !wndl_dlfind(row->start, &module) || !is_at_place_of(&module, row);
}

/*
 * A module that is unloaded and loaded again at the same place, with the same
 * name and size, is taken for the same one.
 */
void wndl_rt_modules_recheck(void)
{
    uint32_t count = row_count();
    bool any = count == WNDL_SHM_MODULES;
    for (uint32_t i = 0; i < count; i++) {
        struct wndl_shm_module *row = &wndl_rt.shm->modules[i];
        if (!mapped_row_covers(row, row->start) || !gone(row))
            continue;
        any = true;
        atomic_store(&row->mapped, 0);
    }
    if (!any)
        return;
    wndl_table_set_forget();
    wndl_rt_rules_forget();
}
