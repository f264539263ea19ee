/* SPDX-License-Identifier: MIT */
#include "cli/shared/debug_packages.h"

#include "os/file.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MODULES = 3, NAME_MAX_SIZE = 128 };

struct wanted {
    const char *path; /* of the module */
    char package[NAME_MAX_SIZE];
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

void wndl_debug_packages(const struct wndl_report *report, struct wndl_buf *out)
{
    struct wanted wanted[MOST_MODULES];
    const size_t count = want_modules(report, wanted);
    bool any = false;
    find_packages(wanted, count);
    for (size_t i = 0; i < count; i++) {
        const char *name = wanted[i].package;
        if (name[0] == '\0' || is_named_before(wanted, i))
            continue;
        /* glibc's is older than the -dbgsym packages. */
        wndl_buf_printf(out, "%s%s%s", any ? " " : "", name,
            strcmp(name, "libc6") == 0 ? "-dbg" : "-dbgsym");
        any = true;
    }
    if (any)
        wndl_buf_byte(out, '\0');
}
