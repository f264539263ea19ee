/* SPDX-License-Identifier: MIT */
#include "cli/report/held.h"

#include "analyze/holders/changes.h"
#include "analyze/holders/holders.h"
#include "analyze/holders/variables.h"
#include "base/utf8.h"
#include "cli/core/command.h"
#include "cli/core/output.h"
#include "cli/shared/debug_dirs.h"
#include "cli/shared/heap_report.h"
#include "out/report_json/holders.h"
#include "out/report_text/holders.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { USUAL_ROWS = 15 };

bool wndl_held_given(const struct wndl_held_options *o)
{
    return o->retained || o->who_holds != NULL || o->block != NULL ||
           o->site != 0;
}

static uint32_t pid_of(
    const struct wndl_profile *p, const struct wndl_process_heap *heap)
{
    const struct wndl_process *process =
        wndl_vec_at(&p->processes, heap->process);
    return process->pid;
}

/* The heap with the largest scan, of the process if one is given; or NULL. */
static const struct wndl_process_heap *choose(
    const struct wndl_profile *p, uint64_t process)
{
    const struct wndl_process_heap *best = NULL, *heaps = p->heaps.data;
    for (size_t i = 0; i < p->heaps.len; i++) {
        if (process != 0 && pid_of(p, &heaps[i]) != process)
            continue;
        if (best == NULL || heaps[i].scan.len > best->scan.len)
            best = &heaps[i];
    }
    return best;
}

static const char *end_text(uint8_t end)
{
    switch (end) {
    case WNDL_SCAN_NONE:
        return "the heap was not scanned: 'windlass heap --scan' does";
    case WNDL_SCAN_TOO_LARGE:
        return "the scan of the heap was given up, because it takes more than "
               "4 GiB";
    case WNDL_SCAN_GIVEN_UP:
        return "the scan of the heap was given up, because the program wrote "
               "to more memory meanwhile than --scan-memory allows";
    case WNDL_SCAN_DAMAGED:
        return "the scan of the heap is damaged";
    default:
        return "the heap could not be scanned: the process was killed, its "
               "address space is limited, or another allocator's calls were "
               "not seen";
    }
}

static void write_answers(const struct wndl_heap_holders *h,
    const struct wndl_held_show *show, struct wndl_buf *out)
{
    if (show->json) {
        wndl_report_json_holders(
            h, show->options->retained, show->options->who_holds, out);
        return;
    }
    const size_t rows = show->rows == 0 ? USUAL_ROWS : (size_t)show->rows;
    if (show->options->retained)
        wndl_text_retained(h, rows, out);
    if (show->options->who_holds != NULL)
        wndl_text_who_holds(h, show->options->who_holds, rows, out);
    if (show->options->block != NULL)
        wndl_text_heap_block(h, rows, out);
    if (show->options->site != 0)
        wndl_text_heap_site(h, rows, out);
}

/* The text of an error about `path`. */
static int fail(struct wndl_error *err, const char *path)
{
    char text[512];
    wndl_error_set_file(err, path);
    return wndl_cli_error("%s", wndl_error_text(err, text, sizeof text));
}

/* The holders of a heap, and the names that they borrow. */
struct held {
    struct wndl_variable_names names;
    struct wndl_heap_holders holders;
};

/* Returns the exit code; ends with end_held in any case. */
static int fill(struct held *held, const struct wndl_cli_recording *loaded,
    const struct wndl_process_heap *heap, struct wndl_holders_wanted *wanted,
    const char *path)
{
    struct wndl_error err = {0};
    wndl_variable_names_init(&held->names, &loaded->profile, wndl_mem_libc());
    const struct wndl_heap_variables variables =
        wndl_variable_names_finder(&held->names);
    wanted->variables = &variables;
    const enum wndl_status status = wndl_heap_holders_fill(
        &held->holders, &loaded->symbolized, heap, wanted, &err);
    wanted->variables = NULL;
    return status == WNDL_OK ? WNDL_EXIT_OK : fail(&err, path);
}

static void end_held(struct held *held)
{
    wndl_heap_holders_free(&held->holders);
    wndl_variable_names_free(&held->names);
}

static int show_text(struct wndl_buf *text, const char *out, bool paged)
{
    struct wndl_buf plain;
    wndl_buf_init(&plain, wndl_mem_libc());
    wndl_utf8_plain_lines(&plain, text);
    const int exit_code = wndl_show(&plain, out, paged);
    wndl_buf_free(&plain);
    return exit_code;
}

/* The heap that is shown; NULL, after a message: there is none with a scan. */
static const struct wndl_process_heap *find_scanned(
    const struct wndl_cli_recording *loaded, uint64_t process, const char *path)
{
    const struct wndl_heap_choice choice = {.pid = process};
    if (!wndl_heap_has(&loaded->profile, &choice, path))
        return NULL;
    const struct wndl_process_heap *heap = choose(&loaded->profile, process);
    if (heap->scan_end == WNDL_SCAN_DONE)
        return heap;
    wndl_cli_error("%s: %s", path, end_text(heap->scan_end));
    return NULL;
}

/* False, after a message, if it is none. */
static bool read_address(const char *text, uint64_t *address)
{
    char *end;
    errno = 0;
    *address = strtoull(text, &end, 16);
    if (errno == 0 && *text != '\0' && *text != '-' && *end == '\0' &&
        *address != 0)
        return true;
    wndl_cli_error("--block takes an address in hex, as a debugger prints it, "
                   "not '%s'",
        text);
    return false;
}

static int answer(const struct wndl_cli_recording *loaded,
    const struct wndl_process_heap *heap, struct wndl_holders_wanted *wanted,
    const struct wndl_held_show *show)
{
    struct held held;
    struct wndl_buf text;
    int exit_code = fill(&held, loaded, heap, wanted, show->path);
    if (exit_code == WNDL_EXIT_OK) {
        wndl_buf_init(&text, wndl_mem_libc());
        write_answers(&held.holders, show, &text);
        exit_code = show_text(&text, show->out, show->paged);
        wndl_buf_free(&text);
    }
    end_held(&held);
    return exit_code;
}

int wndl_held_report(
    const struct wndl_cli_recording *loaded, const struct wndl_held_show *show)
{
    struct wndl_holders_wanted wanted = {
        .place = show->options->who_holds,
        .site = show->options->site,
    };
    if (show->options->block != NULL &&
        !read_address(show->options->block, &wanted.block))
        return WNDL_EXIT_USAGE;
    const struct wndl_process_heap *heap =
        find_scanned(loaded, show->process, show->path);
    if (heap == NULL)
        return WNDL_EXIT_FAILURE;
    struct wndl_debug_dirs dirs;
    struct wndl_symbolizer_cache cache;
    wndl_debug_dirs_init(&dirs, &show->symbols->debug_dirs);
    const struct wndl_symbol_sources sources = {
        .debug_dirs = dirs.list,
        .debuginfod = wndl_asks_debuginfod(show->symbols),
        .cache = wndl_symbol_cache(show->symbols, &cache),
    };
    struct wndl_heap_members members;
    wndl_heap_members_init(&members, &loaded->symbolized, &sources);
    wanted.members = &members;
    const int exit_code = answer(loaded, heap, &wanted, show);
    wndl_heap_members_free(&members);
    return exit_code;
}

/* ---- what grew */

static int show_changes(
    const struct held sides[2], const struct wndl_held_show *show)
{
    struct wndl_holder_changes changes;
    struct wndl_buf text;
    int exit_code = WNDL_EXIT_FAILURE;
    wndl_buf_init(&text, wndl_mem_libc());
    if (!wndl_holder_changes_fill(
            &changes, &sides[0].holders, &sides[1].holders, wndl_mem_libc())) {
        wndl_cli_error("out of memory");
    } else {
        if (show->json)
            wndl_report_json_holder_changes(&changes, &text);
        else
            wndl_text_holder_changes(&changes,
                show->rows == 0 ? USUAL_ROWS : (size_t)show->rows, &text);
        exit_code = show_text(&text, show->out, show->paged);
    }
    wndl_holder_changes_free(&changes);
    wndl_buf_free(&text);
    return exit_code;
}

static int fill_side(struct held *side, const struct wndl_cli_recording *loaded,
    const struct wndl_held_show *show, const char *path)
{
    struct wndl_holders_wanted wanted = {0};
    const struct wndl_process_heap *heap =
        find_scanned(loaded, show->process, path);
    return heap == NULL ? WNDL_EXIT_FAILURE
                        : fill(side, loaded, heap, &wanted, path);
}

int wndl_held_diff(const struct wndl_cli_recording loaded[2],
    const char *const names[2], const struct wndl_held_show *show)
{
    struct held sides[2] = {0};
    int exit_code = fill_side(&sides[0], &loaded[0], show, names[0]);
    if (exit_code == WNDL_EXIT_OK)
        exit_code = fill_side(&sides[1], &loaded[1], show, names[1]);
    if (exit_code == WNDL_EXIT_OK)
        exit_code = show_changes(sides, show);
    end_held(&sides[0]);
    end_held(&sides[1]);
    return exit_code;
}
