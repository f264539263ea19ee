/* SPDX-License-Identifier: MIT */
#include "out/report_text/heap.h"

#include "out/report_text/report_text.h"

#include <inttypes.h>
#include <string.h>

enum { LEAST_PARTS = 3, MAX_LISTED = 10, BEFORE_COMMAND = 60 };

/* A head being written. */
struct head {
    const struct wndl_heap_report *r;
    struct wndl_text text; /* for the parts that other reports have too */
    struct wndl_buf *out;
};

static const struct wndl_process_heap *heap_at(
    const struct head *h, uint32_t heap)
{
    return wndl_vec_at(&h->r->symbolized->profile->heaps, heap);
}

static const struct wndl_heap_row *row_at(const struct head *h, size_t i)
{
    return wndl_vec_at(&h->r->rows, i);
}

/* ---- how it was recorded */

/* Names the set of blocks where it is not the mode's own. */
static void put_shown(const struct head *h)
{
    bool is_peak = strcmp(h->r->which, "peak") == 0;
    bool is_all = strcmp(h->r->which, "all") == 0;
    if (!is_peak && (!is_all || h->r->cumulative))
        return;
    wndl_text_label(&h->text, "Records");
    wndl_buf_text(h->out, is_peak ? "of the blocks that were live at the peak\n"
                                  : "of all blocks ever allocated\n");
}

static void put_mode(const struct head *h)
{
    wndl_text_label(&h->text, "Heap");
    wndl_buf_text(h->out,
        h->r->cumulative ? "all blocks, also freed ones" : "live blocks");
    if (h->r->sample_below == 0) {
        wndl_buf_text(h->out, ", all with their stacks\n");
        put_shown(h);
        return;
    }
    wndl_buf_text(h->out, "; stacks of blocks below ");
    wndl_text_count(h->out, h->r->sample_below, "byte");
    wndl_buf_text(h->out, " by chance: ~ marks estimates\n");
    put_shown(h);
}

static void put_failed_reporter(const struct head *h)
{
    static const char *const texts[] = {
        [WNDL_REPORTER_HANGS] = "' did not return; none was asked again\n",
        [WNDL_REPORTER_ENDED] = "' was running when the process ended\n",
        [WNDL_REPORTER_MISSED] = "' did not run in time: the program did not "
                                 "poll\n",
        [WNDL_REPORTER_OTHER] = "' failed\n",
    };
    for (size_t i = 0; i < h->r->rows.len; i++) {
        const struct wndl_process_heap *heap = heap_at(h, row_at(h, i)->heap);
        if (heap->reporter_failure == WNDL_REPORTER_NONE)
            continue;
        wndl_text_label(&h->text, "Reporters");
        wndl_buf_byte(h->out, '\'');
        wndl_text_cut(&h->text, heap->reporter, 0);
        wndl_buf_text(h->out, texts[heap->reporter_failure]);
    }
}

/* In dark-matter mode: when the memory reporters of each process ran. */
static void put_reporters(const struct head *h)
{
    char text[WNDL_NUMBER_SIZE];
    uint64_t silent = 0, lost = 0;
    for (size_t i = 0; i < h->r->rows.len; i++) {
        const struct wndl_process_heap *heap = heap_at(h, row_at(h, i)->heap);
        silent += heap->dark && !heap->reported_known;
        lost += heap->reported_lost;
        if (!heap->reported_known || h->r->rows.len > 1)
            continue;
        wndl_text_label(&h->text, "Reporters");
        wndl_buf_printf(h->out, "ran last after %s; the records are of then\n",
            wndl_text_time(heap->reported_time, text));
    }
    put_failed_reporter(h);
    if (silent != 0) {
        wndl_text_label(&h->text, "Reporters");
        wndl_buf_text(h->out, "did not run in ");
        wndl_text_count(h->out, silent, "heap");
        wndl_buf_text(h->out, ": the program has none (windlass/memory.h), or "
                              "they did not return\n");
    }
    if (lost == 0)
        return;
    wndl_text_label(&h->text, "");
    wndl_text_count(h->out, lost, "block");
    wndl_buf_text(h->out, " in no record: there was no room\n");
}

static void put_unseen(const struct head *h)
{
    uint64_t count = h->r->all.totals[WNDL_HEAP_TOTAL_OWN];
    if (count == 0)
        return;
    wndl_text_label(&h->text, "");
    wndl_text_count(h->out, count, "heap");
    wndl_buf_text(h->out, " with an allocator in the executable: calls that "
                          "the executable makes to it are not seen\n");
    wndl_text_label(&h->text, "");
    wndl_buf_text(h->out, "blocks that are freed there count as live\n");
}

/* The snapshot of the only heap, or when each process ended, or nothing. */
static void put_when(const struct head *h)
{
    const struct wndl_heap_snapshot *s = NULL;
    char text[WNDL_NUMBER_SIZE];
    for (size_t i = 0; i < h->r->rows.len; i++) {
        s = wndl_heap_kept(heap_at(h, row_at(h, i)->heap));
        if (h->r->rows.len > 1 && (s == NULL || s->why != WNDL_SNAPSHOT_END))
            return;
    }
    if (s == NULL)
        return;
    if (h->r->rows.len > 1) {
        wndl_buf_text(h->out, ", when each process ended");
        return;
    }
    wndl_buf_printf(h->out, ", %s, after %s",
        wndl_snapshot_trigger_text(s->why), wndl_text_time(s->time, text));
    if (s->text.size == 0)
        return;
    wndl_buf_text(h->out, ": ");
    wndl_text_cut(&h->text, s->text, 0);
}

/* The totals come with snapshots: without its end a recording may lack them. */
static bool row_is_known(const struct head *h, const struct wndl_heap_row *row)
{
    const struct wndl_profile *p = h->r->symbolized->profile;
    return (p->finished && !p->cut && p->chunks_damaged == 0) ||
           wndl_heap_kept(heap_at(h, row->heap)) != NULL;
}

/* A sum that lacks one of them is none. */
static bool figures_are_known(const struct head *h)
{
    for (size_t i = 0; i < h->r->rows.len; i++) {
        if (!row_is_known(h, row_at(h, i)))
            return false;
    }
    return true;
}

static void not_known(const struct head *h)
{
    static const char *const labels[] = {"Live", "Peak", "Allocated"};
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        wndl_text_label(&h->text, labels[i]);
        wndl_buf_text(h->out, "not known: the recording was cut\n");
    }
}

static void put_snapshots(const struct head *h)
{
    size_t most = 0;
    uint64_t number = 0;
    bool cut = false;
    for (size_t i = 0; i < h->r->rows.len; i++) {
        const struct wndl_process_heap *heap = heap_at(h, row_at(h, i)->heap);
        const struct wndl_heap_snapshot *s = wndl_heap_kept(heap);
        if (heap->snapshots.len > most && s != NULL)
            number = s->number + 1;
        most = heap->snapshots.len > most ? heap->snapshots.len : most;
        cut |= s != NULL && s->cut;
    }
    if (most > 1) {
        wndl_text_label(&h->text, "");
        wndl_buf_printf(h->out,
            "snapshot %" PRIu64 " of %zu; --snapshot N shows another\n", number,
            most);
    }
    if (cut) {
        wndl_text_label(&h->text, "");
        wndl_buf_text(h->out, "the recording ends in this snapshot: some "
                              "blocks may be missing\n");
    }
}

/*
 * For several processes: the bytes held at one moment, and by each at its end.
 */
static void put_live_of_all(const struct head *h)
{
    char text[WNDL_NUMBER_SIZE];
    wndl_text_label(&h->text, "Live");
    wndl_text_count(h->out, h->r->together.last_bytes, "byte");
    wndl_buf_printf(h->out, " of all processes together after %s\n",
        wndl_text_time(h->r->together.last_time, text));
    wndl_text_label(&h->text, "");
    wndl_text_count(h->out, h->r->all.live_bytes, "byte");
    wndl_buf_text(h->out, " in ");
    wndl_text_count(h->out, h->r->all.live_blocks, "block");
    wndl_buf_printf(h->out, " of %zu processes", h->r->rows.len);
    put_when(h);
    wndl_buf_byte(h->out, '\n');
}

static void put_live(const struct head *h)
{
    if (h->r->rows.len > 1) {
        put_live_of_all(h);
        put_snapshots(h);
        return;
    }
    wndl_text_label(&h->text, "Live");
    wndl_text_count(h->out, h->r->all.live_bytes, "byte");
    wndl_buf_text(h->out, " in ");
    wndl_text_count(h->out, h->r->all.live_blocks, "block");
    put_when(h);
    wndl_buf_byte(h->out, '\n');
    put_snapshots(h);
}

static void put_peak_of_all(const struct head *h)
{
    char text[WNDL_NUMBER_SIZE];
    wndl_text_label(&h->text, "Peak");
    wndl_text_count(h->out, h->r->together.peak_bytes, "byte");
    wndl_buf_printf(h->out, " of all processes together after %s\n",
        wndl_text_time(h->r->together.peak_time, text));
    wndl_text_label(&h->text, "");
}

static void put_peak(const struct head *h)
{
    const uint64_t *totals = h->r->all.totals;
    const struct wndl_profile *p = h->r->symbolized->profile;
    const bool several = h->r->rows.len > 1 && h->r->peak_heap != WNDL_NO_INDEX;
    char text[WNDL_NUMBER_SIZE];
    if (several)
        put_peak_of_all(h);
    else
        wndl_text_label(&h->text, "Peak");
    wndl_text_count(h->out, totals[WNDL_HEAP_TOTAL_PEAK_BYTES], "byte");
    wndl_buf_printf(h->out, " after %s",
        wndl_text_time(totals[WNDL_HEAP_TOTAL_PEAK_TIME], text));
    if (several) {
        const struct wndl_process *process =
            wndl_vec_at(&p->processes, heap_at(h, h->r->peak_heap)->process);
        wndl_buf_printf(
            h->out, ", of process %u, the highest of one", process->pid);
    }
    wndl_buf_byte(h->out, '\n');
}

static void put_allocated(const struct head *h)
{
    const uint64_t *totals = h->r->all.totals;
    wndl_text_label(&h->text, "Allocated");
    wndl_text_count(h->out, totals[WNDL_HEAP_TOTAL_USABLE], "byte");
    wndl_buf_text(h->out, " in ");
    wndl_text_count(h->out, totals[WNDL_HEAP_TOTAL_ALLOCS], "block");
    wndl_buf_text(h->out, ", ");
    wndl_text_count(h->out, totals[WNDL_HEAP_TOTAL_REQUESTED], "byte");
    wndl_buf_text(h->out, " requested; ");
    wndl_text_count(h->out, totals[WNDL_HEAP_TOTAL_REALLOCS], "realloc");
    wndl_buf_byte(h->out, '\n');
    if (totals[WNDL_HEAP_TOTAL_INHERITED] == 0)
        return;
    wndl_text_label(&h->text, "");
    wndl_text_count(h->out, totals[WNDL_HEAP_TOTAL_INHERITED], "block");
    wndl_buf_text(h->out, " freed that were allocated before a fork\n");
}

/* ---- quality */

static void put_part(const struct head *h, uint64_t count, const char *what)
{
    char text[WNDL_NUMBER_SIZE];
    if (count != 0)
        wndl_buf_printf(h->out, ", %s %s", wndl_text_number(count, text), what);
}

/* Rounded down: 100.0 is for all of them only. */
static void put_stacks(const struct head *h)
{
    const struct wndl_heap_quality *q = &h->r->all.quality;
    double all = (double)q->complete + (double)q->guessed +
                 (double)q->truncated + (double)q->lost + (double)q->none +
                 (double)q->damaged + (double)q->missed;
    if (all == 0)
        return;
    wndl_text_label(&h->text, "Stacks");
    wndl_buf_printf(h->out, "%.1f%% of allocations complete",
        (double)(uint64_t)((double)q->complete * 1000 / all) / 10);
    put_part(h, q->guessed, "guessed");
    put_part(h, q->truncated, "truncated");
    put_part(h, q->lost, "lost");
    put_part(h, q->none, "without any");
    put_part(h, q->damaged, "damaged");
    put_part(h, q->missed, "missed");
    wndl_buf_byte(h->out, '\n');
    for (unsigned i = 0; i < WNDL_HEAP_MISSED_REASONS; i++) {
        if (h->r->all.missed[i] == 0)
            continue;
        wndl_text_label(&h->text, "");
        wndl_buf_text(h->out, "missed: ");
        wndl_text_count(h->out, h->r->all.missed[i], "block");
        wndl_buf_printf(h->out, " (%s)\n", wndl_heap_missed_text(i));
    }
    if (q->missed == 0)
        return;
    wndl_text_label(&h->text, "");
    wndl_buf_text(h->out, "those are in the totals above, but in no record\n");
}

static void put_gaps(const struct head *h)
{
    const struct wndl_profile *p = h->r->symbolized->profile;
    if (p->finished && !p->cut && p->chunks_damaged == 0)
        return;
    wndl_text_label(&h->text, "Gaps");
    if (p->chunks_damaged != 0) {
        wndl_text_count(h->out, p->chunks_damaged, "damaged chunk");
        wndl_buf_printf(h->out, " left out, %sat offset 0x%" PRIx64,
            p->chunks_damaged == 1 ? "" : "the first ", p->damaged_at);
    }
    if (!p->finished || p->cut)
        wndl_buf_printf(h->out, "%sthe end of the recording is missing",
            p->chunks_damaged != 0 ? "; " : "");
    wndl_buf_byte(h->out, '\n');
}

/* ---- resident memory */

static const char *const resident_names[WNDL_RESIDENT_PARTS] = {
    [WNDL_RESIDENT_LIVE] = "live blocks of malloc and the like",
    [WNDL_RESIDENT_KEPT] = "kept by the allocator beyond them",
    [WNDL_RESIDENT_MAPPED] = "mapped otherwise, by mmap",
    [WNDL_RESIDENT_STACKS] = "stacks of threads",
    [WNDL_RESIDENT_CODE] = "code",
    [WNDL_RESIDENT_DATA] = "data of files and modules",
    [WNDL_RESIDENT_SHARED] = "shared memory",
    [WNDL_RESIDENT_WINDLASS] = "windlass in the process",
    [WNDL_RESIDENT_OTHER] = "of the kernel",
};

static double share_of(const struct wndl_heap_resident *at, unsigned part)
{
    return at->all == 0 ? 0 : (double)at->parts[part] * 100 / (double)at->all;
}

static unsigned largest_part(const struct wndl_heap_resident *at)
{
    unsigned largest = 0;
    for (unsigned i = 1; i < WNDL_RESIDENT_PARTS; i++)
        largest = at->parts[i] > at->parts[largest] ? i : largest;
    return largest;
}

/* A line of the head. */
static void put_counted(const struct head *h)
{
    const struct wndl_heap_resident *most = &h->r->resident_most;
    const unsigned largest = largest_part(most);
    char text[WNDL_NUMBER_SIZE];
    if (!h->r->resident_known) {
        wndl_text_label(&h->text, "Counted");
        wndl_buf_text(h->out,
            "malloc and the like; not counted: memory mapped by "
            "mmap (arenas of Python), stacks, code\n");
        return;
    }
    wndl_text_label(&h->text, "Resident");
    wndl_text_count(h->out, most->all, "byte");
    wndl_buf_printf(h->out, " at most (Rss) after %s, %.1f%% %s\n",
        wndl_text_time(most->time, text), share_of(most, largest),
        resident_names[largest]);
}

static void put_resident_total(
    const struct head *h, uint64_t most, uint64_t last, const char *name)
{
    char texts[2][WNDL_NUMBER_SIZE];
    wndl_buf_printf(h->out, "  %15s          %15s          %s\n",
        wndl_text_number(most, texts[0]), wndl_text_number(last, texts[1]),
        name);
}

static void put_resident_part(const struct head *h, unsigned part)
{
    const struct wndl_heap_resident *most = &h->r->resident_most;
    const struct wndl_heap_resident *last = &h->r->resident_last;
    char texts[2][WNDL_NUMBER_SIZE];
    if (most->parts[part] == 0 && last->parts[part] == 0)
        return;
    wndl_buf_printf(h->out, "  %15s  %5.1f%%  %15s  %5.1f%%  %s\n",
        wndl_text_number(most->parts[part], texts[0]), share_of(most, part),
        wndl_text_number(last->parts[part], texts[1]), share_of(last, part),
        resident_names[part]);
}

static void put_resident(const struct head *h)
{
    const struct wndl_heap_resident *most = &h->r->resident_most;
    const struct wndl_heap_resident *last = &h->r->resident_last;
    char text[WNDL_NUMBER_SIZE];
    if (!h->r->resident_known)
        return;
    wndl_buf_printf(h->out,
        "\nResident memory\n  %15s   share  %15s   share  after %s\n",
        "at most", "last", wndl_text_time(last->time, text));
    for (unsigned i = 0; i < WNDL_RESIDENT_PARTS; i++)
        put_resident_part(h, i);
    put_resident_total(h, most->all, last->all, "all of these (Rss)");
    put_resident_total(h, most->proportional, last->proportional,
        "with a share of what others have, too (Pss)");
    put_resident_total(
        h, most->mapped, last->mapped, "mapped, resident or not");
}

/* ---- over time */

/* All parts but live blocks and what the allocator keeps, and mappings. */
static uint64_t rest_of(const struct wndl_heap_resident *at)
{
    return at->all - at->parts[WNDL_RESIDENT_LIVE] -
           at->parts[WNDL_RESIDENT_KEPT] - at->parts[WNDL_RESIDENT_MAPPED];
}

static void put_resident_columns(
    const struct head *h, const struct wndl_heap_resident *at)
{
    const uint64_t columns[] = {at->all, at->parts[WNDL_RESIDENT_LIVE],
        at->parts[WNDL_RESIDENT_KEPT], at->parts[WNDL_RESIDENT_MAPPED],
        rest_of(at)};
    char text[WNDL_NUMBER_SIZE];
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        wndl_buf_printf(h->out, " %15s", wndl_text_number(columns[i], text));
}

static void over_time(const struct head *h)
{
    char time[WNDL_NUMBER_SIZE], bytes[WNDL_NUMBER_SIZE];
    char blocks[WNDL_NUMBER_SIZE];
    const bool has_resident = h->r->resident_known;
    size_t first = 0, end = WNDL_HEAP_PARTS;
    while (first < end && h->r->parts[first].blocks == 0)
        first++;
    while (first < end && h->r->parts[end - 1].blocks == 0)
        end--;
    if (!h->r->parts_known || end - first < LEAST_PARTS)
        return;
    wndl_buf_printf(
        h->out, "\nOver time\n  %12s %15s %13s", "after", "bytes", "blocks");
    if (has_resident)
        wndl_buf_printf(h->out, " %15s %15s %15s %15s %15s",
            "resident:", "live blocks", "kept", "mapped", "all other");
    wndl_buf_byte(h->out, '\n');
    for (size_t i = first; i < end; i++) {
        const struct wndl_heap_moment *part = &h->r->parts[i];
        wndl_buf_printf(h->out, "  %12s %15s %13s",
            wndl_text_time_cell(part->time, time),
            wndl_text_number(part->bytes, bytes),
            wndl_text_number(part->blocks, blocks));
        if (has_resident)
            put_resident_columns(h, &h->r->resident_parts[i]);
        wndl_buf_byte(h->out, '\n');
    }
}

/* ---- processes */

static void process_row(const struct head *h, const struct wndl_heap_row *row)
{
    const struct wndl_profile *p = h->r->symbolized->profile;
    const struct wndl_process *process =
        wndl_vec_at(&p->processes, heap_at(h, row->heap)->process);
    char live_text[WNDL_NUMBER_SIZE], peak_text[WNDL_NUMBER_SIZE];
    char allocs[WNDL_NUMBER_SIZE];
    if (row_is_known(h, row))
        wndl_buf_printf(h->out, "  %15s %15s %13s %8u  ",
            wndl_text_number(row->sum.live_bytes, live_text),
            wndl_text_number(
                row->sum.totals[WNDL_HEAP_TOTAL_PEAK_BYTES], peak_text),
            wndl_text_number(row->sum.totals[WNDL_HEAP_TOTAL_ALLOCS], allocs),
            process->pid);
    else
        wndl_buf_printf(h->out, "  %15s %15s %13s %8u  ", "not known", "", "",
            process->pid);
    wndl_text_command(
        &h->text, process->command, process->executable, BEFORE_COMMAND);
    wndl_buf_byte(h->out, '\n');
}

static void put_processes(const struct head *h)
{
    size_t count = h->r->rows.len;
    if (count < 2)
        return;
    wndl_buf_printf(h->out, "\nProcesses: %zu\n  %15s %15s %13s %8s\n", count,
        "live bytes", "at its peak", "allocations", "pid");
    for (size_t i = 0; i < count && i < MAX_LISTED; i++)
        process_row(h, row_at(h, i));
    if (count > MAX_LISTED)
        wndl_buf_printf(h->out, "  and %zu more\n", count - MAX_LISTED);
}

static void put_figures(const struct head *h)
{
    put_mode(h);
    put_unseen(h);
    put_reporters(h);
    if (figures_are_known(h)) {
        put_live(h);
        put_peak(h);
        put_allocated(h);
    } else {
        not_known(h);
    }
    put_stacks(h);
    put_counted(h);
    put_gaps(h);
}

void wndl_report_text_heap_figures(
    const struct wndl_heap_report *r, bool recorded, struct wndl_buf *out)
{
    const struct wndl_report report = {.symbolized = r->symbolized};
    const struct wndl_text_layout layout = {0};
    const struct head h = {.r = r, .text = {&report, &layout, out}, .out = out};
    if (recorded)
        wndl_text_recorded(&h.text);
    put_figures(&h);
}

static void put_packages(const char *packages, struct wndl_buf *out)
{
    if (packages != NULL)
        wndl_buf_printf(out,
            "  Functions without names: install %s,\n"
            "  or use --debuginfod or --debug-dir DIR\n",
            packages);
}

void wndl_report_text_heap(const struct wndl_heap_report *r, unsigned width,
    const char *packages, struct wndl_buf *out)
{
    const struct wndl_report report = {.symbolized = r->symbolized};
    const struct wndl_text_layout layout = {.width = width};
    const struct head h = {.r = r, .text = {&report, &layout, out}, .out = out};
    wndl_text_recorded(&h.text);
    put_figures(&h);
    wndl_text_holders(r, width, out);
    put_packages(packages, out);
    put_resident(&h);
    wndl_text_places(r, width, out);
    over_time(&h);
    put_processes(&h);
    wndl_buf_byte(out, '\n');
    wndl_text_findings(r, out);
}
