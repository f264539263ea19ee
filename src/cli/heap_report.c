/* SPDX-License-Identifier: MIT */
#include "cli/heap_report.h"

#include "cli/command.h"
#include "cli/shell_word.h"
#include "cli/terminal.h"
#include "out/dmd_text.h"
#include "out/report_json_heap.h"
#include "out/report_text_heap.h"

#include <inttypes.h>
#include <string.h>

enum { USUAL_RECORDS = 30, DIFF_RECORDS = 1000 };

bool wndl_heap_shown_of(const struct wndl_profile *p, bool wanted)
{
    bool others = p->samples.len + p->blocks.len != 0;
    return p->heaps.len != 0 && (wanted || !others);
}

bool wndl_heap_tells_gone(const struct wndl_profile *p)
{
    const struct wndl_process_heap *heaps = p->heaps.data;
    for (size_t i = 0; i < p->heaps.len; i++) {
        if (heaps[i].cumulative)
            return true;
    }
    return false;
}

struct wndl_heap_choice wndl_heap_choose(
    const struct wndl_heap_which_options *options,
    const struct wndl_loaded *loaded, size_t count)
{
    static const char *const no_filters[] = {NULL};
    bool cumulative = true;
    for (size_t i = 0; i < count; i++)
        cumulative = cumulative && wndl_heap_tells_gone(&loaded[i].profile);
    enum wndl_heap_which usual =
        cumulative ? WNDL_HEAP_WHICH_ALL : WNDL_HEAP_WHICH_LIVE;
    return (struct wndl_heap_choice){
        .which = options->blocks == 0
                     ? usual
                     : (enum wndl_heap_which)(options->blocks - 1),
        .pid = options->process,
        .grouping = {.max_frames = 1, .filters = no_filters},
    };
}

static struct wndl_heap_choice choose(const struct wndl_heap_show *show,
    const struct wndl_loaded *loaded, size_t count)
{
    const struct wndl_heap_options *options = show->options;
    struct wndl_heap_choice choice =
        wndl_heap_choose(&options->of, loaded, count);
    choice.grouping = (struct wndl_heap_grouping){
        .max_frames = options->max_frames,
        .sort = options->sort,
        .ignore_alloc_fns = options->ignore_alloc_fns,
        .filters = options->filters.texts,
    };
    return choice;
}

static int out_of_memory(void)
{
    return wndl_cli_error("out of memory");
}

bool wndl_heap_has(
    const struct wndl_profile *p, const struct wndl_heap_choice *choice)
{
    const struct wndl_process_heap *heaps = p->heaps.data;
    for (size_t i = 0; i < p->heaps.len; i++) {
        if (wndl_heap_chosen(p, &heaps[i], choice) &&
            (p->wanted_snapshot == WNDL_LAST_SNAPSHOT ||
                wndl_heap_kept(&heaps[i]) != NULL))
            return true;
    }
    if (p->heaps.len == 0)
        wndl_cli_error("no heap is in the recording; see 'windlass heap'");
    else if (p->wanted_snapshot != WNDL_LAST_SNAPSHOT)
        wndl_cli_error("no heap has a snapshot %" PRIu64
                       "; 'windlass report --json' lists what there is",
            p->wanted_snapshot + 1);
    else
        wndl_cli_error("no heap of a process %" PRIu64 " is in the recording",
            choice->pid);
    return false;
}

/* ---- one */

static void add_next(struct wndl_buf *out, const char *path)
{
    if (strcmp(path, "-") == 0)
        return;
    wndl_buf_text(out, "Next: windlass export -f folded -o heap.folded ");
    wndl_shell_word(out, path);
    wndl_buf_byte(out, '\n');
}

static void write_text(const struct wndl_heap_report *r,
    const struct wndl_heap_show *show, struct wndl_buf *out)
{
    wndl_report_text_heap(r, wndl_terminal_width(), out);
    wndl_dmd_text_records(
        out, &r->records, show->rows == 0 ? USUAL_RECORDS : show->rows);
    add_next(out, show->path);
}

int wndl_heap_report(
    const struct wndl_loaded *loaded, const struct wndl_heap_show *show)
{
    struct wndl_heap_choice choice = choose(show, loaded, 1);
    if (!wndl_heap_has(&loaded->profile, &choice))
        return WNDL_EXIT_FAILURE;
    struct wndl_heap_report report;
    struct wndl_buf text;
    wndl_buf_init(&text, wndl_mem_libc());
    int exit_code;
    if (!wndl_heap_report_fill(
            &report, &loaded->symbolized, &choice, wndl_mem_libc())) {
        exit_code = out_of_memory();
    } else {
        if (show->json)
            wndl_report_json_heap(
                &report, show->rows == 0 ? SIZE_MAX : show->rows, &text);
        else
            write_text(&report, show, &text);
        exit_code = wndl_pager_show(&text, show->paged);
    }
    wndl_heap_report_free(&report);
    wndl_buf_free(&text);
    return exit_code;
}

/* ---- two */

static bool add_side(struct wndl_heap_list *list,
    const struct wndl_loaded *loaded, const struct wndl_heap_choice *choice,
    enum wndl_heap_side side)
{
    struct wndl_heap_stacks stacks;
    const struct wndl_process_heap *heaps = loaded->profile.heaps.data;
    bool added = wndl_heap_stacks_init(&stacks, list, &loaded->symbolized);
    for (size_t i = 0; i < loaded->profile.heaps.len && added; i++) {
        if (wndl_heap_chosen(&loaded->profile, &heaps[i], choice))
            added =
                wndl_heap_blocks_add(&stacks, &heaps[i], choice->which, side);
    }
    wndl_heap_stacks_free(&stacks);
    return added;
}

static void describe(struct wndl_buf *out, const char *label, const char *name,
    const struct wndl_loaded *loaded, const struct wndl_heap_choice *choice)
{
    const struct wndl_process_heap *heaps = loaded->profile.heaps.data;
    uint64_t bytes = 0, blocks = 0, used = 0;
    for (size_t i = 0; i < loaded->profile.heaps.len; i++) {
        const struct wndl_heap_snapshot *s = wndl_heap_kept(&heaps[i]);
        if (s == NULL || !wndl_heap_chosen(&loaded->profile, &heaps[i], choice))
            continue;
        used++;
        bytes += wndl_heap_live_bytes(s);
        blocks += wndl_heap_live_blocks(s);
    }
    wndl_buf_printf(out, "%-10s %s: ", label, name);
    wndl_text_count(out, bytes, "byte");
    wndl_buf_text(out, " live in ");
    wndl_text_count(out, blocks, "block");
    wndl_buf_text(out, " of ");
    wndl_text_count(out, used, "heap");
    const struct wndl_profile *p = &loaded->profile;
    if (!p->finished || p->cut || p->chunks_damaged != 0)
        wndl_buf_text(out, "; this recording is cut short or damaged");
    wndl_buf_byte(out, '\n');
}

static bool write_diff(const struct wndl_loaded loaded[2],
    const char *const names[2], const struct wndl_heap_show *show,
    struct wndl_buf *out)
{
    struct wndl_heap_choice choice = choose(show, loaded, 2);
    struct wndl_heap_list list;
    struct wndl_heap_records records;
    if (!wndl_heap_list_init(&list, wndl_mem_libc()))
        return false;
    bool made = add_side(&list, &loaded[0], &choice, WNDL_HEAP_SIDE_EARLIER) &&
                add_side(&list, &loaded[1], &choice, WNDL_HEAP_SIDE_LATER);
    if (made) {
        made =
            wndl_heap_group(&records, &list, &choice.grouping, wndl_mem_libc());
        describe(out, "Earlier", names[0], &loaded[0], &choice);
        describe(out, "Later", names[1], &loaded[1], &choice);
        wndl_buf_byte(out, '\n');
        if (made)
            wndl_dmd_text_records(
                out, &records, show->rows == 0 ? DIFF_RECORDS : show->rows);
        wndl_heap_records_free(&records);
    }
    wndl_heap_list_free(&list);
    return made;
}

int wndl_heap_diff(const struct wndl_loaded loaded[2],
    const char *const names[2], const struct wndl_heap_show *show)
{
    struct wndl_heap_choice choice = choose(show, loaded, 2);
    if (!wndl_heap_has(&loaded[0].profile, &choice) ||
        !wndl_heap_has(&loaded[1].profile, &choice))
        return WNDL_EXIT_FAILURE;
    struct wndl_buf text;
    wndl_buf_init(&text, wndl_mem_libc());
    int exit_code = write_diff(loaded, names, show, &text)
                        ? wndl_pager_show(&text, show->paged)
                        : out_of_memory();
    wndl_buf_free(&text);
    return exit_code;
}
