/* SPDX-License-Identifier: MIT */
#include "snapshot/core_images.h"

#include "base/text.h"

#include <elf.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VDSO_MAX = 64 * 1024, TROUBLE = 320, ID_TEXT = 2 * 64 + 1 };

static const char deleted[] = " (deleted)";

/* More than any linker makes: a core may be anybody's. */
enum { HEADERS_MOST = 256, NOTES_MOST = 64 * 1024 /* bytes */ };

struct wndl_bytes wndl_core_build_id(struct wndl_bytes image)
{
    struct wndl_core_elf elf;
    struct wndl_core_header header;
    struct wndl_core_note note;
    static const struct wndl_bytes gnu = {(const uint8_t *)"GNU", 4};
    if (!wndl_core_elf_read(&elf, image))
        return (struct wndl_bytes){0};
    for (uint32_t i = 0; i < elf.header_count && i < HEADERS_MOST; i++) {
        if (!wndl_core_header_read(&elf, image, i, &header))
            break;
        if (header.type != PT_NOTE || header.file_size > NOTES_MOST)
            continue;
        struct wndl_cursor c = wndl_cursor_at(
            wndl_bytes_slice(image, header.offset, header.file_size), 0, false);
        while (wndl_core_note_next(&c, header.alignment, &note)) {
            if (note.type == NT_GNU_BUILD_ID &&
                wndl_bytes_equal(note.owner, gnu))
                return note.desc;
        }
    }
    return (struct wndl_bytes){0};
}

/* ---- one binary of the core */

/* The mappings of one binary, and the search for its file. */
struct search {
    struct wndl_core *core;
    const struct wndl_core_mapping *mappings;
    size_t count;
    struct wndl_bytes head;     /* its first bytes in the core; or empty */
    struct wndl_bytes build_id; /* of the core; or empty */
    char path[PATH_MAX];        /* without " (deleted)" */
    const char *trouble;        /* with the first file that was tried */
    bool is_found, out_of_memory;
};

static bool is_code(
    const struct wndl_core *core, const struct wndl_core_mapping *mapping)
{
    const struct wndl_core_segment *segment =
        wndl_core_segment_at(&core->headers, mapping->start);
    return segment == NULL || segment->is_executable;
}

static bool has_code(const struct search *s)
{
    for (size_t i = 0; i < s->count; i++) {
        if (is_code(s->core, &s->mappings[i]))
            return true;
    }
    return false;
}

/* The number of mappings, of `left`, that are of the first one's binary. */
static size_t count_mappings(const struct wndl_core_mapping *all, size_t left)
{
    size_t count = 1;
    while (count < left && wndl_bytes_equal(all[count].path, all->path) &&
           all[count].offset >= all[count - 1].offset)
        count++;
    return count;
}

static void start_search(struct search *s, struct wndl_core *core, size_t first)
{
    const size_t left = core->notes.mappings.len - first;
    memset(s, 0, sizeof *s);
    s->core = core;
    s->mappings = wndl_vec_at(&core->notes.mappings, first);
    s->count = count_mappings(s->mappings, left);
    size_t size = s->mappings->path.size;
    if (wndl_bytes_end_with(s->mappings->path, deleted))
        size -= sizeof deleted - 1;
    snprintf(s->path, sizeof s->path, "%.*s", (int)size,
        (const char *)s->mappings->path.data);
    if (s->mappings->offset == 0)
        s->head = wndl_core_bytes_at(&core->headers, s->mappings->start);
    s->build_id = wndl_core_build_id(s->head);
}

static bool is_program(const struct search *s)
{
    const uint64_t entry = s->core->notes.entry;
    return entry == 0 ? s->mappings == s->core->notes.mappings.data
                      : entry >= s->mappings->start &&
                            entry < s->mappings[s->count - 1].end;
}

/* ---- is a file the binary? */

static void put_id(char text[ID_TEXT], struct wndl_bytes id)
{
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < id.size && at + 2 < ID_TEXT; i++)
        at += (size_t)snprintf(text + at, ID_TEXT - at, "%02x", id.data[i]);
}

static void __attribute__((format(printf, 2, 3)))
note_trouble(struct search *s, const char *format, ...)
{
    char text[TROUBLE];
    va_list args;
    if (s->trouble != NULL)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    s->trouble = wndl_arena_copy(&s->core->arena, text, strlen(text));
    s->out_of_memory = s->trouble == NULL;
}

/* Files without a build-id are compared by their ELF headers. */
static bool is_it(
    struct search *s, const struct wndl_binary *binary, struct wndl_bytes file)
{
    char ours[ID_TEXT], theirs[ID_TEXT];
    const size_t head = sizeof(Elf32_Ehdr);
    if (binary == NULL || binary->machine != s->core->headers.machine) {
        note_trouble(s, "no binary of the core's machine");
        return false;
    }
    if (s->build_id.size != 0 &&
        !wndl_bytes_equal(s->build_id, binary->build_id)) {
        put_id(ours, binary->build_id);
        put_id(theirs, s->build_id);
        note_trouble(s, "it has build-id %s, the core has %s",
            ours[0] == '\0' ? "none" : ours, theirs);
        return false;
    }
    if (s->build_id.size == 0 && s->head.size >= head && file.size >= head &&
        memcmp(s->head.data, file.data, head) != 0) {
        note_trouble(s, "another file by now: its ELF header differs");
        return false;
    }
    return true;
}

static bool find_bias(
    const struct search *s, const struct wndl_binary *binary, uint64_t *bias)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct wndl_core_mapping *m = &s->mappings[i];
        const struct wndl_mapping mapping = {
            .start = m->start, .end = m->end, .offset = m->offset};
        if (is_code(s->core, m) && wndl_binary_bias(binary, &mapping, bias))
            return true;
    }
    return false;
}

/* ---- taking it */

static void add_image(struct search *s, const struct wndl_snapshot_image *image)
{
    struct wndl_snapshot_image *slot = wndl_vec_push(&s->core->images);
    if (slot == NULL)
        s->out_of_memory = true;
    else
        *slot = *image;
}

static void add_backings(struct search *s, struct wndl_bytes file)
{
    for (size_t i = 0; i < s->count && !s->out_of_memory; i++) {
        const struct wndl_core_mapping *m = &s->mappings[i];
        if (m->offset >= file.size)
            continue;
        struct wndl_core_backing *b = wndl_vec_push(&s->core->memory.backings);
        if (b == NULL) {
            s->out_of_memory = true;
            return;
        }
        b->start = m->start;
        b->end = m->end;
        b->bytes = wndl_bytes_slice(file, m->offset, file.size - m->offset);
    }
}

/* False: the file is still the caller's. */
static bool take_file(struct search *s, const char *path,
    struct wndl_binary *binary, const struct wndl_file *file)
{
    uint64_t bias;
    char real[PATH_MAX];
    if (!find_bias(s, binary, &bias)) {
        note_trouble(s, "it has its code in other places than the core");
        return false;
    }
    if (realpath(path, real) != NULL)
        path = real;
    struct wndl_file *slot = wndl_vec_push(&s->core->files);
    const char *opened = wndl_arena_copy(&s->core->arena, path, strlen(path));
    s->out_of_memory = slot == NULL || opened == NULL;
    if (slot != NULL)
        *slot = *file;
    if (s->out_of_memory)
        return slot != NULL;
    add_backings(s, file->bytes);
    binary->contents = file->bytes;
    const struct wndl_snapshot_image image = {
        .path = (const char *)s->mappings->path.data,
        .opened = opened,
        .build_id = binary->build_id,
        .module = wndl_binary_module(binary, bias),
        .binary = binary,
    };
    add_image(s, &image);
    s->is_found = true;
    return true;
}

static void try_file(struct search *s, const char *path)
{
    struct wndl_file file;
    struct wndl_error err = {0};
    char text[TROUBLE];
    if (s->is_found || s->out_of_memory)
        return;
    if (wndl_file_open(path, &file, &err) != WNDL_OK) {
        err.file[0] = '\0';
        note_trouble(s, "%s", wndl_error_text(&err, text, sizeof text));
        return;
    }
    struct wndl_binary *binary =
        wndl_binaries_of_bytes(&s->core->binaries, file.bytes, s->path);
    if (!is_it(s, binary, file.bytes) || !take_file(s, path, binary, &file))
        wndl_file_close(&file);
}

/* DIR/.build-id/ab/cdef, where distributions link to binaries. */
static void try_dirs(struct search *s, const char *const *dirs)
{
    static const char *const usual[] = {"/usr/lib/debug", NULL};
    char id[ID_TEXT], path[PATH_MAX];
    put_id(id, s->build_id);
    if (s->build_id.size < 2)
        return;
    for (dirs = dirs == NULL ? usual : dirs; *dirs != NULL; dirs++) {
        const int size = snprintf(
            path, sizeof path, "%s/.build-id/%.2s/%s", *dirs, id, id + 2);
        if (size > 0 && (size_t)size < sizeof path)
            try_file(s, path);
    }
}

/* The last resort, which may take long. */
static void try_fetched(struct search *s)
{
    const struct wndl_core_request *request = &s->core->request;
    char path[PATH_MAX];
    if (!s->is_found && !s->out_of_memory && request->fetch != NULL &&
        s->build_id.size != 0 && request->fetch(s->build_id, path, sizeof path))
        try_file(s, path);
}

/* Its frames are in it, though nothing else is known. */
static void take_without_file(struct search *s)
{
    const struct wndl_snapshot_image image = {
        .path = (const char *)s->mappings->path.data,
        .trouble = s->trouble,
        .build_id = s->build_id,
        .module = {.start = s->mappings->start,
            .end = s->mappings[s->count - 1].end,
            .bias = s->mappings->start},
    };
    add_image(s, &image);
}

static void find_binary(struct search *s)
{
    const struct wndl_core_request *request = &s->core->request;
    try_file(s, s->path);
    try_dirs(s, request->debug_dirs);
    try_fetched(s);
    if (!s->is_found && !s->out_of_memory)
        take_without_file(s);
}

/* A program that was given is the core's, or it is an error. */
static enum wndl_status find_program(
    struct search *s, const char *program, struct wndl_error *err)
{
    try_file(s, program);
    if (s->is_found || s->out_of_memory)
        return WNDL_OK;
    wndl_error_set_file(err, program);
    return wndl_fail(
        err, WNDL_NOT_FOUND, "not the program of the core: %s", s->trouble);
}

/* ---- all */

/* The kernel's own code has no file, and is always in the core. */
static bool add_vdso(struct wndl_core *core)
{
    const uint64_t start = core->notes.vdso;
    const struct wndl_bytes contents =
        wndl_core_bytes_at(&core->headers, start);
    if (start == 0 || contents.size == 0 || contents.size > VDSO_MAX)
        return true;
    const struct wndl_binary *binary =
        wndl_binaries_of_bytes(&core->binaries, contents, "[vdso]");
    if (binary == NULL || binary->machine != core->headers.machine)
        return true;
    struct wndl_snapshot_image *image = wndl_vec_push(&core->images);
    if (image == NULL)
        return false;
    *image = (struct wndl_snapshot_image){
        .path = binary->path,
        .contents = contents,
        .build_id = binary->build_id,
        .module = wndl_binary_module(binary, start - binary->start),
    };
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct wndl_snapshot_image *x = a, *y = b;
    return (x->module.start > y->module.start) -
           (x->module.start < y->module.start);
}

/* An image may claim the place of the next. */
static void sort_images(struct wndl_core *core)
{
    struct wndl_snapshot_image *all = core->images.data;
    if (core->images.len < 2)
        return;
    qsort(all, core->images.len, sizeof *all, by_start);
    for (size_t i = 0; i + 1 < core->images.len; i++) {
        if (all[i].module.end > all[i + 1].module.start)
            all[i].module.end = all[i + 1].module.start;
    }
}

static enum wndl_status find_all(
    struct wndl_core *core, struct search *s, struct wndl_error *err)
{
    const size_t count = core->notes.mappings.len;
    const char *program = core->request.program; /* that is still to be used */
    for (size_t i = 0; i < count; i += s->count) {
        start_search(s, core, i);
        if (program != NULL && is_program(s)) {
            enum wndl_status status = find_program(s, program, err);
            if (status != WNDL_OK)
                return status;
            program = NULL;
        } else if (has_code(s)) {
            find_binary(s);
        }
        if (s->out_of_memory)
            return wndl_fail(err, WNDL_NOMEM, "out of memory");
    }
    if (program == NULL)
        return WNDL_OK;
    wndl_error_set_file(err, program);
    return wndl_fail(err, WNDL_NOT_FOUND,
        "of no use: the core does not say where its program was");
}

enum wndl_status wndl_core_images_find(
    struct wndl_core *core, struct wndl_error *err)
{
    struct search *s = wndl_arena_alloc(&core->arena, sizeof *s);
    if (s == NULL || !add_vdso(core))
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    enum wndl_status status = find_all(core, s, err);
    sort_images(core);
    return status;
}
