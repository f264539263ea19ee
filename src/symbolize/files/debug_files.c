/* SPDX-License-Identifier: MIT */
#include "symbolize/files/debug_files.h"

#include "obj/macho/macho.h"

#include <stddef.h>
#include <string.h>

/* A file that was opened for the DWARF reader. */
struct opened {
    struct wndl_debugfile file;
    struct opened *next;
};

struct wndl_debug_files {
    struct wndl_arena *arena;
    struct wndl_splitfile_places places;
    struct wndl_dwarf_files calls;
    struct opened *opened;
};

static enum wndl_status no_memory(struct wndl_error *err)
{
    return wndl_fail(err, WNDL_NOMEM, "no memory for debug information");
}

static enum wndl_status load_section(struct wndl_object *object,
    const char *name, struct wndl_bytes *bytes, struct wndl_error *damage)
{
    struct wndl_error err = {0};
    enum wndl_status status =
        wndl_object_section_bytes(object, name, bytes, NULL, &err);
    if (status == WNDL_NOMEM)
        return status;
    if (status == WNDL_OK)
        return status;
    *bytes = (struct wndl_bytes){0};
    if (status != WNDL_NOT_FOUND && damage->status == WNDL_OK)
        *damage = err;
    return WNDL_OK;
}

/* A section, and where its bytes go in struct wndl_dwarf_sections. */
struct wanted {
    const char *name;
    size_t at;
};

enum { MOST_WANTED = 16 };

#define WANTED(name, field)                                                    \
    {                                                                          \
        name, offsetof(struct wndl_dwarf_sections, field)                      \
    }

static const struct wanted whole_file[] = {
    WANTED(".debug_info", info),
    WANTED(".debug_abbrev", abbrev),
    WANTED(".debug_line", line),
    WANTED(".debug_line_str", line_str),
    WANTED(".debug_str", str),
    WANTED(".debug_str_offsets", str_offsets),
    WANTED(".debug_addr", addr),
    WANTED(".debug_ranges", ranges),
    WANTED(".debug_rnglists", rnglists),
    WANTED(".debug_aranges", aranges),
    WANTED(".debug_types", types),
    {NULL, 0},
};

/*
 * The sections of a .dwo file or package. Lines and addresses are in the first
 * file.
 */
static const struct wanted split_file[] = {
    WANTED(".debug_info.dwo", info),
    WANTED(".debug_abbrev.dwo", abbrev),
    WANTED(".debug_str.dwo", str),
    WANTED(".debug_str_offsets.dwo", str_offsets),
    WANTED(".debug_rnglists.dwo", rnglists),
    WANTED(".debug_cu_index", cu_index),
    {NULL, 0},
};

static enum wndl_status load_sections(struct wndl_object *object,
    const struct wanted *wanted, struct wndl_dwarf_sections *sections,
    struct wndl_error *damage)
{
    const char *names[MOST_WANTED];
    size_t count = 0;
    enum wndl_status status = WNDL_OK;
    for (; count < MOST_WANTED && wanted[count].name != NULL; count++)
        names[count] = wanted[count].name;
    wndl_object_load_sections(object, names, count);
    for (size_t i = 0; i < count && status == WNDL_OK; i++) {
        void *bytes = (char *)sections + wanted[i].at;
        status = load_section(object, wanted[i].name, bytes, damage);
    }
    sections->big_endian = wndl_object_is_big_endian(object);
    sections->starts_at_zero = wndl_macho_is_object_file(object);
    sections->path = wndl_object_path(object);
    return status;
}

/* Takes `file` over: it is closed with `files`. */
static enum wndl_status take_over(struct wndl_debug_files *files,
    struct wndl_debugfile *file, struct wndl_error *err)
{
    struct opened *opened = wndl_arena_alloc(files->arena, sizeof *opened);
    if (opened == NULL) {
        wndl_debugfile_close(file);
        return no_memory(err);
    }
    *opened = (struct opened){*file, files->opened};
    files->opened = opened;
    return WNDL_OK;
}

/* The result of loading: a section that cannot be read is an error here. */
static enum wndl_status check_loaded(enum wndl_status loaded,
    const struct wndl_error *damage, struct wndl_error *err)
{
    if (loaded != WNDL_OK)
        return no_memory(err);
    if (damage->status != WNDL_OK)
        *err = *damage;
    return damage->status;
}

static enum wndl_status give_supplementary(
    void *context, struct wndl_dwarf_sections *sections, struct wndl_error *err)
{
    struct wndl_debug_files *files = context;
    struct wndl_debugfile file;
    struct wndl_error damage = {0};
    enum wndl_status status =
        wndl_splitfile_open_supplementary(&files->places, &file, err);
    if (status == WNDL_OK)
        status = take_over(files, &file, err);
    if (status != WNDL_OK)
        return status;
    status = load_sections(file.object, whole_file, sections, &damage);
    return check_loaded(status, &damage, err);
}

/* Some keep the package's sections in the debug file, or the binary. */
static struct wndl_object *package_inside(const struct wndl_debug_files *files)
{
    static const char index[] = ".debug_cu_index";
    if (wndl_object_has_section(files->places.debug, index))
        return files->places.debug;
    return wndl_object_has_section(files->places.binary, index)
               ? files->places.binary
               : NULL;
}

static enum wndl_status give_package(
    void *context, struct wndl_dwarf_sections *sections, struct wndl_error *err)
{
    struct wndl_debug_files *files = context;
    struct wndl_debugfile file;
    struct wndl_error damage = {0};
    struct wndl_object *object = package_inside(files);
    enum wndl_status status = WNDL_OK;
    if (object == NULL) {
        status = wndl_splitfile_open_package(&files->places, &file, err);
        if (status == WNDL_OK)
            status = take_over(files, &file, err);
        object = file.object;
    }
    if (status != WNDL_OK)
        return status;
    status = load_sections(object, split_file, sections, &damage);
    return check_loaded(status, &damage, err);
}

static enum wndl_status give_split(void *context,
    const struct wndl_dwarf_split *split, unsigned *next,
    struct wndl_dwarf_sections *sections, struct wndl_error *err)
{
    struct wndl_debug_files *files = context;
    struct wndl_splitfile_dwo dwo = {split->name, split->comp_dir};
    struct wndl_debugfile file;
    struct wndl_error damage = {0};
    enum wndl_status status =
        wndl_splitfile_open_dwo(&files->places, &dwo, next, &file, err);
    if (status == WNDL_OK)
        status = take_over(files, &file, err);
    if (status != WNDL_OK)
        return status;
    status = load_sections(file.object, split_file, sections, &damage);
    return check_loaded(status, &damage, err);
}

const char *const *wndl_debug_dirs_copy(
    struct wndl_arena *arena, const char *const *dirs)
{
    size_t count = 0;
    while (dirs[count] != NULL)
        count++;
    const char **copy = wndl_arena_calloc(arena, count + 1, sizeof *copy);
    for (size_t i = 0; i < count && copy != NULL; i++) {
        copy[i] = wndl_arena_copy(arena, dirs[i], strlen(dirs[i]));
        if (copy[i] == NULL)
            return NULL;
    }
    return copy;
}

struct wndl_debug_files *wndl_debug_files_new(struct wndl_arena *arena,
    struct wndl_object *binary, struct wndl_object *debug,
    const char *const *dirs)
{
    struct wndl_debug_files *files = wndl_arena_alloc(arena, sizeof *files);
    if (files == NULL)
        return NULL;
    *files = (struct wndl_debug_files){
        .arena = arena,
        .places = {binary, debug, NULL, arena->mem},
        .calls = {files, give_supplementary, give_package, give_split},
    };
    if (dirs != NULL) {
        files->places.dirs = wndl_debug_dirs_copy(arena, dirs);
        if (files->places.dirs == NULL)
            return NULL;
    }
    return files;
}

void wndl_debug_files_close(struct wndl_debug_files *files)
{
    if (files == NULL)
        return;
    for (; files->opened != NULL; files->opened = files->opened->next)
        wndl_debugfile_close(&files->opened->file);
}

enum wndl_status wndl_debug_files_start(struct wndl_debug_files *files,
    struct wndl_dwarf_sections *sections, struct wndl_error *damage)
{
    *damage = (struct wndl_error){0};
    *sections = (struct wndl_dwarf_sections){.files = &files->calls};
    return load_sections(files->places.debug, whole_file, sections, damage);
}
