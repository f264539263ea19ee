/* SPDX-License-Identifier: MIT */
#include "cli/record/unwind_tables.h"

#include "cli/core/command.h"
#include "cli/core/find_program.h"
#include "cli/shared/binary.h"
#include "collect/code/unwind_tables.h"
#include "unwind/table/format.h"
#include "unwind/table/named.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- whether a table is of a binary */

static bool say_error(const struct wndl_error *err)
{
    wndl_cli_fail(err);
    return false;
}

/* OK also for the path of no binary, or of another binary. */
static enum wndl_status check_path(const struct wndl_table_named *named,
    const char *path, struct wndl_error *err)
{
    char real[PATH_MAX];
    struct wndl_binary binary;
    if (realpath(path, real) == NULL || !wndl_table_names(named->module, real))
        return WNDL_OK;
    if (!wndl_binary_open(&binary, real, NULL))
        return WNDL_OK;
    enum wndl_status status = WNDL_OK;
    if (wndl_object_is_image(binary.object))
        status = wndl_unwind_table_check(named->file, binary.object, err);
    wndl_binary_close(&binary);
    return status;
}

/* ---- before */

static bool is_for_command(
    const struct wndl_table_named *named, char *const *command)
{
    char path[PATH_MAX];
    struct wndl_error err = {0};
    if (wndl_program_find(command[0], path) &&
        check_path(named, path, &err) != WNDL_OK)
        return say_error(&err);
    for (char *const *word = command + 1; *word != NULL; word++) {
        if (check_path(named, *word, &err) != WNDL_OK)
            return say_error(&err);
    }
    return true;
}

/* A module that was given by its path gets its real path in `named`. */
static bool resolve_module(
    struct wndl_table_named *named, char module[PATH_MAX], char file[PATH_MAX])
{
    const bool by_path = strchr(named->module, '/') != NULL;
    if (by_path && realpath(named->module, module) == NULL) {
        wndl_cli_error("--unwind-table: cannot open %s: %s", named->module,
            strerror(errno));
        return false;
    }
    if (realpath(named->file, file) == NULL) {
        wndl_cli_error(
            "--unwind-table: cannot open %s: %s", named->file, strerror(errno));
        return false;
    }
    if (by_path)
        named->module = module;
    named->file = file;
    return true;
}

static bool check_table(
    const struct wndl_table_named *named, char *const *command)
{
    struct wndl_error err = {0};
    if (wndl_unwind_table_check(named->file, NULL, &err) != WNDL_OK)
        return say_error(&err);
    if (strchr(named->module, '/') != NULL &&
        check_path(named, named->module, &err) != WNDL_OK)
        return say_error(&err);
    return is_for_command(named, command);
}

/* Appends at *at; the end of the list has room after `size`. */
static bool append_table(
    const struct wndl_table_named *named, char *list, size_t size, size_t *at)
{
    const size_t module = strlen(named->module) + 1;
    const size_t file = strlen(named->file) + 1;
    if (module + file > size - *at) {
        wndl_cli_error("--unwind-table: the names of modules and files exceed "
                       "%d characters in all",
            WNDL_SHM_TABLES - 3);
        return false;
    }
    memcpy(list + *at, named->module, module);
    memcpy(list + *at + module, named->file, file);
    *at += module + file;
    return true;
}

static bool attach_table(
    const char *option, struct wndl_collector_request *request, size_t *at)
{
    char name[PATH_MAX], module[PATH_MAX], file[PATH_MAX];
    const char *equals = strchr(option, '=');
    const size_t size = equals == NULL ? 0 : (size_t)(equals - option);
    if (size == 0 || size >= sizeof name || equals[1] == '\0') {
        wndl_cli_error("--unwind-table takes MODULE=FILE, not '%s'", option);
        return false;
    }
    memcpy(name, option, size);
    name[size] = '\0';
    struct wndl_table_named named = {.module = name, .file = equals + 1};
    return resolve_module(&named, module, file) &&
           check_table(&named, request->command) &&
           append_table(
               &named, request->tables, sizeof request->tables - 3, at);
}

bool wndl_record_tables_attach(const struct wndl_option_list *options,
    struct wndl_collector_request *request)
{
    size_t at = 0;
    memset(request->tables, 0, sizeof request->tables);
    for (size_t i = 0; i < options->count; i++) {
        if (!attach_table(options->texts[i], request, &at))
            return false;
    }
    return true;
}

/* ---- after */

/* Reports on one table, by the modules that stacks reached. */
static void say_one(const struct wndl_table_named *named,
    const struct wndl_collector_result *result, bool is_over)
{
    bool met = false;
    for (size_t i = 0; i < result->image_count; i++) {
        const struct wndl_recording_image *image = &result->images[i];
        char real[PATH_MAX], text[600];
        struct wndl_error err = {0};
        if (image->nodes == 0 || image->path == NULL ||
            realpath(image->path, real) == NULL ||
            !wndl_table_names(named->module, real))
            continue;
        met = true;
        if (check_path(named, real, &err) != WNDL_OK)
            wndl_cli_note("warning: %s; it was not used for %s",
                wndl_error_text(&err, text, sizeof text), real);
    }
    if (!met && is_over)
        wndl_cli_note(
            "warning: %s was not used: no stack reached '%s'; name a module by "
            "its path or file name, not by the name of a link",
            named->file, named->module);
}

/* A damaged table may have been used in part. */
static void say_found(void *context, const struct wndl_error *err)
{
    const char *path = context;
    char text[600];
    wndl_cli_note("warning: %s; it was found for %s",
        wndl_error_text(err, text, sizeof text), path);
}

/* Reports on tables from folders, of the modules that stacks reached. */
static void say_folders(const struct wndl_collector_result *result)
{
    for (size_t i = 0; i < result->image_count; i++) {
        const struct wndl_recording_image *image = &result->images[i];
        char real[PATH_MAX];
        struct wndl_binary binary;
        if (image->nodes == 0 || image->path == NULL ||
            realpath(image->path, real) == NULL ||
            !wndl_binary_open(&binary, real, NULL))
            continue;
        wndl_unwind_tables_refused(binary.object, say_found, real);
        wndl_binary_close(&binary);
    }
}

void wndl_record_tables_say(
    const struct wndl_collector_result *result, bool is_over)
{
    struct wndl_table_named named;
    const char *at = result->tables;
    while (wndl_table_named_next(&at, &named))
        say_one(&named, result, is_over);
    if (getenv(WNDL_TABLE_FOLDERS_ENV) != NULL)
        say_folders(result);
}
