/* SPDX-License-Identifier: MIT */
#include "analyze/fix/modules.h"

#include "analyze/fix/breakpad.h"
#include "analyze/fix/local.h"
#include "obj/find/debug_id.h"
#include "obj/packed/zip.h"
#include "obj/pe/pe.h"
#include "symbolize/files/debuginfod.h"
#include "symbolize/symbolizer.h"

#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Valgrind's address for position-independent programs (not libraries). */
#define VALGRINDS_PROGRAMS UINT64_C(0x108000)

/* Lists the folder of -l and the debug folders. False when memory is out. */
static bool list_debug_dirs(struct wndl_fix_modules *modules)
{
    const struct wndl_fix_options *o = modules->options;
    size_t count = 0;
    modules->debug_dirs = o->debug_dirs;
    if (o->local_dir == NULL || o->debug_dirs == NULL)
        return true;
    while (o->debug_dirs[count] != NULL)
        count++;
    const char **list =
        wndl_arena_calloc(&modules->arena, count + 2, sizeof *list);
    if (list == NULL)
        return false;
    list[0] = o->local_dir;
    for (size_t i = 0; i < count; i++)
        list[i + 1] = o->debug_dirs[i];
    modules->debug_dirs = list;
    return true;
}

bool wndl_fix_modules_init(struct wndl_fix_modules *modules,
    const struct wndl_fix_options *options, struct wndl_mem *mem)
{
    *modules = (struct wndl_fix_modules){.mem = mem, .options = options};
    wndl_buf_init(&modules->key, mem);
    wndl_arena_init(&modules->arena, mem);
    wndl_vec_init(
        &modules->list, &modules->arena, sizeof(struct wndl_fix_module *));
    /* Index 0 is the empty path, which no frame has. */
    return list_debug_dirs(modules) &&
           wndl_intern_init(&modules->paths, &modules->arena) &&
           wndl_vec_push(&modules->list) != NULL;
}

void wndl_fix_modules_free(struct wndl_fix_modules *modules)
{
    for (uint32_t i = 1; i < modules->list.len; i++) {
        struct wndl_fix_module *module = wndl_fix_module_at(modules, i);
        wndl_symbolizer_close(module->symbols);
        if (module->object != NULL)
            wndl_object_close(module->object);
        wndl_file_close(&module->file);
    }
    wndl_buf_free(&modules->key);
    wndl_arena_free(&modules->arena);
}

struct wndl_fix_module *wndl_fix_module_at(
    const struct wndl_fix_modules *modules, uint32_t index)
{
    return *(struct wndl_fix_module **)wndl_vec_at(&modules->list, index);
}

static int digit_of(uint8_t c)
{
    return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

static void set_build_id(struct wndl_fix_module *module, struct wndl_bytes hex)
{
    module->build_id_size = hex.size / 2;
    for (size_t i = 0; i < hex.size / 2; i++)
        module->build_id[i] = (uint8_t)(digit_of(hex.data[2 * i]) << 4 |
                                        digit_of(hex.data[2 * i + 1]));
}

static bool find_key(struct wndl_fix_modules *modules, struct wndl_bytes path,
    struct wndl_bytes hex, struct wndl_bytes arch, uint32_t *index)
{
    struct wndl_buf *key = &modules->key;
    if (hex.size == 0 && arch.size == 0)
        return wndl_intern_add(&modules->paths, path, index);
    wndl_buf_clear(key);
    wndl_buf_add(key, path.data, path.size);
    wndl_buf_byte(key, 0);
    wndl_buf_add(key, hex.data, hex.size);
    wndl_buf_byte(key, 0);
    wndl_buf_add(key, arch.data, arch.size);
    struct wndl_bytes bytes = {key->data, key->size};
    return !key->failed && wndl_intern_add(&modules->paths, bytes, index);
}

bool wndl_fix_module_of(struct wndl_fix_modules *modules,
    struct wndl_bytes path, const struct wndl_frame_text *frame,
    uint32_t *index)
{
    struct wndl_bytes hex = frame->build_id;
    struct wndl_bytes arch = frame->arch;
    if (hex.size / 2 > WNDL_FIX_BUILD_ID_MAX)
        hex.size = 0;
    if (!find_key(modules, path, hex, arch, index))
        return false;
    if (*index < modules->list.len)
        return true;
    struct wndl_fix_module *module =
        wndl_arena_alloc(&modules->arena, sizeof *module);
    struct wndl_fix_module **slot =
        module == NULL ? NULL : wndl_vec_push(&modules->list);
    if (slot == NULL)
        return false;
    module->path = wndl_intern_text(&modules->paths, *index);
    if (arch.size != 0) {
        module->arch = wndl_arena_copy(&modules->arena, arch.data, arch.size);
        if (module->arch == NULL)
            return false;
    }
    set_build_id(module, hex);
    wndl_map_init(&module->by_name, &modules->arena);
    *slot = module;
    return true;
}

static void turn_slashes(char *path)
{
    for (; *path != '\0'; path++)
        if (*path == '\\')
            *path = '/';
}

/* `path` with the first FROM=TO whose FROM it begins with; NULL: no memory. */
static const char *mapped_path(
    struct wndl_fix_modules *modules, const char *path)
{
    const char *const *maps = modules->options->maps;
    for (; maps != NULL && *maps != NULL; maps++) {
        const char *to = strchr(*maps, '=');
        size_t from = to == NULL ? 0 : (size_t)(to - *maps);
        if (from == 0 || strncmp(path, *maps, from) != 0)
            continue;
        size_t size = strlen(to + 1) + strlen(path + from);
        char *text = wndl_arena_alloc(&modules->arena, size + 1);
        if (text == NULL)
            return NULL;
        snprintf(text, size + 1, "%s%s", to + 1, path + from);
        if (wndl_pe_is_path(path))
            turn_slashes(text + strlen(to + 1));
        return text;
    }
    return path;
}

/* "folder/path"; NULL when memory is out. */
static char *join_paths(
    struct wndl_fix_modules *modules, const char *folder, const char *path)
{
    path += strspn(path, "/");
    size_t size = strlen(folder) + strlen(path) + 2;
    char *text = wndl_arena_alloc(&modules->arena, size);
    if (text != NULL)
        snprintf(text, size, "%s/%s", folder, path);
    return text;
}

static bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* The path after --map and -l; NULL when memory is out. */
static const char *find_file(
    struct wndl_fix_modules *modules, const char *given)
{
    const char *path = mapped_path(modules, given);
    const char *local_dir = modules->options->local_dir;
    if (path == NULL || local_dir == NULL || file_exists(path))
        return path;
    const char *local;
    return wndl_fix_local_file(&modules->arena, local_dir, path, &local)
               ? (local == NULL ? path : local)
               : NULL;
}

/* The slice that the text names goes before --arch. */
static const char *arch_of(const struct wndl_fix_modules *modules,
    const struct wndl_fix_module *module)
{
    return module->arch != NULL ? module->arch : modules->options->arch;
}

static void open_object_once(
    struct wndl_fix_modules *modules, struct wndl_fix_module *module)
{
    module->object_tried = true;
    struct wndl_error err = {0};
    if (wndl_zip_open_path(
            module->opened, &module->file, &module->bytes, &err) != WNDL_OK) {
        wndl_fix_note_lack(module, &err);
        return;
    }
    const struct wndl_object_source source = {
        module->bytes, module->opened, arch_of(modules, module)};
    if (wndl_object_open_source(&source, modules->mem, &module->object, &err) !=
        WNDL_OK) {
        wndl_fix_note_lack(module, &err);
        module->object = NULL;
        return;
    }
    module->base = wndl_object_image_base(module->object).v;
    size_t count = wndl_object_segment_count(module->object);
    for (size_t i = 0; i < count; i++) {
        struct wndl_segment s = wndl_object_segment(module->object, i);
        uint64_t end;
        if (!__builtin_add_overflow(s.addr.v, s.mem_size, &end) &&
            end > module->base && end - module->base > module->span)
            module->span = end - module->base;
    }
}

/* Whether something was lacking that other modules gave back. */
static bool may_retry(
    struct wndl_fix_modules *modules, struct wndl_fix_module *module)
{
    if (module->lack.status == WNDL_OK ||
        !wndl_fix_modules_rest(modules, module))
        return false;
    module->lack = (struct wndl_error){0};
    return true;
}

/*
 * Opens the binary, once. If it cannot be read, debug files of any build are
 * used.
 */
static void open_object(
    struct wndl_fix_modules *modules, struct wndl_fix_module *module)
{
    if (module->object_tried)
        return;
    open_object_once(modules, module);
    if (module->object == NULL && may_retry(modules, module))
        open_object_once(modules, module);
}

static bool open_at(struct wndl_fix_modules *modules,
    struct wndl_fix_module *module, const char *path, struct wndl_bytes build)
{
    struct wndl_symbolizer_options options = {
        .size = sizeof options,
        .debug_dirs = modules->debug_dirs,
        .debuginfod = modules->options->debuginfod,
        .cache = modules->options->cache,
        .arch = arch_of(modules, module),
        .build_id = build.size == 0 ? NULL : build.data,
        .build_id_size = build.size,
    };
    module->trouble = (struct wndl_error){0};
    if (wndl_symbolizer_open_with(modules->mem, path, &options,
            &module->symbols, &module->trouble) == WNDL_OK)
        return true;
    module->symbols = NULL;
    return false;
}

/*
 * Looks for the binary in the folders of --sym-dir, by its whole path and by
 * its name.
 */
static bool open_in_sym_dirs(
    struct wndl_fix_modules *modules, struct wndl_fix_module *module)
{
    const char *const *dir = modules->options->sym_dirs;
    if (dir == NULL || *dir == NULL)
        return false;
    struct wndl_bytes build = {module->build_id, module->build_id_size};
    if (build.size == 0)
        open_object(modules, module);
    if (module->object != NULL)
        build = wndl_object_build_id(module->object);
    for (; *dir != NULL; dir++) {
        const char *names[] = {
            module->opened, wndl_pe_path_name(module->opened)};
        for (size_t i = 0; i < 2; i++) {
            const char *path = join_paths(modules, *dir, names[i]);
            if (path == NULL || !file_exists(path) ||
                !open_at(modules, module, path, build))
                continue;
            if (module->object == NULL) {
                module->opened = path;
                module->object_tried = false;
            }
            return true;
        }
    }
    return false;
}

/* The name of the PDB file that a binary for Windows goes with, or NULL. */
static const char *pdb_name(
    struct wndl_fix_modules *modules, const struct wndl_fix_module *module)
{
    struct wndl_bytes name = {0};
    if (module->object != NULL)
        name = wndl_pe_pdb_name(module->object);
    return name.size == 0
               ? NULL
               : wndl_arena_copy(&modules->arena, name.data, name.size);
}

/*
 * Looks for the symbol file of the text's or the binary's build, or of the only
 * build there.
 */
static bool open_in_breakpad_dirs(struct wndl_fix_modules *modules,
    struct wndl_fix_module *module, bool *several)
{
    const char *const *dir = modules->options->breakpad_dirs;
    struct wndl_bytes build = {module->build_id, module->build_id_size};
    struct wndl_debug_id id;
    const struct wndl_debug_id *wanted = &id;
    if (dir == NULL || *dir == NULL)
        return false;
    open_object(modules, module);
    if (build.size != 0)
        id = wndl_debug_id_of_build_id(build, false);
    else if (module->object == NULL ||
             !wndl_object_debug_id(module->object, &id))
        wanted = NULL;
    const char *name = pdb_name(modules, module);
    for (; *dir != NULL; dir++) {
        const char *path = wndl_fix_breakpad_path(
            &modules->arena, *dir, module->path, wanted, several);
        if (path == NULL && name != NULL)
            path = wndl_fix_breakpad_path(
                &modules->arena, *dir, name, wanted, several);
        if (path != NULL &&
            open_at(modules, module, path, (struct wndl_bytes){0})) {
            module->is_breakpad = true;
            return true;
        }
    }
    return false;
}

/* Sanitizers call arm64e arm64, and x86_64h x86_64. */
static bool open_sibling(
    struct wndl_fix_modules *modules, struct wndl_fix_module *module)
{
    static const char *const siblings[][2] = {
        {"arm64", "arm64e"}, {"x86_64", "x86_64h"}, {"aarch64", "arm64"}};
    const char *arch = module->arch;
    size_t count = sizeof siblings / sizeof siblings[0];
    struct wndl_bytes build = {module->build_id, module->build_id_size};
    for (size_t i = 0; i < count && arch != NULL; i++) {
        if (strcmp(arch, siblings[i][0]) != 0)
            continue;
        module->arch = siblings[i][1];
        struct wndl_error trouble = module->trouble;
        if (open_at(modules, module, module->opened, build))
            return true;
        module->trouble = trouble;
        module->arch = arch;
    }
    return false;
}

/* "DIR/.build-id/ab/cdef" and `suffix`; NULL when memory is out. */
static const char *build_id_path(struct wndl_fix_modules *modules,
    const struct wndl_fix_module *module, const char *dir, const char *suffix)
{
    struct wndl_buf *path = &modules->key;
    wndl_buf_clear(path);
    wndl_buf_printf(path, "%s/.build-id/%02x/", dir, module->build_id[0]);
    for (size_t i = 1; i < module->build_id_size; i++)
        wndl_buf_printf(path, "%02x", module->build_id[i]);
    wndl_buf_text(path, suffix);
    return path->failed
               ? NULL
               : wndl_arena_copy(&modules->arena, path->data, path->size);
}

static bool open_build(struct wndl_fix_modules *modules,
    struct wndl_fix_module *module, const char *path)
{
    struct wndl_bytes build = {module->build_id, module->build_id_size};
    struct wndl_error trouble = module->trouble;
    if (path != NULL && file_exists(path) &&
        open_at(modules, module, path, build)) {
        module->opened = path;
        module->object_tried = false;
        return true;
    }
    module->trouble = trouble;
    return false;
}

/* Asks a server, if that is wanted. */
static bool open_fetched(
    struct wndl_fix_modules *modules, struct wndl_fix_module *module)
{
    char path[PATH_MAX];
    struct wndl_bytes build = {module->build_id, module->build_id_size};
    if (!modules->options->debuginfod ||
        wndl_debuginfod_fetch(build, path, sizeof path, NULL) != WNDL_OK)
        return false;
    return open_build(
        modules, module, wndl_arena_copy(&modules->arena, path, strlen(path)));
}

/*
 * The binary is gone, or another build is in its place: the files of the debug
 * folders with the build-id that the text has.
 */
static bool open_by_build_id(
    struct wndl_fix_modules *modules, struct wndl_fix_module *module)
{
    const char *const *dir = modules->debug_dirs;
    if (module->build_id_size < 2 || module->object != NULL ||
        module->trouble.status == WNDL_NOMEM)
        return false;
    for (; dir != NULL && *dir != NULL; dir++)
        if (open_build(modules, module,
                build_id_path(modules, module, *dir, ".debug")) ||
            open_build(
                modules, module, build_id_path(modules, module, *dir, "")))
            return true;
    return open_fetched(modules, module);
}

static bool open_once(
    struct wndl_fix_modules *modules, struct wndl_fix_module *module)
{
    module->opened = find_file(modules, module->path);
    if (module->opened == NULL)
        return false;
    bool several = false;
    if (open_in_breakpad_dirs(modules, module, &several) ||
        open_in_sym_dirs(modules, module) ||
        open_at(modules, module, module->opened,
            (struct wndl_bytes){module->build_id, module->build_id_size}) ||
        open_sibling(modules, module) || open_by_build_id(modules, module))
        return true;
    if (module->trouble.status == WNDL_NOMEM)
        return false;
    if (several)
        (void)wndl_fail(&module->trouble, WNDL_NOT_FOUND,
            "several builds of it have symbol files, and there is no binary to "
            "choose by");
    return true;
}

static bool open_symbols(
    struct wndl_fix_modules *modules, struct wndl_fix_module *module)
{
    bool whole = open_once(modules, module);
    if (module->symbols == NULL)
        wndl_fix_note_lack(module, &module->trouble);
    return module->symbols == NULL && may_retry(modules, module)
               ? open_once(modules, module)
               : whole;
}

bool wndl_fix_module_open(
    struct wndl_fix_modules *modules, struct wndl_fix_module *module)
{
    if (module->tried)
        return true;
    module->tried = true;
    return open_symbols(modules, module);
}

bool wndl_fix_module_wake(
    struct wndl_fix_modules *modules, struct wndl_fix_module *module)
{
    if (!module->is_resting)
        return true;
    module->is_resting = false;
    module->is_breakpad = false;
    return open_symbols(modules, module) &&
           (module->symbols != NULL || !wndl_error_is_lack(&module->trouble));
}

/*
 * Indexes all functions by name; of functions with one name a global one is
 * kept.
 */
static enum wndl_status index_names(struct wndl_fix_module *module)
{
    const struct wndl_symbol *symbols;
    size_t count;
    module->names_tried = true;
    enum wndl_status status =
        wndl_object_functions(module->object, &symbols, &count, NULL);
    if (status != WNDL_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        uint64_t *value = wndl_map_put(&module->by_name,
            wndl_hash_bytes(symbols[i].name.data, symbols[i].name.size));
        if (value == NULL)
            return WNDL_NOMEM;
        if (*value == 0 || symbols[i].binding != 0)
            *value = i + 1;
    }
    return WNDL_OK;
}

static enum wndl_status find_name(struct wndl_fix_module *module,
    struct wndl_bytes name, const struct wndl_symbol **symbol)
{
    const struct wndl_symbol *symbols;
    size_t count;
    if (!module->names_tried && index_names(module) == WNDL_NOMEM)
        return WNDL_NOMEM;
    uint64_t *index =
        wndl_map_get(&module->by_name, wndl_hash_bytes(name.data, name.size));
    if (index == NULL || wndl_object_functions(
                             module->object, &symbols, &count, NULL) != WNDL_OK)
        return WNDL_NOT_FOUND;
    *symbol = &symbols[*index - 1];
    return wndl_bytes_equal((*symbol)->name, name) ? WNDL_OK : WNDL_NOT_FOUND;
}

static bool has_section(const struct wndl_object *object, const char *name)
{
    size_t count = wndl_object_section_count(object);
    for (size_t i = 0; i < count; i++) {
        if (wndl_bytes_is(wndl_object_section(object, i).name, name))
            return true;
    }
    return false;
}

/* The number to subtract from `address`; false when it is not in the image. */
static bool start_of(const struct wndl_fix_module *module,
    enum wndl_frame_base base, uint64_t address, uint64_t *start)
{
    bool as_linked =
        address >= module->base && address - module->base < module->span;
    bool offset = address < module->span;
    *start = module->base;
    switch (base) {
    case WNDL_FRAME_EITHER:
        if (offset)
            *start = 0;
        return offset || as_linked;
    case WNDL_FRAME_VALGRINDS:
        if (module->base != 0 && as_linked)
            return true;
        *start = VALGRINDS_PROGRAMS;
        return module->base == 0 && address >= *start &&
               address - *start < module->span &&
               has_section(module->object, ".interp");
    default:
        /* An object file, such as a kernel's module, has no segments. */
        return as_linked || module->span == 0;
    }
}

/* From an offset in the file to the address as linked. */
static bool address_of_offset(
    const struct wndl_fix_module *module, uint64_t *offset)
{
    size_t count = wndl_object_segment_count(module->object);
    for (size_t i = 0; i < count; i++) {
        struct wndl_segment s = wndl_object_segment(module->object, i);
        uint64_t within = *offset - s.file_offset;
        if (!s.executable || *offset < s.file_offset || within >= s.file_size)
            continue;
        *offset = s.addr.v + within;
        return true;
    }
    return false;
}

enum wndl_status wndl_fix_module_rva(struct wndl_fix_modules *modules,
    struct wndl_fix_module *module, const struct wndl_frame_text *frame,
    uint64_t *rva)
{
    *rva = frame->address;
    if (frame->base == WNDL_FRAME_RVA && !module->is_breakpad)
        return WNDL_OK;
    open_object(modules, module);
    if (frame->base == WNDL_FRAME_RVA)
        return module->object == NULL || *rva < module->span ? WNDL_OK
                                                             : WNDL_NOT_FOUND;
    /*
     * A symbol file without its binary: a number that may be an offset counts
     * as one.
     */
    if (module->object == NULL)
        return frame->base == WNDL_FRAME_EITHER ? WNDL_OK : WNDL_NOT_FOUND;
    uint64_t start;
    uint64_t address = frame->address;
    if (frame->base == WNDL_FRAME_IN_SYMBOL) {
        const struct wndl_symbol *symbol;
        enum wndl_status status = find_name(module, frame->name, &symbol);
        if (status != WNDL_OK)
            return status;
        address += symbol->addr.v;
    }
    if (frame->base == WNDL_FRAME_FILE) {
        if (!address_of_offset(module, &address))
            return WNDL_NOT_FOUND;
    }
    if (!start_of(module, frame->base, address, &start))
        return WNDL_NOT_FOUND;
    *rva = address - start;
    return WNDL_OK;
}
