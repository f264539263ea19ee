/* SPDX-License-Identifier: MIT */
#include "cli/shared/heap_report.h"

#include "analyze/heap/tags.h"
#include "base/utf8.h"
#include "cli/core/command.h"
#include "cli/core/output.h"
#include "cli/core/shell_word.h"
#include "cli/core/terminal.h"
#include "cli/shared/debug_packages.h"
#include "out/dmd_text.h"
#include "out/report_json/heap.h"
#include "out/report_json/heap_tags.h"
#include "out/report_text/heap.h"
#include "out/report_text/heap_tags.h"
#include "out/report_text/report_text.h"

#include <inttypes.h>
#include <string.h>

enum { USUAL_RECORDS = 30, DIFF_RECORDS = 1000 };

/* No samples were to be recorded. */
static bool is_of_heaps(const struct wndl_profile *p)
{
    return p->recorder_version.size != 0 && p->interval == 0 &&
           p->engine == WNDL_SAMPLER_UNKNOWN;
}

bool wndl_heap_shown_of(const struct wndl_profile *p, bool wanted)
{
    bool others = p->samples.len + p->blocks.len != 0;
    if (p->heaps.len != 0)
        return wanted || !others;
    return wanted || (is_of_heaps(p) && !others);
}

bool wndl_heap_has_freed(const struct wndl_profile *p)
{
    const struct wndl_process_heap *heaps = p->heaps.data;
    for (size_t i = 0; i < p->heaps.len; i++) {
        if (heaps[i].cumulative)
            return true;
    }
    return false;
}

struct wndl_heap_choice wndl_heap_choose(
    const struct wndl_heap_set_options *options,
    const struct wndl_cli_recording *loaded, size_t count)
{
    static const char *const no_filters[] = {NULL};
    bool cumulative = true;
    for (size_t i = 0; i < count; i++)
        cumulative = cumulative && wndl_heap_has_freed(&loaded[i].profile);
    enum wndl_heap_set usual =
        cumulative ? WNDL_HEAP_SET_ALL : WNDL_HEAP_SET_LIVE;
    return (struct wndl_heap_choice){
        .set = options->blocks == 0 ? usual
                                    : (enum wndl_heap_set)(options->blocks - 1),
        .pid = options->process,
        .grouping = {.max_frames = 1, .filters = no_filters},
    };
}

static struct wndl_heap_choice choose_records(const struct wndl_heap_show *show,
    const struct wndl_cli_recording *loaded, size_t count)
{
    const struct wndl_heap_options *options = show->options;
    struct wndl_heap_choice choice =
        wndl_heap_choose(&options->of, loaded, count);
    choice.grouping = (struct wndl_heap_grouping){
        .max_frames = options->max_frames,
        .sort = options->sort,
        .ignore_alloc_fns = !options->alloc_fns,
        .filters = options->filters.texts,
    };
    return choice;
}

static int out_of_memory(void)
{
    return wndl_cli_error("out of memory");
}

/* Says why there is no heap at all. */
static void say_no_heap(const struct wndl_profile *p, const char *file)
{
    if (p->chunks_damaged != 0)
        wndl_cli_error("%s: no heap is left in the recording: damaged at "
                       "offset 0x%" PRIx64,
            file, p->damaged_at);
    else if (p->cut)
        wndl_cli_error("%s: no heap is left in the recording: it ends in the "
                       "middle of a chunk",
            file);
    else if (is_of_heaps(p) && !p->finished)
        wndl_cli_error("%s: the recording holds no heap yet: its recorder "
                       "still runs, or was killed before the first snapshot",
            file);
    else if (is_of_heaps(p) && p->processes.len != 0)
        wndl_cli_error("%s: the recording holds no heap: its processes ended "
                       "before theirs was recorded",
            file);
    else if (is_of_heaps(p))
        wndl_cli_error("%s: the recording holds no heap: no process could be "
                       "recorded; 'windlass doctor COMMAND' may say why",
            file);
    else
        wndl_cli_error(
            "%s: the recording holds no heap; see 'windlass heap'", file);
}

bool wndl_heap_has(const struct wndl_profile *p,
    const struct wndl_heap_choice *choice, const char *file)
{
    const struct wndl_process_heap *heaps = p->heaps.data;
    for (size_t i = 0; i < p->heaps.len; i++) {
        if (wndl_heap_chosen(p, &heaps[i], choice) &&
            (p->wanted_snapshot == WNDL_LAST_SNAPSHOT ||
                wndl_heap_kept(&heaps[i]) != NULL))
            return true;
    }
    if (p->heaps.len == 0)
        say_no_heap(p, file);
    else if (p->wanted_snapshot != WNDL_LAST_SNAPSHOT)
        wndl_cli_error("%s: no heap has a snapshot %" PRIu64
                       "; 'windlass report --json' lists the snapshots",
            file, p->wanted_snapshot + 1);
    else
        wndl_cli_error("%s: the recording holds no heap of process %" PRIu64,
            file, choice->pid);
    return false;
}

/* ---- tags */

bool wndl_heap_keep_tag(struct wndl_cli_recording *loaded,
    const struct wndl_heap_set_options *options, bool is_needed,
    const char *file)
{
    if (options->tag == NULL)
        return true;
    const bool is_any = wndl_heap_tags_keep(&loaded->profile, options->tag);
    if (is_any || !is_needed)
        return true;
    wndl_cli_error("%s: no block has a tag that matches '%s'; 'windlass report "
                   "--by tag' lists the tags",
        file, options->tag);
    wndl_cli_recording_close(loaded);
    return false;
}

int wndl_heap_report_tags(
    const struct wndl_cli_recording *loaded, const struct wndl_heap_show *show)
{
    const struct wndl_heap_choice choice =
        wndl_heap_choose(&show->options->of, loaded, 1);
    if (!wndl_heap_has(&loaded->profile, &choice, show->path))
        return WNDL_EXIT_FAILURE;
    struct wndl_arena arena;
    struct wndl_vec sums;
    struct wndl_buf text, table;
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&sums, &arena, sizeof(struct wndl_heap_tag_sum));
    wndl_buf_init(&text, wndl_mem_libc());
    wndl_buf_init(&table, wndl_mem_libc());
    const char *which = wndl_heap_set_name(choice.set);
    int exit_code;
    if (!wndl_heap_tags_sum(&loaded->profile, &choice, &sums)) {
        exit_code = out_of_memory();
    } else {
        if (show->json) {
            wndl_report_json_heap_tags(sums.data, sums.len, which, &text);
        } else {
            wndl_report_text_heap_tags(sums.data, sums.len, which, &table);
            wndl_utf8_plain_lines(&text, &table);
        }
        exit_code = wndl_show(&text, show->out, show->paged);
    }
    wndl_buf_free(&table);
    wndl_buf_free(&text);
    wndl_arena_free(&arena);
    return exit_code;
}

/* ---- one */

static void add_next(struct wndl_buf *out, const struct wndl_heap_show *show)
{
    if (strcmp(show->path, "-") == 0)
        return;
    wndl_buf_printf(out, "Next: %s ", show->next);
    wndl_shell_word(out, show->path);
    wndl_buf_byte(out, '\n');
}

static void write_text(const struct wndl_heap_report *r,
    const struct wndl_heap_show *show, struct wndl_buf *out)
{
    struct wndl_buf records, packages;
    wndl_buf_init(&records, out->mem);
    wndl_buf_init(&packages, out->mem);
    wndl_debug_packages_of_heap(r->symbolized, &packages);
    wndl_report_text_heap(r, show->out != NULL ? 0 : wndl_terminal_width(),
        packages.failed ? NULL : (const char *)packages.data, out);
    wndl_buf_free(&packages);
    wndl_dmd_text_records(
        &records, &r->records, show->rows == 0 ? USUAL_RECORDS : show->rows);
    wndl_utf8_plain_lines(out, &records);
    out->failed |= records.failed;
    wndl_buf_free(&records);
    add_next(out, show);
}

int wndl_heap_report(
    const struct wndl_cli_recording *loaded, const struct wndl_heap_show *show)
{
    struct wndl_heap_choice choice = choose_records(show, loaded, 1);
    if (!wndl_heap_has(&loaded->profile, &choice, show->path))
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
        exit_code = wndl_show(&text, show->out, show->paged);
    }
    wndl_heap_report_free(&report);
    wndl_buf_free(&text);
    return exit_code;
}

/* ---- two */

static bool add_side(struct wndl_heap_list *list,
    const struct wndl_cli_recording *loaded,
    const struct wndl_heap_choice *choice, enum wndl_heap_side side)
{
    struct wndl_stack_texts stacks;
    const struct wndl_process_heap *heaps = loaded->profile.heaps.data;
    bool added = wndl_stack_texts_init(&stacks, list, &loaded->symbolized);
    for (size_t i = 0; i < loaded->profile.heaps.len && added; i++) {
        if (wndl_heap_chosen(&loaded->profile, &heaps[i], choice))
            added = wndl_heap_sites_add_reported(
                &stacks, &heaps[i], choice->set, side);
    }
    wndl_stack_texts_free(&stacks);
    return added;
}

static struct wndl_heap_side_sum sum_side(const char *file,
    const struct wndl_cli_recording *loaded,
    const struct wndl_heap_choice *choice)
{
    const struct wndl_profile *p = &loaded->profile;
    const struct wndl_process_heap *heaps = p->heaps.data;
    struct wndl_heap_side_sum sum = {
        .file = file,
        .whole = p->finished && !p->cut && p->chunks_damaged == 0,
    };
    for (size_t i = 0; i < p->heaps.len; i++) {
        const struct wndl_heap_snapshot *s = wndl_heap_kept(&heaps[i]);
        if (s == NULL || !wndl_heap_chosen(p, &heaps[i], choice))
            continue;
        sum.heaps++;
        sum.live_bytes += wndl_heap_live_bytes(s);
        sum.live_blocks += wndl_heap_live_blocks(s);
    }
    return sum;
}

static void describe_side(struct wndl_buf *out, const char *label,
    const struct wndl_heap_side_sum *side)
{
    wndl_buf_printf(out, "%-10s %s: ", label, side->file);
    wndl_text_count(out, side->live_bytes, "byte");
    wndl_buf_text(out, " live in ");
    wndl_text_count(out, side->live_blocks, "block");
    wndl_buf_text(out, " of ");
    wndl_text_count(out, side->heaps, "heap");
    if (!side->whole)
        wndl_buf_text(out, "; this recording is cut short or damaged");
    wndl_buf_byte(out, '\n');
}

static void write_diff(const struct wndl_heap_difference *d,
    const struct wndl_heap_show *show, struct wndl_buf *out)
{
    if (show->json) {
        wndl_report_json_heap_diff(
            d, show->rows == 0 ? SIZE_MAX : show->rows, out);
        return;
    }
    struct wndl_buf text;
    wndl_buf_init(&text, out->mem);
    describe_side(&text, "Earlier", &d->sides[0]);
    describe_side(&text, "Later", &d->sides[1]);
    wndl_buf_byte(&text, '\n');
    wndl_dmd_text_records(
        &text, &d->records, show->rows == 0 ? DIFF_RECORDS : show->rows);
    wndl_utf8_plain_lines(out, &text);
    wndl_buf_free(&text);
}

static bool make_diff(const struct wndl_cli_recording loaded[2],
    const char *const names[2], const struct wndl_heap_show *show,
    struct wndl_buf *out)
{
    static const enum wndl_heap_side sides[] = {
        WNDL_HEAP_SIDE_EARLIER, WNDL_HEAP_SIDE_LATER};
    struct wndl_heap_choice choice = choose_records(show, loaded, 2);
    struct wndl_heap_difference d = {.which = wndl_heap_set_name(choice.set)};
    if (!wndl_heap_list_init(&d.list, wndl_mem_libc()))
        return false;
    bool made = true;
    for (size_t i = 0; i < 2 && made; i++) {
        d.sides[i] = sum_side(names[i], &loaded[i], &choice);
        made = add_side(&d.list, &loaded[i], &choice, sides[i]);
    }
    if (made) {
        made = wndl_heap_records_fill(
            &d.records, &d.list, &choice.grouping, wndl_mem_libc());
        if (made)
            write_diff(&d, show, out);
        wndl_heap_records_free(&d.records);
    }
    wndl_heap_list_free(&d.list);
    return made;
}

int wndl_heap_diff(const struct wndl_cli_recording loaded[2],
    const char *const names[2], const struct wndl_heap_show *show)
{
    struct wndl_heap_choice choice = choose_records(show, loaded, 2);
    if (!wndl_heap_has(&loaded[0].profile, &choice, names[0]) ||
        !wndl_heap_has(&loaded[1].profile, &choice, names[1]))
        return WNDL_EXIT_FAILURE;
    struct wndl_buf text;
    wndl_buf_init(&text, wndl_mem_libc());
    int exit_code = make_diff(loaded, names, show, &text)
                        ? wndl_pager_show(&text, show->paged)
                        : out_of_memory();
    wndl_buf_free(&text);
    return exit_code;
}
