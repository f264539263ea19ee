/* SPDX-License-Identifier: MIT */
#include "cli/shared/debug_packages.h"

#include "os/file.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MODULES = 3, NAME_MAX_SIZE = 128, DEBUG_SIZE = 136 };

struct wanted {
    const char *path;         /* of the module */
    char package[DEBUG_SIZE]; /* then that of its debug files */
};

static size_t want_modules(
    const struct wndl_report *report, struct wanted wanted[MOST_MODULES])
{
    const struct wndl_symbolized *s = report->symbolized;
    size_t count = 0;
    for (size_t i = 0; i < report->unnamed.len && count < MOST_MODULES; i++) {
        const struct wndl_row *row = wndl_vec_at(&report->unnamed, i);
        const struct wndl_module *module = wndl_vec_at(&s->modules, row->key);
        if (module->state == WNDL_SYMBOLS_EXPORTED)
            wanted[count++] = (struct wanted){
                .path = wndl_intern_text(&s->strings, module->path)};
    }
    return count;
}

static bool lacks_files(const struct wndl_symbolized *s, uint32_t module)
{
    const struct wndl_module *of = wndl_vec_at(&s->modules, module);
    return of->state == WNDL_SYMBOLS_EXPORTED;
}

/* The functions without a name by module; NULL: no memory. */
static uint32_t *count_unnamed(const struct wndl_symbolized *s)
{
    struct wndl_mem *mem = wndl_mem_libc();
    const size_t size = s->modules.len * sizeof(uint32_t);
    uint32_t *counts = mem->resize(mem, NULL, size);
    if (counts == NULL)
        return NULL;
    memset(counts, 0, size);
    for (size_t i = 0; i < s->functions.len; i++) {
        const struct wndl_function *f = wndl_vec_at(&s->functions, i);
        counts[f->module] += f->unnamed && lacks_files(s, f->module);
    }
    return counts;
}

static size_t want_modules_of_heap(
    const struct wndl_symbolized *s, struct wanted wanted[MOST_MODULES])
{
    uint32_t *counts = s->modules.len == 0 ? NULL : count_unnamed(s);
    size_t count = 0;
    while (counts != NULL && count < MOST_MODULES) {
        size_t most = 0;
        for (size_t i = 1; i < s->modules.len; i++)
            most = counts[i] > counts[most] ? i : most;
        if (counts[most] == 0)
            break;
        const struct wndl_module *module = wndl_vec_at(&s->modules, most);
        wanted[count++] = (struct wanted){
            .path = wndl_intern_text(&s->strings, module->path)};
        counts[most] = 0;
    }
    wndl_mem_free(wndl_mem_libc(), counts);
    return count;
}

static bool has_line(struct wndl_bytes list, const char *path)
{
    const size_t size = strlen(path);
    const uint8_t *end = list.data + list.size;
    const uint8_t *at = list.data;
    while (
        at < end && (at = memmem(at, (size_t)(end - at), path, size)) != NULL) {
        const bool begins = at == list.data || at[-1] == '\n';
        if (begins && at + size < end && at[size] == '\n')
            return true;
        at += size;
    }
    return false;
}

/*
 * Packages list a library where they put it: in /lib, which is now a name of
 * /usr/lib, under which the loader may have found it, or the other way round.
 */
static bool lists(struct wndl_bytes list, const char *path)
{
    char other[PATH_MAX];
    if (strncmp(path, "/usr/", 5) == 0)
        snprintf(other, sizeof other, "%s", path + 4);
    else
        snprintf(other, sizeof other, "/usr%s", path);
    return has_line(list, path) || has_line(list, other);
}

/* "libc6" of ".../info/libc6:amd64.list". */
static void name_package(const char *list, char name[NAME_MAX_SIZE])
{
    const char *base = strrchr(list, '/') + 1;
    const char *suffix = strrchr(base, '.');
    const int size = (int)strcspn(base, ":");
    snprintf(name, NAME_MAX_SIZE, "%.*s",
        suffix - base < size ? (int)(suffix - base) : size, base);
}

static void look_in(const char *list, struct wanted *wanted, size_t count)
{
    struct wndl_file file;
    if (wndl_file_open(list, &file, NULL) != WNDL_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        if (wanted[i].package[0] == '\0' && lists(file.bytes, wanted[i].path))
            name_package(list, wanted[i].package);
    }
    wndl_file_close(&file);
}

static void find_packages(struct wanted *wanted, size_t count)
{
    const char *folder = getenv("DPKG_ADMINDIR");
    char pattern[PATH_MAX];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/info/*.list",
        folder == NULL ? "/var/lib/dpkg" : folder);
    if (count == 0 || glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        look_in(found.gl_pathv[i], wanted, count);
    globfree(&found);
}

static bool is_named_before(const struct wanted *wanted, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (strcmp(wanted[i].package, wanted[index].package) == 0)
            return true;
    }
    return false;
}

/*
 * glibc's and Python's are older than the -dbgsym packages; Python has one for
 * all of its packages of a version.
 */
static void name_debug_package(const char *name, char debug[DEBUG_SIZE])
{
    const char *python = strstr(name, "python3.");
    const bool is_python =
        python == name || (python == name + 3 && strncmp(name, "lib", 3) == 0);
    if (is_python)
        snprintf(
            debug, DEBUG_SIZE, "%.*s-dbg", (int)strcspn(python, "-"), python);
    else
        snprintf(debug, DEBUG_SIZE, "%s%s", name,
            strcmp(name, "libc6") == 0 ? "-dbg" : "-dbgsym");
}

static void put_packages(
    struct wanted *wanted, size_t count, struct wndl_buf *out)
{
    char debug[DEBUG_SIZE];
    bool any = false;
    find_packages(wanted, count);
    for (size_t i = 0; i < count; i++) {
        if (wanted[i].package[0] == '\0')
            continue;
        name_debug_package(wanted[i].package, debug);
        memcpy(wanted[i].package, debug, sizeof debug);
        if (is_named_before(wanted, i))
            continue;
        wndl_buf_printf(out, "%s%s", any ? " " : "", wanted[i].package);
        any = true;
    }
    if (any)
        wndl_buf_byte(out, '\0');
}

void wndl_debug_packages(const struct wndl_report *report, struct wndl_buf *out)
{
    struct wanted wanted[MOST_MODULES];
    const size_t count = want_modules(report, wanted);
    put_packages(wanted, count, out);
}

void wndl_debug_packages_of_heap(
    const struct wndl_symbolized *s, struct wndl_buf *out)
{
    struct wanted wanted[MOST_MODULES];
    const size_t count = want_modules_of_heap(s, wanted);
    put_packages(wanted, count, out);
}
