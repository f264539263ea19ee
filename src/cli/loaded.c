/* SPDX-License-Identifier: MIT */
#include "cli/loaded.h"

#include "analyze/symbolize.h"
#include "cli/command.h"
#include "in/wndl.h"
#include "os/file.h"

static bool complain(struct wndl_error *err, const char *path)
{
    char text[600];
    wndl_error_set_file(err, path);
    wndl_cli_error("%s", wndl_error_text(err, text, sizeof text));
    return false;
}

static enum wndl_status read_profile(
    struct wndl_profile *profile, const char *path, struct wndl_error *err)
{
    struct wndl_file file;
    enum wndl_status status = wndl_file_open(path, &file, err);
    if (status != WNDL_OK)
        return status;
    if (!wndl_profile_init(profile, wndl_mem_libc())) {
        wndl_file_close(&file);
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    }
    status = wndl_recording_read(profile, file.bytes, err);
    wndl_file_close(&file);
    if (status != WNDL_OK)
        wndl_profile_free(profile);
    return status;
}

static void write_log(
    void *context, enum wndl_log_level level, const char *text)
{
    (void)context;
    wndl_cli_note("%s%s", level == WNDL_LOG_WARNING ? "warning: " : "", text);
}

static enum wndl_status find_names(struct wndl_loaded *loaded,
    const struct wndl_option_list *debug_dirs, const struct wndl_log *log,
    struct wndl_error *err)
{
    const char *dirs[WNDL_OPTION_LIST_MAX + 2];
    for (size_t i = 0; i < debug_dirs->count; i++)
        dirs[i] = debug_dirs->texts[i];
    dirs[debug_dirs->count] = "/usr/lib/debug";
    dirs[debug_dirs->count + 1] = NULL;
    if (!wndl_symbolized_init(
            &loaded->symbolized, &loaded->profile, wndl_mem_libc()))
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    enum wndl_status status =
        wndl_symbolize_profile(&loaded->symbolized, dirs, log, err);
    if (status != WNDL_OK)
        wndl_symbolized_free(&loaded->symbolized);
    return status;
}

bool wndl_load(struct wndl_loaded *loaded, const char *path,
    const struct wndl_option_list *debug_dirs, bool verbose)
{
    /* The report itself tells of damage: twice is for those who ask. */
    const struct wndl_log log = {.write = write_log, .level = WNDL_LOG_INFO};
    struct wndl_error err = {0};
    if (read_profile(&loaded->profile, path, &err) != WNDL_OK)
        return complain(&err, path);
    if (find_names(loaded, debug_dirs, verbose ? &log : NULL, &err) == WNDL_OK)
        return true;
    wndl_profile_free(&loaded->profile);
    return complain(&err, path);
}

void wndl_unload(struct wndl_loaded *loaded)
{
    wndl_symbolized_free(&loaded->symbolized);
    wndl_profile_free(&loaded->profile);
}
