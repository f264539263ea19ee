/* SPDX-License-Identifier: MIT */
/*
 * unwind_tables: tables of the program's modules, which are attached to them by
 * name, found in a list of folders by build-id, or made by the collector. A
 * table in a file is copied when a walk
 * first reaches its module, by open, mmap and read only. A copy stays.
 */
#include "rt/walk/unwind_tables.h"

#include "os/raw.h"
#include "rt/arch/arch.h"
#include "rt/core/memory.h"
#include "rt/core/rt.h"
#include "rt/core/variable.h"
#include "rt/walk/made_tables.h"
#include "rt/walk/modules.h"
#include "unwind/table/chrome.h"
#include "unwind/table/named.h"
#include "unwind/table/set.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    NAME_MAX_SIZE = 2 * WNDL_TABLE_BUILD_ID_MAX + 8,
    PATH = 1024,
};

static const char *folders = "";       /* separated by colons */
static char attached[WNDL_SHM_TABLES]; /* unwind/table/named.h */

/*
 * Tables found so far, which are never dropped. `file` is in `attached`, and
 * NULL for a table found by build-id.
 */
static struct {
    _Atomic uint32_t taken;
    struct found {
        _Atomic bool ready;
        struct wndl_table table;
        const char *file;
        uint8_t id[WNDL_TABLE_BUILD_ID_MAX];
    } all[WNDL_RT_UNWIND_TABLES];
} pool;

/* ---- files */

/* "/<build-id>" and a suffix, NUL-terminated. */
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

/* *size is less than MOST; -1 for other files. */
static int open_sized(const char *path, size_t *size)
{
    enum { MOST = 1 << 30 };
    int fd = wndl_raw_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -1;
    const long end = wndl_raw3(SYS_lseek, fd, 0, SEEK_END);
    *size = (size_t)end;
    if (end > 0 && end < MOST)
        return fd;
    wndl_raw_close(fd);
    return -1;
}

static struct wndl_bytes map_file(const char *path)
{
    struct wndl_bytes bytes = {0};
    int fd = open_sized(path, &bytes.size);
    if (fd < 0)
        return (struct wndl_bytes){0};
    bytes.data = wndl_raw_map(bytes.size, PROT_READ, MAP_PRIVATE, fd);
    wndl_raw_close(fd);
    return bytes.data == NULL ? (struct wndl_bytes){0} : bytes;
}

static bool read_from_start(int fd, uint8_t *to, size_t size)
{
    size_t done = 0;
    if (wndl_raw3(SYS_lseek, fd, 0, SEEK_SET) != 0)
        return false;
    while (done < size) {
        const long got = wndl_raw_read(fd, to + done, size - done);
        if (got == 0 || (got < 0 && got != -EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* A copy, which nobody can truncate or write to while it is used. */
static struct wndl_bytes copy_of(int fd, size_t size)
{
    uint8_t *copy = wndl_raw_map(
        size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    const bool whole =
        copy != NULL && read_from_start(fd, copy, size) &&
        wndl_raw3(SYS_mprotect, (long)copy, (long)size, PROT_READ) == 0;
    if (whole)
        return (struct wndl_bytes){copy, size};
    if (copy != NULL)
        wndl_raw_unmap(copy, size);
    return (struct wndl_bytes){0};
}

/* A module whose table is wanted. `id` is empty if it has no build-id. */
struct wanted {
    const struct wndl_dlmodule *module;
    struct wndl_bytes id;
};

static bool is_own(struct wndl_bytes bytes)
{
    return bytes.size >= sizeof WNDL_TABLE_MAGIC - 1 &&
           memcmp(bytes.data, WNDL_TABLE_MAGIC, sizeof WNDL_TABLE_MAGIC - 1) ==
               0;
}

/*
 * The number of bytes to copy from a file of `size` bytes that begins with
 * `head`; 0 if it is not the module's table.
 */
static size_t size_to_copy(
    struct wndl_bytes head, size_t size, const struct wanted *wanted)
{
    struct wndl_table table;
    if (is_own(head)) {
        const bool is_wanted =
            wndl_table_open_head(head, size, &table, NULL) == WNDL_OK &&
            wndl_table_is_for(&table, WNDL_ARCH_MACHINE, wanted->id, NULL) ==
                WNDL_OK;
        return is_wanted ? size : 0;
    }
    if (WNDL_ARCH_MACHINE != EM_ARM)
        return 0;
    const uint64_t needed = wndl_chrome_v2_size(head);
    return needed <= size ? (size_t)needed : 0;
}

/*
 * Copies a file, but keeps only the first bytes until they are found to be
 * right, because any file there may be large.
 */
static struct wndl_bytes copy_file(
    const char *path, const struct wanted *wanted)
{
    enum { HEAD = WNDL_TABLE_HEADER };
    _Static_assert((int)HEAD >= (int)WNDL_CHROME_V2_HEADER, "both heads fit");
    uint8_t head[HEAD];
    struct wndl_bytes copy = {0};
    size_t size;
    int fd = open_sized(path, &size);
    if (fd < 0)
        return copy;
    const size_t first = size < HEAD ? size : HEAD;
    if (read_from_start(fd, head, first))
        size = size_to_copy((struct wndl_bytes){head, first}, size, wanted);
    else
        size = 0;
    if (size != 0)
        copy = copy_of(fd, size);
    wndl_raw_close(fd);
    return copy;
}

static const char *file_of(const struct wndl_dlmodule *module)
{
    return module->name[0] == '\0' ? "/proc/self/exe" : module->name;
}

/* Chromium's does not say where .text is; the module's file does. */
static bool open_chrome(struct wndl_bytes bytes, const struct wanted *wanted,
    struct wndl_table *table)
{
    struct wndl_table_chrome_of of;
    const struct wndl_bytes file = map_file(file_of(wanted->module));
    if (file.size == 0)
        return false;
    const bool known = wndl_table_chrome_of_file(file, &of);
    wndl_raw_unmap((void *)file.data, file.size);
    return known && of.machine == WNDL_ARCH_MACHINE &&
           wndl_table_open_chrome(bytes, &of, table, NULL) == WNDL_OK;
}

/* False if the bytes are not the module's table. */
static bool open_bytes(struct wndl_bytes bytes, const struct wanted *wanted,
    struct wndl_table *table)
{
    if (!is_own(bytes))
        return open_chrome(bytes, wanted, table);
    return wndl_table_open(bytes, table, NULL) == WNDL_OK &&
           wndl_table_is_for(table, WNDL_ARCH_MACHINE, wanted->id, NULL) ==
               WNDL_OK;
}

/* Opens the file of that path, if it is the module's table. */
static bool open_table(
    const char *path, const struct wanted *wanted, struct wndl_table *table)
{
    const struct wndl_bytes bytes = copy_file(path, wanted);
    if (bytes.size == 0)
        return false;
    if (open_bytes(bytes, wanted, table))
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

/* Opens the table in the first folder that has it. */
static bool find_table(
    const struct wanted *wanted, const char *suffix, struct wndl_table *table)
{
    char path[PATH];
    const char *folder = folders;
    while (*folder != '\0') {
        const size_t size = up_to_colon(folder);
        if (size != 0 && size + NAME_MAX_SIZE <= sizeof path) {
            memcpy(path, folder, size);
            write_name(path + size, wanted->id, suffix);
            if (open_table(path, wanted, table))
                return true;
        }
        folder += size + (folder[size] == ':');
    }
    return false;
}

static bool find_any(const struct wanted *wanted, struct wndl_table *table)
{
    return find_table(wanted, WNDL_TABLE_SUFFIX, table) ||
           (WNDL_ARCH_MACHINE == EM_ARM &&
               find_table(wanted, WNDL_TABLE_CHROME_SUFFIX, table));
}

/* ---- tables found so far */

/* NULL after the last one. */
static const struct found *next_found(uint32_t *at)
{
    while (*at < WNDL_RT_UNWIND_TABLES) {
        const struct found *f = &pool.all[(*at)++];
        if (atomic_load_explicit(&f->ready, memory_order_acquire))
            return f;
    }
    return NULL;
}

static const struct wndl_table *find_known(struct wndl_bytes id)
{
    uint32_t at = 0;
    for (const struct found *f; (f = next_found(&at)) != NULL;) {
        if (f->file == NULL && wndl_bytes_equal(f->table.build_id, id))
            return &f->table;
    }
    return NULL;
}

/* Another module of the same name may not be that of the table. */
static const struct wndl_table *find_known_file(
    const char *file, const struct wanted *wanted)
{
    struct wndl_table table;
    uint32_t at = 0;
    for (const struct found *f; (f = next_found(&at)) != NULL;) {
        if (f->file == file && open_bytes(f->table.bytes, wanted, &table) &&
            table.text == f->table.text)
            return &f->table;
    }
    return NULL;
}

static const struct wndl_table *keep(
    const struct wndl_table *table, struct wndl_bytes id, const char *file)
{
    uint32_t turn = atomic_load(&pool.taken);
    do {
        if (turn == WNDL_RT_UNWIND_TABLES) {
            wndl_raw_unmap((void *)table->bytes.data, table->bytes.size);
            return NULL;
        }
    } while (!atomic_compare_exchange_weak(&pool.taken, &turn, turn + 1));
    pool.all[turn].table = *table;
    pool.all[turn].file = file;
    memcpy(pool.all[turn].id, id.data, id.size);
    pool.all[turn].table.build_id =
        (struct wndl_bytes){pool.all[turn].id, id.size};
    atomic_store_explicit(&pool.all[turn].ready, true, memory_order_release);
    return &pool.all[turn].table;
}

/* ---- by name */

static const struct wndl_table *find_attached(const struct wanted *wanted)
{
    char path[WNDL_RT_MODULE_PATH];
    struct wndl_table_named named;
    const char *at = attached;
    if (*at == '\0' || !wndl_rt_module_path(wanted->module, path))
        return NULL;
    while (wndl_table_named_next(&at, &named)) {
        struct wndl_table table;
        const struct wndl_table *found = NULL;
        if (!wndl_table_names(named.module, path))
            continue;
        found = find_known_file(named.file, wanted);
        if (found == NULL && open_table(named.file, wanted, &table))
            found = keep(&table, wanted->id, named.file);
        if (found != NULL)
            return found;
    }
    return NULL;
}

/* ---- both ways */

/* A sandbox may end the program when a thread opens a file. */
static const struct wndl_table *load(const struct wndl_dlmodule *module)
{
    struct wndl_table table;
    struct wanted wanted = {
        .module = module, .id = wndl_rt_module_build_id(module)};
    if (wanted.id.size > WNDL_TABLE_BUILD_ID_MAX)
        wanted.id.size = 0;
    const bool careful = wndl_rt_is_careful();
    const struct wndl_table *known = careful ? NULL : find_attached(&wanted);
    if (known == NULL && wanted.id.size != 0)
        known = find_known(wanted.id);
    if (known == NULL && wanted.id.size != 0 && !careful &&
        find_any(&wanted, &table))
        known = keep(&table, wanted.id, NULL);
    return known != NULL ? known : wndl_rt_made_table(module, wanted.id);
}

/* None are attached later. */
static void attach(const char tables[WNDL_SHM_TABLES])
{
    if (tables[0] == '\0' || attached[0] != '\0')
        return;
    memcpy(attached, tables, sizeof attached - 3);
    wndl_table_set_init(load);
}

void wndl_rt_unwind_tables_take(void)
{
    wndl_rt_made_tables_take();
    if (wndl_rt_made_tables_are_there())
        wndl_table_set_init(load);
}

void wndl_rt_unwind_tables_share(void)
{
    attach(wndl_rt.shm->tables);
    wndl_rt_made_tables_start();
    wndl_rt_unwind_tables_take();
}

/* Copies the list, because programs overwrite their variables. */
void wndl_rt_unwind_tables_start(char *const environment[])
{
    const char *list =
        wndl_rt_variable(environment, WNDL_TABLE_FOLDERS_ENV "=");
    if (list == NULL || *list == '\0')
        return;
    uint8_t *copy = wndl_rt_map_undumped(strlen(list) + 1);
    if (copy == NULL)
        return;
    memcpy(copy, list, strlen(list) + 1);
    folders = (const char *)copy;
    wndl_table_set_init(load);
}
