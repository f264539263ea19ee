/* SPDX-License-Identifier: MIT */
/*
 * Unwind tables of the program's modules, found in a list of folders by
 * build-id and mapped when a walk first comes to a module: open and mmap are
 * all that takes. What was mapped stays.
 */
#include "unwind/table_chrome.h"
#include "unwind/table_set.h"

#include "os/raw.h"
#include "rt/arch.h"
#include "rt/environment.h"
#include "rt/rt.h"
#include "rt/tables.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FOLDERS_MAX = 4096, NAME_MAX_SIZE = 2 * WNDL_TABLE_BUILD_ID_MAX + 8 };

static char folders[FOLDERS_MAX]; /* separated by colons */

/* Tables found so far, which are never taken back. */
static struct {
    _Atomic uint32_t taken;
    struct found {
        _Atomic bool ready;
        struct wndl_table table;
        uint8_t id[WNDL_TABLE_BUILD_ID_MAX];
    } all[WNDL_RT_TABLES];
} pool;

/* ---- files */

/* "/<build-id>" and what is behind it, NUL-terminated. */
static void write_name(char *to, struct wndl_bytes id, const char *suffix)
{
    static const char digits[] = "0123456789abcdef";
    *to++ = '/';
    for (size_t i = 0; i < id.size; i++) {
        *to++ = digits[id.data[i] >> 4];
        *to++ = digits[id.data[i] & 15];
    }
    memcpy(to, suffix, strlen(suffix) + 1);
}

static struct wndl_bytes map_file(const char *path)
{
    enum { MOST = 1 << 30 };
    struct wndl_bytes bytes = {0};
    int fd = wndl_raw_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return bytes;
    const long size = wndl_raw3(SYS_lseek, fd, 0, SEEK_END);
    if (size > 0 && size < MOST) {
        bytes.data = wndl_raw_map((size_t)size, PROT_READ, MAP_PRIVATE, fd);
        bytes.size = bytes.data == NULL ? 0 : (size_t)size;
    }
    wndl_raw_close(fd);
    return bytes;
}

/* What is looked for. */
struct wanted {
    const struct wndl_dlmodule *module;
    struct wndl_bytes id;
    const char *suffix;
};

/* Chromium's does not say where .text is; the module's file does. */
static bool open_chrome(struct wndl_bytes bytes, const struct wanted *wanted,
    struct wndl_table *table)
{
    const char *name = wanted->module->name;
    struct wndl_table_chrome_of of;
    const struct wndl_bytes file =
        map_file(name[0] == '\0' ? "/proc/self/exe" : name);
    if (file.size == 0)
        return false;
    const bool known = wndl_table_chrome_of_file(file, &of);
    wndl_raw_unmap((void *)file.data, file.size);
    return known && of.machine == WNDL_ARCH_MACHINE &&
           wndl_table_open_chrome(bytes, &of, table, NULL) == WNDL_OK;
}

/* Of the file of that path, if it is the module's. */
static bool open_table(
    const char *path, const struct wanted *wanted, struct wndl_table *table)
{
    const struct wndl_bytes bytes = map_file(path);
    if (bytes.size == 0)
        return false;
    if (wanted->suffix[1] == WNDL_TABLE_CHROME_SUFFIX[1]
            ? open_chrome(bytes, wanted, table)
            : wndl_table_open(bytes, table, NULL) == WNDL_OK &&
                  wndl_table_is_for(
                      table, WNDL_ARCH_MACHINE, wanted->id, NULL) == WNDL_OK)
        return true;
    wndl_raw_unmap((void *)bytes.data, bytes.size);
    return false;
}

static size_t up_to_colon(const char *text)
{
    size_t size = 0;
    while (text[size] != '\0' && text[size] != ':')
        size++;
    return size;
}

/* In the first folder that has it. */
static bool find_table(const struct wanted *wanted, struct wndl_table *table)
{
    enum { PATH = 1024 };
    char path[PATH];
    const char *folder = folders;
    while (*folder != '\0') {
        const size_t size = up_to_colon(folder);
        if (size != 0 && size + NAME_MAX_SIZE <= sizeof path) {
            memcpy(path, folder, size);
            write_name(path + size, wanted->id, wanted->suffix);
            if (open_table(path, wanted, table))
                return true;
        }
        folder += size + (folder[size] == ':');
    }
    return false;
}

static bool find_any(struct wanted *wanted, struct wndl_table *table)
{
    wanted->suffix = WNDL_TABLE_SUFFIX;
    if (find_table(wanted, table))
        return true;
    wanted->suffix = WNDL_TABLE_CHROME_SUFFIX;
    return WNDL_ARCH_MACHINE == EM_ARM && find_table(wanted, table);
}

/* ---- what is there already */

static const struct wndl_table *find_known(struct wndl_bytes id)
{
    for (uint32_t i = 0; i < WNDL_RT_TABLES; i++) {
        struct found *f = &pool.all[i];
        if (atomic_load_explicit(&f->ready, memory_order_acquire) &&
            wndl_bytes_equal(f->table.build_id, id))
            return &f->table;
    }
    return NULL;
}

static const struct wndl_table *keep(
    const struct wndl_table *table, struct wndl_bytes id)
{
    uint32_t turn = atomic_load(&pool.taken);
    do {
        if (turn == WNDL_RT_TABLES) {
            wndl_raw_unmap((void *)table->bytes.data, table->bytes.size);
            return NULL;
        }
    } while (!atomic_compare_exchange_weak(&pool.taken, &turn, turn + 1));
    pool.all[turn].table = *table;
    memcpy(pool.all[turn].id, id.data, id.size);
    pool.all[turn].table.build_id =
        (struct wndl_bytes){pool.all[turn].id, id.size};
    atomic_store_explicit(&pool.all[turn].ready, true, memory_order_release);
    return &pool.all[turn].table;
}

/* A sandbox may not let threads open files, and end the program for it. */
static const struct wndl_table *load(const struct wndl_dlmodule *module)
{
    struct wndl_table table;
    const struct wndl_bytes id = wndl_rt_module_build_id(module);
    if (id.size == 0 || id.size > WNDL_TABLE_BUILD_ID_MAX)
        return NULL;
    struct wanted wanted = {.module = module, .id = id};
    const struct wndl_table *known = find_known(id);
    if (known != NULL || wndl_rt_is_careful() || !find_any(&wanted, &table))
        return known;
    return keep(&table, id);
}

void wndl_rt_tables_start(char *const environment[])
{
    const char *list =
        wndl_rt_variable(environment, WNDL_TABLE_FOLDERS_ENV "=");
    if (list == NULL || *list == '\0' || strlen(list) >= sizeof folders)
        return;
    memcpy(folders, list, strlen(list) + 1);
    wndl_table_set_init(load);
}
