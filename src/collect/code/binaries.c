/* SPDX-License-Identifier: MIT */
#include "collect/code/binaries.h"

#include "cfi/cfi.h"
#include "collect/code/call_file.h"
#include "collect/code/made_tables.h"
#include "collect/code/table_maker.h"
#include "collect/code/unwind_tables.h"
#include "obj/core/object.h"
#include "os/file.h"
#include "os/process_memory.h"
#include "unwind/table/table.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VDSO_MAX = 64 * 1024, SEGMENTS_MAX = 64 };

static const char vdso[] = "[vdso]";
static const char deleted[] = " (deleted)";

bool wndl_binaries_init(struct wndl_binaries *binaries, const char *tables,
    const char *const *debug_dirs)
{
    binaries->tables = tables;
    binaries->debug_dirs = debug_dirs;
    binaries->maker = NULL;
    binaries->made = 0;
    binaries->call_files = NULL;
    binaries->kept = NULL;
    binaries->has_trouble = false;
    wndl_arena_init(&binaries->arena, wndl_mem_libc());
    wndl_vec_init(
        &binaries->all, &binaries->arena, sizeof(struct wndl_binary *));
    wndl_vec_init(&binaries->by_image, &binaries->arena,
        sizeof(struct wndl_image_binary));
    wndl_map_init(&binaries->calls, &binaries->arena);
    return wndl_intern_init(&binaries->keys, &binaries->arena);
}

void wndl_binaries_free(struct wndl_binaries *binaries)
{
    wndl_table_maker_free(binaries->maker);
    wndl_call_files_close(binaries->call_files);
    wndl_arena_free(&binaries->arena);
}

/* ---- which file it is */

/* A file that can be opened, and the fields that identify it. */
struct place {
    char open[PATH_MAX + 64];
    char name[PATH_MAX];
    struct wndl_binary_identity identity;
};

static void identify(
    struct wndl_binary_identity *identity, const struct stat *s)
{
    identity->device = s->st_dev;
    identity->inode = s->st_ino;
    identity->size = (uint64_t)s->st_size;
    identity->seconds = (uint64_t)s->st_mtim.tv_sec;
    identity->nanoseconds = (uint64_t)s->st_mtim.tv_nsec;
}

static bool is_same_file(struct place *place, uint64_t inode)
{
    struct stat s;
    if (stat(place->open, &s) != 0 || !S_ISREG(s.st_mode) || s.st_ino != inode)
        return false;
    identify(&place->identity, &s);
    return true;
}

/*
 * Finds the file by its path; by its path as the process sees it; or, if it has
 * no path any more, by the kernel's own link, which not every user may follow.
 */
static bool find_file(
    pid_t pid, const struct wndl_mapping *mapping, struct place *place)
{
    size_t size = mapping->path.size, cut = sizeof deleted - 1;
    if (size == 0 || size >= PATH_MAX)
        return false;
    if (size > cut &&
        memcmp(mapping->path.data + size - cut, deleted, cut) == 0)
        size -= cut;
    snprintf(place->name, sizeof place->name, "%.*s", (int)size,
        (const char *)mapping->path.data);
    snprintf(place->open, sizeof place->open, "%s", place->name);
    if (is_same_file(place, mapping->inode))
        return true;
    snprintf(place->open, sizeof place->open, "/proc/%d/root%s", (int)pid,
        place->name);
    if (is_same_file(place, mapping->inode))
        return true;
    snprintf(place->open, sizeof place->open, "/proc/%d/map_files/%llx-%llx",
        (int)pid, (unsigned long long)mapping->start,
        (unsigned long long)mapping->end);
    return is_same_file(place, mapping->inode);
}

/* ---- contents */

static bool copy(struct wndl_arena *arena, struct wndl_bytes *bytes)
{
    if (bytes->size == 0)
        return true;
    bytes->data = (uint8_t *)wndl_arena_copy(arena, bytes->data, bytes->size);
    return bytes->data != NULL;
}

static bool take_section(struct wndl_arena *arena, struct wndl_object *object,
    const char *name, struct wndl_binary_section *section)
{
    struct wndl_section info;
    if (wndl_object_section_bytes(object, name, &section->bytes, &info, NULL) !=
        WNDL_OK)
        section->bytes = (struct wndl_bytes){0};
    else
        section->svma = info.addr.v;
    return copy(arena, &section->bytes);
}

static bool take_segments(struct wndl_arena *arena,
    const struct wndl_object *object, struct wndl_binary *binary)
{
    size_t count = wndl_object_segment_count(object);
    if (count > SEGMENTS_MAX)
        return false;
    binary->code = wndl_arena_calloc(arena, count + 1, sizeof *binary->code);
    if (binary->code == NULL)
        return false;
    binary->start = wndl_object_image_base(object).v;
    for (size_t i = 0; i < count; i++) {
        struct wndl_segment s = wndl_object_segment(object, i);
        if (s.addr.v + s.mem_size > binary->end)
            binary->end = s.addr.v + s.mem_size;
        if (s.executable)
            binary->code[binary->code_count++] = (struct wndl_binary_segment){
                s.addr.v, s.file_offset, s.file_size};
    }
    return true;
}

static bool take_object(struct wndl_binaries *binaries,
    struct wndl_object *object, struct wndl_binary *binary)
{
    struct wndl_arena *arena = &binaries->arena;
    if (!wndl_object_is_image(object) || !take_segments(arena, object, binary))
        return false;
    binary->machine = wndl_object_machine(object);
    binary->build_id = wndl_object_build_id(object);
    binary->unwind_table =
        wndl_unwind_table_copy(arena, object, binary->path, binaries->tables);
    binary->made_table = (struct wndl_bytes){0};
    binary->may_lack_rules = false;
    if (binary->unwind_table.bytes.size == 0) {
        binary->made_table =
            wndl_made_table_of(object, binaries->debug_dirs, arena);
        binary->unwind_table.bytes = binary->made_table;
    }
    return copy(arena, &binary->build_id) &&
           take_section(arena, object, ".eh_frame", &binary->eh_frame) &&
           take_section(arena, object, ".eh_frame_hdr", &binary->eh_frame_hdr);
}

struct wndl_binary *wndl_binaries_of_bytes(
    struct wndl_binaries *binaries, struct wndl_bytes bytes, const char *name)
{
    struct wndl_arena *arena = &binaries->arena;
    struct wndl_object *object;
    if (wndl_object_open(bytes, name, wndl_mem_libc(), &object, NULL) !=
        WNDL_OK)
        return NULL;
    struct wndl_binary *binary = wndl_arena_alloc(arena, sizeof *binary);
    if (binary != NULL) {
        *binary = (struct wndl_binary){0};
        binary->path = wndl_arena_copy(arena, name, strlen(name));
    }
    bool taken = binary != NULL && binary->path != NULL &&
                 take_object(binaries, object, binary);
    wndl_object_close(object);
    return taken ? binary : NULL;
}

/* ---- tables from code */

void wndl_binaries_follow_code(struct wndl_binaries *binaries, const char *kept)
{
    binaries->maker = wndl_table_maker_new(binaries->debug_dirs);
    binaries->kept = kept;
}

static void note_trouble(struct wndl_binaries *binaries,
    enum wndl_status status, const struct wndl_error *err)
{
    if (status == WNDL_OK || status == WNDL_NOT_FOUND || binaries->has_trouble)
        return;
    binaries->has_trouble = true;
    binaries->trouble = *err;
}

/* Where its table is kept; what it has by now is one of .debug_frame. */
static void find_kept(const struct wndl_binaries *binaries,
    const struct wndl_binary *binary, struct wndl_kept_table *kept)
{
    const struct wndl_kept_facts facts = {
        .build_id = binary->build_id,
        .size = binary->identity.size,
        .has_debug_frame = binary->made_table.size != 0,
    };
    wndl_kept_table_of(kept, binaries->kept, &facts);
}

static void take_table(struct wndl_binary *binary, struct wndl_bytes table)
{
    binary->may_lack_rules = false;
    if (table.size == 0)
        return;
    binary->made_table = table;
    binary->unwind_table.bytes = table;
}

static bool is_for(const struct wndl_binary *binary, struct wndl_bytes bytes)
{
    struct wndl_table table;
    return bytes.size == 0 ||
           (wndl_table_open(bytes, &table, NULL) == WNDL_OK &&
               wndl_table_is_for(
                   &table, binary->machine, binary->build_id, NULL) == WNDL_OK);
}

/*
 * Takes the kept table, if there is one. A table that a user has made has all
 * that it is to have.
 */
static void recall_table(
    struct wndl_binaries *binaries, struct wndl_binary *binary)
{
    struct wndl_kept_table kept;
    struct wndl_bytes table = {0};
    struct wndl_error err = {0};
    binary->may_lack_rules =
        binaries->maker != NULL &&
        (binary->machine == EM_X86_64 || binary->machine == EM_386) &&
        binary->unwind_table.bytes.data == binary->made_table.data;
    if (!binary->may_lack_rules)
        return;
    find_kept(binaries, binary, &kept);
    const enum wndl_status status =
        wndl_kept_table_read(&kept, &binaries->arena, &table, &err);
    note_trouble(binaries, status, &err);
    if (status == WNDL_OK && is_for(binary, table))
        take_table(binary, table);
}

bool wndl_binaries_want(
    struct wndl_binaries *binaries, struct wndl_binary *binary)
{
    struct wndl_kept_table kept;
    struct wndl_file file;
    if (binaries->maker == NULL || !binary->may_lack_rules)
        return false;
    if (!wndl_binary_open_again(binary, &file))
        return false;
    binary->may_lack_rules = false;
    find_kept(binaries, binary, &kept);
    const struct wndl_table_order order = {&file, binary->path, binary, &kept};
    wndl_table_maker_add(binaries->maker, &order);
    return true;
}

static void take_made(
    struct wndl_binaries *binaries, struct wndl_table_made *made)
{
    const struct wndl_bytes table = {made->table.data, made->table.size};
    struct wndl_bytes copy = {0};
    if (table.size != 0)
        copy.data = (const uint8_t *)wndl_arena_copy(
            &binaries->arena, table.data, table.size);
    copy.size = copy.data == NULL ? 0 : table.size;
    take_table(made->owner, copy);
    note_trouble(binaries, made->status, &made->err);
    binaries->made += copy.size != 0;
    wndl_buf_free(&made->table);
}

void wndl_binaries_take_made(struct wndl_binaries *binaries)
{
    struct wndl_table_made made;
    while (binaries->maker != NULL &&
           wndl_table_maker_next(binaries->maker, &made))
        take_made(binaries, &made);
}

bool wndl_binaries_have_all(const struct wndl_binaries *binaries)
{
    return binaries->maker == NULL || wndl_table_maker_is_idle(binaries->maker);
}

bool wndl_binaries_wait(const struct wndl_binaries *binaries, uint64_t ns)
{
    return binaries->maker != NULL &&
           wndl_table_maker_wait(binaries->maker, ns);
}

void wndl_binaries_rest(struct wndl_binaries *binaries)
{
    if (binaries->maker != NULL)
        wndl_table_maker_rest(binaries->maker);
}

/* ---- opening files */

static struct wndl_binary *open_file(
    struct wndl_binaries *binaries, const struct place *place)
{
    struct wndl_file file;
    if (wndl_file_open(place->open, &file, NULL) != WNDL_OK)
        return NULL;
    struct wndl_binary *binary =
        wndl_binaries_of_bytes(binaries, file.bytes, place->name);
    wndl_file_close(&file);
    if (binary == NULL)
        return NULL;
    binary->opened =
        wndl_arena_copy(&binaries->arena, place->open, strlen(place->open));
    binary->identity = place->identity;
    recall_table(binaries, binary);
    return binary;
}

/* The kernel's own, in memory only. */
static struct wndl_binary *read_vdso(struct wndl_binaries *binaries, pid_t pid,
    const struct wndl_mapping *mapping)
{
    size_t size = mapping->end - mapping->start;
    if (size > VDSO_MAX)
        return NULL;
    uint8_t *bytes = wndl_arena_alloc(&binaries->arena, size);
    if (bytes == NULL ||
        wndl_process_read(pid, mapping->start, bytes, size) != size)
        return NULL;
    return wndl_binaries_of_bytes(
        binaries, (struct wndl_bytes){bytes, size}, vdso);
}

/* ---- the cache */

/*
 * The cache's slot for a file, which holds NULL if it is new. NULL when memory
 * is out.
 */
static struct wndl_binary **find(
    struct wndl_binaries *binaries, const void *key, size_t size, bool *is_new)
{
    uint32_t id;
    struct wndl_bytes bytes = {key, size};
    if (!wndl_intern_add(&binaries->keys, bytes, &id))
        return NULL;
    *is_new = id >= binaries->all.len;
    while (id >= binaries->all.len) {
        if (wndl_vec_push(&binaries->all) == NULL)
            return NULL;
    }
    return wndl_vec_at(&binaries->all, id);
}

/* The vDSO's binary, one for each machine. */
static struct wndl_binary *get_vdso(struct wndl_binaries *binaries,
    struct wndl_binaries_user user, const struct wndl_mapping *mapping)
{
    uint8_t key[sizeof vdso + sizeof user.machine];
    bool is_new;
    memcpy(key, vdso, sizeof vdso);
    memcpy(key + sizeof vdso, &user.machine, sizeof user.machine);
    struct wndl_binary **found = find(binaries, key, sizeof key, &is_new);
    if (found != NULL && *found == NULL)
        *found = read_vdso(binaries, user.pid, mapping);
    return found == NULL ? NULL : *found;
}

/* A path in /proc ends with its process: another process may have one. */
static void renew_path(struct wndl_binaries *binaries,
    struct wndl_binary *binary, const struct place *place)
{
    static const char proc[] = "/proc/";
    struct stat s;
    if (binary->opened == NULL ||
        strncmp(binary->opened, proc, sizeof proc - 1) != 0 ||
        stat(binary->opened, &s) == 0)
        return;
    char *path =
        wndl_arena_copy(&binaries->arena, place->open, strlen(place->open));
    if (path != NULL)
        binary->opened = path;
}

static struct wndl_binary *get_file(struct wndl_binaries *binaries, pid_t pid,
    const struct wndl_mapping *mapping)
{
    struct place place = {0};
    uint8_t key[sizeof place.identity + PATH_MAX];
    bool is_new;
    if (mapping->inode == 0 || !find_file(pid, mapping, &place))
        return NULL;
    size_t size = strlen(place.name);
    memcpy(key, &place.identity, sizeof place.identity);
    memcpy(key + sizeof place.identity, place.name, size);
    struct wndl_binary **found =
        find(binaries, key, sizeof place.identity + size, &is_new);
    if (found != NULL && is_new)
        *found = open_file(binaries, &place);
    else if (found != NULL && *found != NULL)
        renew_path(binaries, *found, &place);
    return found == NULL ? NULL : *found;
}

struct wndl_binary *wndl_binaries_get(struct wndl_binaries *binaries,
    struct wndl_binaries_user user, const struct wndl_mapping *mapping)
{
    struct wndl_binary *binary = wndl_bytes_is(mapping->path, vdso)
                                     ? get_vdso(binaries, user, mapping)
                                     : get_file(binaries, user.pid, mapping);
    return binary != NULL && binary->machine == user.machine ? binary : NULL;
}

struct wndl_binary *wndl_binaries_find(const struct wndl_binaries *binaries,
    const char *path, struct wndl_bytes build_id)
{
    for (size_t i = binaries->all.len; i > 0; i--) {
        struct wndl_binary *const *slot = wndl_vec_at(&binaries->all, i - 1);
        struct wndl_binary *binary = *slot;
        if (binary != NULL && wndl_bytes_equal(binary->build_id, build_id) &&
            (build_id.size != 0 || strcmp(binary->path, path) == 0))
            return binary;
    }
    return NULL;
}

bool wndl_binary_open_again(
    const struct wndl_binary *binary, struct wndl_file *file)
{
    struct wndl_binary_identity now = {0};
    struct stat s;
    const int fd = binary->opened == NULL
                       ? -1
                       : open(binary->opened,
                             O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return false;
    if (fstat(fd, &s) == 0)
        identify(&now, &s);
    const bool is_open = memcmp(&now, &binary->identity, sizeof now) == 0 &&
                         wndl_file_of_descriptor(fd, file, NULL) == WNDL_OK;
    close(fd);
    return is_open;
}

struct wndl_remote_module wndl_binary_module(
    const struct wndl_binary *binary, uint64_t bias)
{
    return (struct wndl_remote_module){
        .start = binary->start + bias,
        .end = binary->end + bias,
        .bias = bias,
        .eh_frame = binary->eh_frame.bytes.data,
        .eh_frame_size = binary->eh_frame.bytes.size,
        .eh_frame_svma = binary->eh_frame.svma,
        .eh_frame_hdr = binary->eh_frame_hdr.bytes.data,
        .eh_frame_hdr_size = binary->eh_frame_hdr.bytes.size,
        .eh_frame_hdr_svma = binary->eh_frame_hdr.svma,
        .table = binary->unwind_table.bytes.data,
        .table_size = binary->unwind_table.bytes.size,
        .table_text = binary->unwind_table.text,
        .table_text_size = binary->unwind_table.text_size,
    };
}

static struct wndl_cfi_section section_of(
    const struct wndl_binary *binary, const struct wndl_binary_section *section)
{
    return (struct wndl_cfi_section){
        .bytes = section->bytes,
        .addr = section->svma,
        .data_base = section->svma,
        .address_size = binary->machine == EM_386 ? 4 : 8,
    };
}

/* Only asked about x86-64 and i386. */
static bool has_fde(const struct wndl_binary *binary, uint64_t svma)
{
    const struct wndl_cfi_section frame = section_of(binary, &binary->eh_frame);
    const struct wndl_cfi_section hdr =
        section_of(binary, &binary->eh_frame_hdr);
    struct wndl_fde fde;
    uint64_t offset;
    if (hdr.bytes.size == 0)
        return wndl_fde_scan(&frame, svma, &fde, NULL) == WNDL_OK;
    return wndl_eh_frame_hdr_find(&hdr, &frame, svma, &offset) == WNDL_OK &&
           wndl_fde_parse(&frame, offset, &fde, NULL, NULL) == WNDL_OK &&
           svma >= fde.start && svma < fde.end;
}

static bool is_in_table(struct wndl_bytes bytes, uint64_t svma)
{
    struct wndl_table table;
    return bytes.size != 0 && wndl_table_open(bytes, &table, NULL) == WNDL_OK &&
           wndl_table_find(&table, svma) != WNDL_TABLE_NONE;
}

bool wndl_binary_has_rules(const struct wndl_binary *binary, uint64_t svma)
{
    return has_fde(binary, svma) ||
           is_in_table(binary->unwind_table.bytes, svma);
}

bool wndl_binary_bias(const struct wndl_binary *binary,
    const struct wndl_mapping *mapping, uint64_t *bias)
{
    for (size_t i = 0; i < binary->code_count; i++) {
        const struct wndl_binary_segment *s = &binary->code[i];
        uint64_t first = s->file_offset & ~(uint64_t)(WNDL_PROCESS_PAGE - 1);
        if (mapping->offset < first ||
            mapping->offset >= s->file_offset + s->file_size)
            continue;
        *bias = mapping->start - mapping->offset + s->file_offset - s->svma;
        return true;
    }
    return false;
}
