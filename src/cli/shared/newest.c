/* SPDX-License-Identifier: MIT */
#include "cli/shared/newest.h"

#include "cli/core/command.h"
#include "os/file.h"
#include "wndl/put_aside.h"
#include "wndl/read.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a folder */

static int compare_ages(const void *one, const void *other)
{
    const struct wndl_listed *a = one, *b = other;
    if (a->changed.tv_sec != b->changed.tv_sec)
        return a->changed.tv_sec < b->changed.tv_sec ? 1 : -1;
    if (a->changed.tv_nsec != b->changed.tv_nsec)
        return a->changed.tv_nsec < b->changed.tv_nsec ? 1 : -1;
    return -strcmp(a->path, b->path);
}

/* "NAME" in the current folder, else "FOLDER/NAME". False: too long. */
static bool join_path(char path[PATH_MAX], const char *folder, const char *name)
{
    const bool here = strcmp(folder, ".") == 0;
    /* A name like an option would be read as one. */
    const char *prefix = here ? (name[0] == '-' ? "./" : "") : folder;
    const size_t size = strlen(prefix);
    const bool ends = here || (size != 0 && prefix[size - 1] == '/');
    const int used =
        snprintf(path, PATH_MAX, "%s%s%s", prefix, ends ? "" : "/", name);
    return used > 0 && used < PATH_MAX;
}

static bool add_recording(
    struct wndl_listing *listing, const char *path, const struct stat *st)
{
    struct wndl_listed *file = wndl_vec_push(&listing->files);
    if (file != NULL)
        *file = (struct wndl_listed){
            .path = wndl_arena_copy(&listing->arena, path, strlen(path) + 1),
            .changed = st->st_mtim,
            .owner = st->st_uid,
        };
    if (file == NULL || file->path == NULL)
        return wndl_cli_error("out of memory"), false;
    return true;
}

/*
 * Files that are no recordings, that we may not read, or that go away
 * meanwhile, are passed over. Any other might be the one that is meant.
 */
static bool add_file(
    struct wndl_listing *listing, const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat st;
    if (!join_path(path, folder, name) || stat(path, &st) != 0 ||
        !S_ISREG(st.st_mode))
        return true;
    if (wndl_recording_is_at(path))
        return add_recording(listing, path, &st);
    if (errno == 0 || errno == ENOENT || errno == EACCES || errno == EPERM)
        return true;
    wndl_cli_error("cannot open %s: %s", path, strerror(errno));
    return false;
}

static bool add_folder(
    struct wndl_listing *listing, const char *folder, DIR *open)
{
    const struct dirent *entry;
    while ((entry = readdir(open)) != NULL) {
        if (!add_file(listing, folder, entry->d_name))
            return false;
    }
    if (listing->files.len != 0)
        qsort(listing->files.data, listing->files.len,
            sizeof(struct wndl_listed), compare_ages);
    return true;
}

bool wndl_listing_make(struct wndl_listing *listing, const char *folder)
{
    wndl_arena_init(&listing->arena, wndl_mem_libc());
    wndl_vec_init(&listing->files, &listing->arena, sizeof(struct wndl_listed));
    DIR *open = opendir(folder);
    if (open == NULL) {
        wndl_cli_error("cannot list %s: %s", folder, strerror(errno));
        return false;
    }
    const bool listed = add_folder(listing, folder, open);
    closedir(open);
    return listed;
}

void wndl_listing_free(struct wndl_listing *listing)
{
    wndl_arena_free(&listing->arena);
}

/* ---- the newest */

/* Whether only heaps were recorded. One that cannot be read is not. */
static bool is_of_heaps(const char *path)
{
    struct wndl_profile profile;
    struct wndl_file file;
    bool is = false;
    if (!wndl_profile_init(&profile, wndl_mem_libc()))
        return false;
    if (wndl_file_open(path, &file, NULL) == WNDL_OK) {
        is = wndl_reader_read_file(&profile, &file, NULL) == WNDL_OK &&
             profile.interval == 0 && profile.heaps.len != 0;
        wndl_file_close(&file);
    }
    wndl_profile_free(&profile);
    return is;
}

static size_t take_own(struct wndl_newest *newest, size_t wanted)
{
    const struct wndl_listed *files = newest->listing.files.data;
    size_t taken = 0;
    bool of_heaps = false;
    for (size_t i = 0; i < newest->listing.files.len && taken < wanted; i++) {
        char *path = (char *)files[i].path;
        if (files[i].owner != geteuid() ||
            (taken != 0 && is_of_heaps(path) != of_heaps))
            continue;
        if (taken == 0 && wanted > 1)
            of_heaps = is_of_heaps(path);
        newest->texts[wanted - 1 - taken++] = path;
    }
    return taken;
}

static bool say_too_few(
    const struct wndl_newest *newest, size_t found, size_t wanted)
{
    const bool others = newest->listing.files.len > found;
    wndl_cli_error("%s of yours is in this folder%s; make %s with 'windlass "
                   "record -- COMMAND', or name the FILE",
        found == 0 ? "no recording" : "only one recording of its kind",
        others ? " (name others')" : "", wanted > found + 1 ? "two" : "one");
    return false;
}

bool wndl_newest_fill(
    struct wndl_newest *newest, struct wndl_operands *operands, size_t wanted)
{
    *newest = (struct wndl_newest){0};
    wndl_arena_init(&newest->listing.arena, wndl_mem_libc());
    if (operands->count != 0)
        return true;
    if (!wndl_listing_make(&newest->listing, "."))
        return false;
    const size_t found = take_own(newest, wanted);
    if (found < wanted)
        return say_too_few(newest, found, wanted);
    if (wanted == 1)
        wndl_cli_note("the newest recording here: %s", newest->texts[0]);
    else
        wndl_cli_note("the newest recordings here: %s, then %s",
            newest->texts[0], newest->texts[1]);
    *operands = (struct wndl_operands){newest->texts, wanted};
    return true;
}

void wndl_newest_free(struct wndl_newest *newest)
{
    wndl_listing_free(&newest->listing);
}
