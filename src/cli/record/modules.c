/* SPDX-License-Identifier: MIT */
#include "cli/record/modules.h"

#include "base/buf.h"
#include "cli/core/command.h"
#include "cli/unwind/info_text.h"
#include "collect/code/unwind_tables.h"
#include "obj/core/object.h"
#include "os/file.h"
#include "unwind/table/format.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 12, NAMED = 3 };

struct module {
    const struct wndl_recording_image *image;
    char section[40]; /* "": it has no CFI */
    uint32_t tenths;  /* covered share of the section, in 0.1 % */
};

static int compare_nodes(const void *a, const void *b)
{
    const struct module *p = a, *q = b;
    if (p->image->nodes != q->image->nodes)
        return p->image->nodes > q->image->nodes ? -1 : 1;
    return p->image < q->image ? -1 : p->image > q->image;
}

/* Modules with less coverage first; if equal, those with more nodes. */
static int compare_shares(const void *a, const void *b)
{
    const struct module *p = a, *q = b;
    if (p->tenths != q->tenths)
        return p->tenths < q->tenths ? -1 : 1;
    return compare_nodes(a, b);
}

/* Whether the rules of the module come from an unwind table. */
static bool has_table(const char *path, const char *tables)
{
    char real[PATH_MAX];
    struct wndl_file file;
    struct wndl_object *object;
    struct wndl_arena arena;
    bool has = false;
    if ((getenv(WNDL_TABLE_FOLDERS_ENV) == NULL && *tables == '\0') ||
        realpath(path, real) == NULL ||
        wndl_file_open(real, &file, NULL) != WNDL_OK)
        return false;
    wndl_arena_init(&arena, wndl_mem_libc());
    if (wndl_object_open(file.bytes, path, wndl_mem_libc(), &object, NULL) ==
        WNDL_OK) {
        has = wndl_unwind_table_copy(&arena, object, real, tables).bytes.size !=
              0;
        wndl_object_close(object);
    }
    wndl_arena_free(&arena);
    wndl_file_close(&file);
    return has;
}

/* False for modules that are not read: the vDSO, files that are gone, and
 * modules with an unwind table. */
static bool read_coverage(struct module *m, const char *tables)
{
    struct wndl_unwind_info info;
    if (m->image->path == NULL || m->image->path[0] != '/' ||
        has_table(m->image->path, tables))
        return false;
    enum wndl_status status =
        wndl_unwind_info_cover(&info, m->image->path, wndl_mem_libc(), NULL);
    if (status == WNDL_OK) {
        struct wndl_unwind_info_share share = wndl_unwind_info_share(&info);
        snprintf(m->section, sizeof m->section, "%s",
            share.section == NULL ? "" : share.section);
        m->tenths = share.tenths;
    }
    wndl_unwind_info_close(&info);
    return status == WNDL_NOT_FOUND || m->section[0] != '\0';
}

/* The modules to report, those with most nodes first. NULL: no memory. */
static struct module *list_modules(
    const struct wndl_collector_result *result, size_t *count)
{
    size_t met = 0, taken = 0;
    struct module *all = calloc(result->image_count, sizeof *all);
    for (size_t i = 0; i < result->image_count && all != NULL; i++) {
        if (result->images[i].nodes != 0)
            all[met++].image = &result->images[i];
    }
    if (met != 0)
        qsort(all, met, sizeof *all, compare_nodes);
    for (size_t i = 0; i < met && i < MOST; i++) {
        if (read_coverage(&all[i], result->tables))
            all[taken++] = all[i];
    }
    *count = taken;
    return all;
}

static void say_each(const struct module *modules, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct module *m = &modules[i];
        const char *s = m->image->nodes == 1 ? "" : "s";
        if (m->section[0] == '\0')
            wndl_cli_note("no CFI in %s, %" PRIu64 " node%s of the stack tree",
                m->image->path, m->image->nodes, s);
        else
            wndl_cli_note("CFI covers %" PRIu32 ".%" PRIu32
                          " %% of %s of %s, %" PRIu64
                          " node%s of the stack tree",
                m->tenths / 10, m->tenths % 10, m->section, m->image->path,
                m->image->nodes, s);
    }
}

static const char *base_name(const char *path)
{
    return strrchr(path, '/') + 1;
}

/* "CFI covers 90.1 % of .text of a.so, 97.8 % of b.so". */
static void say_least(struct module *modules, size_t count)
{
    struct wndl_buf text;
    const char *section = "";
    qsort(modules, count, sizeof *modules, compare_shares);
    wndl_buf_init(&text, wndl_mem_libc());
    for (size_t i = 0; i < count && i < NAMED; i++) {
        const struct module *m = &modules[i];
        wndl_buf_printf(&text, "%s%" PRIu32 ".%" PRIu32 " %% of ",
            i == 0 ? "" : ", ", m->tenths / 10, m->tenths % 10);
        if (m->section[0] != '\0' && strcmp(m->section, section) != 0)
            wndl_buf_printf(&text, "%s of ", section = m->section);
        wndl_buf_printf(&text, "%s", base_name(m->image->path));
    }
    if (count > NAMED)
        wndl_buf_printf(&text, ", at least as much of %zu other%s",
            count - NAMED, count - NAMED == 1 ? "" : "s");
    wndl_buf_byte(&text, '\0');
    if (!text.failed)
        wndl_cli_note("CFI covers %s", (const char *)text.data);
    wndl_buf_free(&text);
}

void wndl_record_say_modules(
    const struct wndl_collector_result *result, bool verbose)
{
    size_t count;
    struct module *modules = list_modules(result, &count);
    if (verbose)
        say_each(modules, count);
    else if (count != 0)
        say_least(modules, count);
    free(modules);
}
