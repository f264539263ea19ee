/* SPDX-License-Identifier: MIT */
#include "out/report_text/suggest.h"

#include "out/report_text/report_text.h"

#include <inttypes.h>
#include <math.h>

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

/* "~1,234" of an estimate. */
static const char *number(
    const struct wndl_suggestions *s, double value, char text[WNDL_NUMBER_SIZE])
{
    char *at = wndl_text_number((uint64_t)llround(value), text);
    if (s->is_sampled)
        *--at = '~';
    return at;
}

static void put_bytes(
    const struct wndl_suggestions *s, double bytes, struct wndl_buf *out)
{
    char text[WNDL_NUMBER_SIZE];
    wndl_buf_printf(out, "%s bytes", number(s, bytes, text));
}

static void put_function(const struct wndl_suggestions *s,
    const struct wndl_suggestion *row, struct wndl_buf *out)
{
    const struct wndl_function *f =
        wndl_vec_at(&s->symbolized->functions, row->function);
    struct wndl_bytes name = wndl_intern_get(&s->symbolized->strings, f->name);
    struct wndl_bytes file = wndl_intern_get(&s->symbolized->strings, f->file);
    wndl_buf_add(out, name.data, name.size);
    if (file.size == 0)
        return;
    wndl_buf_text(out, " (");
    wndl_buf_add(out, file.data, file.size);
    if (f->line != 0)
        wndl_buf_printf(out, ":%" PRIu32, f->line);
    wndl_buf_byte(out, ')');
}

static void put_row(const struct wndl_suggestions *s,
    const struct wndl_suggestion *row, struct wndl_buf *out)
{
    char bytes[WNDL_NUMBER_SIZE], blocks[WNDL_NUMBER_SIZE];
    wndl_buf_printf(out, "  %14s  %6.1f%%  %9.1f%%  %10s  ",
        number(s, row->unreported, bytes),
        percent(row->unreported, s->unreported),
        percent(row->unreported, row->allocated),
        number(s, row->unreported_blocks, blocks));
    put_function(s, row, out);
    wndl_buf_byte(out, '\n');
}

void wndl_report_text_suggestions(
    const struct wndl_suggestions *s, struct wndl_buf *out)
{
    wndl_buf_text(out, "Unreported: ");
    put_bytes(s, s->unreported, out);
    wndl_buf_printf(out, ", %.1f%% of ", percent(s->unreported, s->allocated));
    put_bytes(s, s->allocated, out);
    wndl_buf_text(out, " that are live\n");
    if (s->rows.len == 0) {
        wndl_buf_text(out, "No function of the program's own code allocates "
                           "them, or most of what each allocates is "
                           "reported\n");
        return;
    }
    wndl_buf_printf(out, "\n  %14s  %7s  %10s  %10s  %s\n", "bytes", "share",
        "unreported", "blocks", "function to write a reporter for");
    for (size_t i = 0; i < s->rows.len; i++)
        put_row(s, wndl_vec_at(&s->rows, i), out);
    wndl_buf_printf(out,
        "\nTogether they hold %.1f%% of the unreported bytes\n",
        percent(s->covered, s->unreported));
}
