/* SPDX-License-Identifier: MIT */
/* Columns and values of the profile's tables. */
#include "out/firefox/firefox.h"

struct wndl_firefox_column wndl_firefox_open(
    struct wndl_firefox *w, const char *name)
{
    wndl_buf_printf(&w->sink.text, "\"%s\":[", name);
    return (struct wndl_firefox_column){w, true};
}

static struct wndl_buf *next_in(struct wndl_firefox_column *column)
{
    struct wndl_sink *sink = &column->w->sink;
    if (!column->first) {
        wndl_sink_flush(sink);
        wndl_buf_byte(&sink->text, ',');
    }
    column->first = false;
    return &sink->text;
}

void wndl_firefox_number(struct wndl_firefox_column *column, uint64_t number)
{
    wndl_buf_decimal(next_in(column), number);
}

void wndl_firefox_time(struct wndl_firefox_column *column, uint64_t ns)
{
    wndl_firefox_put_ms(next_in(column), ns);
}

void wndl_firefox_text(struct wndl_firefox_column *column, const char *text)
{
    wndl_buf_text(next_in(column), text);
}

void wndl_firefox_close(struct wndl_firefox_column *column)
{
    wndl_buf_text(&column->w->sink.text, "],\n");
}

void wndl_firefox_repeat(
    struct wndl_firefox *w, const char *name, size_t count, const char *text)
{
    struct wndl_firefox_column column = wndl_firefox_open(w, name);
    for (size_t i = 0; i < count; i++)
        wndl_firefox_text(&column, text);
    wndl_firefox_close(&column);
}

void wndl_firefox_length(struct wndl_firefox *w, size_t count)
{
    wndl_buf_printf(&w->sink.text, "\"length\":%zu}", count);
}

/* No more digits than it needs, exact to the nanosecond. */
void wndl_firefox_put_ms(struct wndl_buf *to, uint64_t ns)
{
    enum { MILLISECOND = 1000000, DIGITS = 6 };
    uint32_t part = (uint32_t)(ns % MILLISECOND);
    uint8_t digits[DIGITS + 1] = {'.'};
    size_t size = 0;
    wndl_buf_decimal(to, ns / MILLISECOND);
    for (size_t i = DIGITS; i > 0; i--, part /= 10) {
        digits[i] = (uint8_t)('0' + part % 10);
        if (size == 0 && part % 10 != 0)
            size = i + 1;
    }
    wndl_buf_add(to, digits, size);
}

uint64_t wndl_firefox_string(struct wndl_firefox *w, struct wndl_bytes text)
{
    uint32_t id = 0;
    w->failed = w->failed || !wndl_intern_add(&w->ours, text, &id);
    return id == 0 ? 0 : wndl_intern_count(&w->s->strings) + id - 1;
}

void wndl_firefox_put_pid(struct wndl_firefox *w, uint32_t process)
{
    const struct wndl_process *of = wndl_vec_at(&w->p->processes, process);
    wndl_buf_printf(&w->sink.text, "\"%" PRIu32, of->pid);
    if (of->generation != 0)
        wndl_buf_printf(&w->sink.text, ".%" PRIu32, of->generation);
    wndl_buf_byte(&w->sink.text, '"');
}
