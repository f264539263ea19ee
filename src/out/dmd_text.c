/* SPDX-License-Identifier: MIT */
#include "out/dmd_text.h"

#include "rec/heap.h"

#include <inttypes.h>
#include <string.h>

/* Records of one kind are a list of their own. */
enum kind {
    KIND_TWICE_REPORTED,
    KIND_UNREPORTED,
    KIND_ONCE_REPORTED,
    KIND_LIVE,
    KIND_CUMULATIVE,
    KINDS,
};

static const char *const kind_names[KINDS] = {
    "twice-reported", "unreported", "once-reported", "live", "cumulative"};

/* The current output: the records of one kind. */
struct text {
    struct wndl_buf *out;
    const struct wndl_heap_records *r;
    enum kind kind;
    size_t count;          /* of the kind */
    int64_t blocks, bytes; /* of the kind */
    int64_t bytes_so_far;  /* usable, of those written */
    int64_t heap_bytes;    /* of all blocks, also those that filters left out */
    size_t max;
};

static void put_separator(struct wndl_buf *out)
{
    wndl_buf_byte(out, '#');
    for (int i = 0; i < 65; i++)
        wndl_buf_byte(out, '-');
    wndl_buf_byte(out, '\n');
}

enum { NUMBER_SIZE = 32 };

/* "-1,234,567" */
static char *number_text(int64_t value, char text[NUMBER_SIZE])
{
    uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;
    char *at = text + NUMBER_SIZE;
    *--at = '\0';
    for (int digits = 0; digits == 0 || left != 0; digits++, left /= 10) {
        if (digits != 0 && digits % 3 == 0)
            *--at = ',';
        *--at = (char)('0' + left % 10);
    }
    if (value < 0)
        *--at = '-';
    return at;
}

static void add_number(struct wndl_buf *out, int64_t value, bool sampled)
{
    char text[NUMBER_SIZE];
    if (sampled)
        wndl_buf_byte(out, '~');
    wndl_buf_text(out, number_text(value, text));
}

static double percent_of(int64_t part, int64_t whole)
{
    return whole == 0 ? 0 : 100 * (double)part / (double)whole;
}

/* A character that controls a terminal becomes '?'. */
static void add_text(struct wndl_buf *out, struct wndl_bytes s)
{
    for (size_t i = 0; i < s.size; i++) {
        uint8_t c = s.data[i];
        bool c1 = c == 0xc2 && i + 1 < s.size && s.data[i + 1] >= 0x80 &&
                  s.data[i + 1] < 0xa0;
        wndl_buf_byte(out, c < 0x20 || c == 0x7f || c1 ? '?' : c);
        i += c1;
    }
}

/* ---- head */

static const char *mode_name(enum wndl_heap_mode mode)
{
    /* Scan is live with contents of blocks, which reports do not show. */
    static const char *const names[] = {
        [WNDL_HEAP_MODE_LIVE] = "live",
        [WNDL_HEAP_MODE_CUMULATIVE] = "cumulative",
        [WNDL_HEAP_MODE_DARK_MATTER] = "dark-matter",
        [WNDL_HEAP_MODE_SCAN] = "live",
    };
    return names[mode];
}

void wndl_dmd_text_head(struct wndl_buf *out, const char *command,
    const struct wndl_dmd_invocation *invocations, size_t count)
{
    put_separator(out);
    wndl_buf_text(out, "# ");
    add_text(
        out, (struct wndl_bytes){(const uint8_t *)command, strlen(command)});
    wndl_buf_text(out, "\n\n");
    for (size_t i = 0; i < count; i++) {
        wndl_buf_text(out, "Invocation");
        if (count > 1)
            wndl_buf_printf(out, " %zu", i + 1);
        wndl_buf_text(out, " {\n  $DMD ");
        wndl_buf_text(
            out, invocations[i].env.data == NULL ? "is undefined" : "= '");
        add_text(out, invocations[i].env);
        wndl_buf_text(out, invocations[i].env.data == NULL ? "\n" : "'\n");
        wndl_buf_printf(
            out, "  Mode = '%s'\n}\n\n", mode_name(invocations[i].mode));
    }
}

/* ---- a record */

static void write_bytes(
    const struct text *t, const struct wndl_heap_figures *f, bool sampled)
{
    wndl_buf_text(t->out, "  ");
    add_number(t->out, wndl_heap_usable(f), sampled);
    wndl_buf_text(t->out, " bytes (");
    add_number(t->out, f->requested, sampled);
    wndl_buf_text(t->out, " requested / ");
    add_number(t->out, f->slop, sampled);
    wndl_buf_text(t->out, " slop)\n");
}

/* The sign of a size is that of its number of blocks. */
static void write_sizes(
    const struct text *t, const struct wndl_heap_record *record)
{
    const struct wndl_heap_size *size =
        record->size_count == 0 ? NULL
                                : wndl_vec_at(&t->r->sizes, record->first_size);
    bool one = record->size_count == 1 && !size->sampled &&
               (size->blocks == 1 || size->blocks == -1);
    if (one)
        return;
    wndl_buf_text(t->out, "  Individual block sizes: ");
    if (record->size_count == 0)
        wndl_buf_text(t->out, "(no change)");
    for (uint32_t i = 0; i < record->size_count; i++, size++) {
        int64_t count = size->blocks < 0 ? -size->blocks : size->blocks;
        wndl_buf_text(t->out, i == 0 ? "" : "; ");
        if (size->blocks < 0)
            wndl_buf_byte(t->out, '-');
        add_number(t->out, (int64_t)size->usable, false);
        if (count > 1 || size->sampled) {
            wndl_buf_text(t->out, " x ");
            add_number(t->out, count, size->sampled);
        }
    }
    wndl_buf_byte(t->out, '\n');
}

static void write_percents(
    const struct text *t, const struct wndl_heap_figures *f)
{
    wndl_buf_printf(t->out, "  %4.2f%% of the heap (%4.2f%% cumulative)\n",
        percent_of(wndl_heap_usable(f), t->heap_bytes),
        percent_of(t->bytes_so_far, t->heap_bytes));
    if (t->kind == KIND_LIVE || t->kind == KIND_CUMULATIVE)
        return;
    wndl_buf_printf(t->out, "  %4.2f%% of %s (%4.2f%% cumulative)\n",
        percent_of(wndl_heap_usable(f), t->bytes), kind_names[t->kind],
        percent_of(t->bytes_so_far, t->bytes));
}

/* Writes the error of an estimate from a sample. */
static void write_error(struct wndl_buf *out, const struct wndl_heap_figures *f)
{
    if (f->blocks_error == 0)
        return;
    wndl_buf_text(out, "  Standard error: ");
    add_number(out, (int64_t)(f->bytes_error + 0.5), false);
    wndl_buf_text(out, " bytes, ");
    add_number(out, (int64_t)(f->blocks_error + 0.5), false);
    wndl_buf_text(out, " blocks\n");
}

/*
 * For all blocks ever allocated: how many were freed, and when. A DMD file does
 * not have it, and a difference has no mean lifetime. The lifetime may not be
 * known for all.
 */
static void write_gone(struct wndl_buf *out, const struct wndl_heap_figures *f)
{
    static const struct {
        uint64_t ns;
        const char *name;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
    bool sampled = f->blocks_error != 0;
    size_t unit = 0;
    if (f->freed == 0 && f->temporary == 0)
        return;
    wndl_buf_text(out, "  Freed: ");
    add_number(out, f->freed, sampled);
    wndl_buf_text(out, ", temporary: ");
    add_number(out, f->temporary, sampled);
    if (f->mean_lifetime != 0) {
        while (f->mean_lifetime < units[unit].ns)
            unit++;
        wndl_buf_printf(out, "; mean lifetime %s%.4g %s",
            f->freed > WNDL_HEAP_TIMED_ALL ? "~" : "",
            (double)f->mean_lifetime / (double)units[unit].ns,
            units[unit].name);
    }
    wndl_buf_byte(out, '\n');
}

static void write_stack(
    const struct text *t, const char *title, struct wndl_heap_stack stack)
{
    const struct wndl_heap_list *list = t->r->list;
    wndl_buf_printf(t->out, "  %s {\n", title);
    for (uint32_t i = 1; i <= stack.count; i++) {
        const struct wndl_heap_frame *frame =
            wndl_heap_frame_at(list, stack.leaf);
        wndl_buf_printf(t->out, "    #%02" PRIu32 ": ", i);
        add_text(t->out, wndl_intern_get(&list->strings, frame->text));
        wndl_buf_byte(t->out, '\n');
        stack.leaf = frame->caller;
    }
    wndl_buf_text(t->out, "  }\n");
}

static void write_record(
    struct text *t, const struct wndl_heap_record *record, size_t index)
{
    const struct wndl_heap_figures *f = &record->figures;
    bool sampled = f->blocks_error != 0;
    char place[NUMBER_SIZE], all[NUMBER_SIZE];
    t->bytes_so_far = wndl_add_saturating(t->bytes_so_far, wndl_heap_usable(f));
    wndl_buf_printf(t->out, "%c%s {\n  ", kind_names[t->kind][0] - 'a' + 'A',
        kind_names[t->kind] + 1);
    add_number(t->out, f->blocks, sampled);
    wndl_buf_printf(t->out, " block%s in heap block record %s of %s\n",
        f->blocks == 1 ? "" : "s", number_text((int64_t)index, place),
        number_text((int64_t)t->count, all));
    write_bytes(t, f, sampled);
    write_sizes(t, record);
    write_percents(t, f);
    write_error(t->out, f);
    write_gone(t->out, f);
    write_stack(t, "Allocated at", record->stacks[WNDL_HEAP_ALLOCATED]);
    if (t->kind == KIND_ONCE_REPORTED || t->kind == KIND_TWICE_REPORTED)
        write_stack(t, "Reported at", record->stacks[WNDL_HEAP_REPORTED]);
    if (t->kind == KIND_TWICE_REPORTED)
        write_stack(
            t, "Reported again at", record->stacks[WNDL_HEAP_REPORTED_AGAIN]);
    wndl_buf_text(t->out, "}\n\n");
}

/* ---- lists */

static enum kind kind_of(
    const struct wndl_heap_list *list, const struct wndl_heap_record *record)
{
    if (list->mode == WNDL_HEAP_MODE_CUMULATIVE)
        return KIND_CUMULATIVE;
    if (list->mode != WNDL_HEAP_MODE_DARK_MATTER)
        return KIND_LIVE;
    if (record->stacks[WNDL_HEAP_REPORTED_AGAIN].leaf != 0)
        return KIND_TWICE_REPORTED;
    return record->stacks[WNDL_HEAP_REPORTED].leaf != 0 ? KIND_ONCE_REPORTED
                                                        : KIND_UNREPORTED;
}

static void sum_up(struct text *t)
{
    for (size_t i = 0; i < t->r->records.len; i++) {
        const struct wndl_heap_record *record = wndl_vec_at(&t->r->records, i);
        if (kind_of(t->r->list, record) != t->kind)
            continue;
        t->count++;
        t->blocks = wndl_add_saturating(t->blocks, record->figures.blocks);
        t->bytes =
            wndl_add_saturating(t->bytes, wndl_heap_usable(&record->figures));
    }
}

/* Returns the figures for the summary. */
static struct text write_kind(struct wndl_buf *out,
    const struct wndl_heap_records *r, enum kind kind, size_t max)
{
    struct text t = {.out = out, .r = r, .kind = kind, .max = max};
    size_t index = 0;
    char text[NUMBER_SIZE];
    t.heap_bytes = wndl_heap_usable(&r->total);
    sum_up(&t);
    put_separator(out);
    wndl_buf_byte(out, '\n');
    if (t.count == 0)
        wndl_buf_printf(out, "# no %s heap blocks\n\n", kind_names[kind]);
    for (size_t i = 0; i < r->records.len; i++) {
        const struct wndl_heap_record *record = wndl_vec_at(&r->records, i);
        if (kind_of(r->list, record) != kind)
            continue;
        if (index++ == max) {
            wndl_buf_printf(out,
                "# %c%s: stopping after %s heap block records\n\n",
                kind_names[kind][0] - 'a' + 'A', kind_names[kind] + 1,
                number_text((int64_t)max, text));
            break;
        }
        write_record(&t, record, index);
    }
    return t;
}

/* ---- summary */

/* "~1,234" of an estimate. */
static const char *figure_text(
    int64_t value, bool sampled, char text[NUMBER_SIZE])
{
    char *at = number_text(value, text);
    if (sampled)
        *--at = '~';
    return at;
}

static void write_line(struct wndl_buf *out, const char *name,
    const struct text *part, const struct text *all)
{
    const bool sampled = all->r->total.blocks_error != 0;
    char bytes[NUMBER_SIZE], blocks[NUMBER_SIZE];
    wndl_buf_printf(out,
        "  %-15s %12s bytes (%6.2f%%) in %7s blocks (%6.2f%%)\n", name,
        figure_text(part->bytes, sampled, bytes),
        percent_of(part->bytes, all->bytes),
        figure_text(part->blocks, sampled, blocks),
        percent_of(part->blocks, all->blocks));
}

static void write_dark_matter(
    struct wndl_buf *out, const struct wndl_heap_records *r, size_t max)
{
    struct text all = {.r = r, .blocks = r->total.blocks};
    all.bytes = wndl_heap_usable(&r->total);
    struct text twice = write_kind(out, r, KIND_TWICE_REPORTED, max);
    struct text none = write_kind(out, r, KIND_UNREPORTED, max);
    struct text once = write_kind(out, r, KIND_ONCE_REPORTED, max);
    const bool sampled = r->total.blocks_error != 0;
    put_separator(out);
    wndl_buf_text(out, "\nSummary {\n");
    char bytes[NUMBER_SIZE], blocks[NUMBER_SIZE];
    wndl_buf_printf(out,
        "  %-15s %12s bytes (100.00%%) in %7s blocks (100.00%%)\n",
        "Total:", figure_text(all.bytes, sampled, bytes),
        figure_text(all.blocks, sampled, blocks));
    write_line(out, "Unreported:", &none, &all);
    write_line(out, "Once-reported:", &once, &all);
    write_line(out, "Twice-reported:", &twice, &all);
    wndl_buf_text(out, "}\n\n");
}

static void write_plain(
    struct wndl_buf *out, const struct wndl_heap_records *r, size_t max)
{
    enum kind kind = r->list->mode == WNDL_HEAP_MODE_CUMULATIVE
                         ? KIND_CUMULATIVE
                         : KIND_LIVE;
    (void)write_kind(out, r, kind, max);
    bool sampled = r->shown.blocks_error != 0;
    put_separator(out);
    wndl_buf_text(out, "\nSummary {\n  Total: ");
    add_number(out, wndl_heap_usable(&r->shown), sampled);
    wndl_buf_text(out, " bytes in ");
    add_number(out, r->shown.blocks, sampled);
    wndl_buf_text(out, " blocks\n");
    write_error(out, &r->shown);
    wndl_buf_text(out, "}\n\n");
}

void wndl_dmd_text_records(
    struct wndl_buf *out, const struct wndl_heap_records *records, size_t max)
{
    if (records->list->mode == WNDL_HEAP_MODE_DARK_MATTER)
        write_dark_matter(out, records, max);
    else
        write_plain(out, records, max);
}
