/* SPDX-License-Identifier: MIT */
#include "cli/report/held.h"

#include "analyze/holders/holders.h"
#include "analyze/holders/variables.h"
#include "base/utf8.h"
#include "cli/core/command.h"
#include "cli/core/output.h"
#include "out/report_json/holders.h"
#include "out/report_text/holders.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { USUAL_ROWS = 15 };

bool wndl_held_given(const struct wndl_held_options *o)
{
    return o->retained || o->who_holds != NULL || o->block != NULL;
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
}

/* The text of an error about `path`. */
static int fail(struct wndl_error *err, const char *path)
{
    char text[512];
    wndl_error_set_file(err, path);
    return wndl_cli_error("%s", wndl_error_text(err, text, sizeof text));
}

static int report(const struct wndl_cli_recording *loaded,
    const struct wndl_process_heap *heap, const struct wndl_held_show *show,
    struct wndl_holders_wanted *wanted)
{
    struct wndl_variable_names names;
    struct wndl_heap_holders h;
    struct wndl_error err = {0};
    wndl_variable_names_init(&names, &loaded->profile, wndl_mem_libc());
    const struct wndl_heap_variables variables =
        wndl_variable_names_finder(&names);
    wanted->variables = &variables;
    int exit_code = 0;
    if (wndl_heap_holders_fill(&h, &loaded->symbolized, heap, wanted, &err) !=
        WNDL_OK) {
        exit_code = fail(&err, show->path);
    } else {
        struct wndl_buf text, plain;
        wndl_buf_init(&text, wndl_mem_libc());
        wndl_buf_init(&plain, wndl_mem_libc());
        write_answers(&h, show, &text);
        wndl_utf8_plain_lines(&plain, &text);
        exit_code = wndl_show(&plain, show->out, show->paged);
        wndl_buf_free(&text);
        wndl_buf_free(&plain);
    }
    wndl_heap_holders_free(&h);
    wndl_variable_names_free(&names);
    return exit_code;
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

int wndl_held_report(
    const struct wndl_cli_recording *loaded, const struct wndl_held_show *show)
{
    struct wndl_holders_wanted wanted = {.place = show->options->who_holds};
    if (show->options->block != NULL &&
        !read_address(show->options->block, &wanted.block))
        return WNDL_EXIT_USAGE;
    const struct wndl_process_heap *heap =
        choose(&loaded->profile, show->process);
    if (heap == NULL)
        return wndl_cli_error(
            "%s: the recording holds no such heap", show->path);
    if (heap->scan_end != WNDL_SCAN_DONE)
        return wndl_cli_error("%s: %s", show->path, end_text(heap->scan_end));
    return report(loaded, heap, show, &wanted);
}
