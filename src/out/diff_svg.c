/* SPDX-License-Identifier: MIT */
#include "out/diff_svg.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* In pixels: the plot and its margins. */
enum {
    LEFT = 90,
    TOP = 20,
    PLOT_WIDTH = 700,
    PLOT_HEIGHT = 320,
    LEGEND_LINE = 18,
    LABELS = 120,
    TICKS = 4,
    NAME_SIZE = 100,
};

/* Colours by Okabe and Ito, which colour-blind people can distinguish. */
static const char *const colors[WNDL_DIFF_SVG_LINES] = {"#0072b2", "#d55e00",
    "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#888888", "#000000"};

struct plot {
    const struct wndl_diff *d;
    struct wndl_buf *out;
    size_t lines;
    double most; /* at the top */
};

/* ---- text, whatever a name holds */

static void put_escaped(struct wndl_buf *out, struct wndl_bytes text)
{
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        if (c == '<' || c == '>' || c == '&' || c == '"')
            wndl_buf_printf(out, "&#%u;", c);
        else if (c < 0x20 || c >= 0x7f) /* may not be UTF-8 */
            wndl_buf_byte(out, '?');
        else
            wndl_buf_byte(out, c);
    }
}

static struct wndl_bytes cut_label(struct wndl_bytes text)
{
    return text.size > NAME_SIZE ? wndl_bytes_slice(text, 0, NAME_SIZE) : text;
}

static void put_label(struct plot *p, const struct wndl_diff_key *key)
{
    const struct wndl_intern *strings = &p->d->strings;
    if (key->file != 0) {
        put_escaped(p->out, cut_label(wndl_intern_get(strings, key->file)));
        wndl_buf_printf(p->out, ":%" PRIu32 " ", key->line);
    }
    put_escaped(p->out, cut_label(wndl_intern_get(strings, key->name)));
    if (key->module != 0) {
        wndl_buf_text(p->out, " [");
        put_escaped(p->out, cut_label(wndl_intern_get(strings, key->module)));
        wndl_buf_byte(p->out, ']');
    }
    if (key->caller != 0) {
        struct wndl_diff_key caller = wndl_diff_key_at(p->d, key->caller);
        wndl_buf_text(p->out, " called by ");
        put_escaped(p->out, cut_label(wndl_intern_get(strings, caller.name)));
    }
}

/* ---- places */

static double x_of(const struct plot *p, uint32_t group)
{
    uint32_t steps = p->d->groups > 1 ? p->d->groups - 1 : 1;
    return LEFT + (double)PLOT_WIDTH * group / steps;
}

static double y_of(const struct plot *p, double value)
{
    double part = p->most > 0 ? value / p->most : 0;
    return TOP + PLOT_HEIGHT * (1 - part);
}

static uint32_t key_of(const struct plot *p, size_t line)
{
    const struct wndl_diff_row *row = wndl_vec_at(&p->d->rows, line);
    return row->key;
}

static struct wndl_diff_value value_of(
    const struct plot *p, size_t line, uint32_t group)
{
    struct wndl_diff_place place = {
        p->d->subject, WNDL_DIFF_SELF, key_of(p, line)};
    return wndl_diff_value(p->d, place, group);
}

/* A round number that is not less. */
static double round_up(double value)
{
    if (value <= 0)
        return 1;
    double unit = pow(10, floor(log10(value)));
    double digit = value / unit;
    return unit * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

static void find_most(struct plot *p)
{
    double most = 0;
    for (size_t i = 0; i < p->lines; i++) {
        for (uint32_t g = 0; g < p->d->groups; g++) {
            struct wndl_diff_value value = value_of(p, i, g);
            most = fmax(most, value.mean + value.spread);
        }
    }
    p->most = round_up(most);
}

/* ---- parts */

static void put_tick(struct plot *p, int i)
{
    double value = p->most * i / TICKS, y = y_of(p, value);
    wndl_buf_printf(p->out,
        "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\""
        " stroke=\"#ddd\"/>\n<text x=\"%d\" y=\"%.1f\""
        " text-anchor=\"end\">",
        LEFT, y, LEFT + PLOT_WIDTH, y, LEFT - 6, y + 4);
    if (p->d->subject == WNDL_DIFF_SHARE)
        wndl_buf_printf(p->out, "%.4g %%", value);
    else if (p->d->unit == WNDL_DIFF_NS)
        wndl_buf_printf(p->out, "%.4g s", value / 1e9);
    else
        wndl_buf_printf(p->out, "%.4g %s", value,
            p->d->unit == WNDL_DIFF_BYTES ? "B" : "blocks");
    wndl_buf_text(p->out, "</text>\n");
}

/* A group is called by its first recording, the last part of that path. */
static void group_label(struct plot *p, uint32_t group)
{
    size_t i = 0;
    while (wndl_diff_recording_at(p->d, i)->group != group)
        i++;
    const char *file = wndl_diff_recording_at(p->d, i)->file;
    const char *slash = strrchr(file, '/');
    const char *name = slash == NULL ? file : slash + 1;
    double x = x_of(p, group);
    int y = TOP + PLOT_HEIGHT + 14;
    wndl_buf_printf(p->out,
        "<text x=\"%.1f\" y=\"%d\" text-anchor=\"end\""
        " transform=\"rotate(-40 %.1f %d)\">",
        x, y, x, y);
    put_escaped(
        p->out, (struct wndl_bytes){(const uint8_t *)name, strnlen(name, 24)});
    wndl_buf_text(p->out, "</text>\n");
}

static void put_spread(struct plot *p, size_t line, uint32_t group)
{
    struct wndl_diff_value value = value_of(p, line, group);
    double x = x_of(p, group);
    wndl_buf_printf(p->out,
        "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", x,
        y_of(p, value.mean), colors[line]);
    if (value.spread > 0)
        wndl_buf_printf(p->out,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\""
            " stroke=\"%s\"/>\n",
            x, y_of(p, fmax(value.mean - value.spread, 0)), x,
            y_of(p, value.mean + value.spread), colors[line]);
}

static void put_curve(struct plot *p, size_t line)
{
    wndl_buf_printf(p->out,
        "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"",
        colors[line]);
    for (uint32_t g = 0; g < p->d->groups; g++)
        wndl_buf_printf(p->out, "%s%.1f,%.1f", g == 0 ? "" : " ", x_of(p, g),
            y_of(p, value_of(p, line, g).mean));
    wndl_buf_text(p->out, "\"/>\n");
    for (uint32_t g = 0; g < p->d->groups; g++)
        put_spread(p, line, g);
}

static void put_legend(struct plot *p, size_t line)
{
    struct wndl_diff_key key = wndl_diff_key_at(p->d, key_of(p, line));
    int y = TOP + PLOT_HEIGHT + LABELS + LEGEND_LINE * (int)line;
    wndl_buf_printf(p->out,
        "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/>\n"
        "<text x=\"%d\" y=\"%d\">",
        LEFT, y - 10, colors[line], LEFT + 18, y);
    put_label(p, &key);
    wndl_buf_text(p->out, "</text>\n");
}

void wndl_diff_svg(const struct wndl_diff *d, struct wndl_buf *out)
{
    struct plot p = {.d = d, .out = out, .lines = d->rows.len};
    if (p.lines > WNDL_DIFF_SVG_LINES)
        p.lines = WNDL_DIFF_SVG_LINES;
    find_most(&p);
    wndl_buf_printf(out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\""
        " height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
        LEFT + PLOT_WIDTH + 40,
        TOP + PLOT_HEIGHT + LABELS + LEGEND_LINE * (int)(p.lines + 1));
    for (int i = 0; i <= TICKS; i++)
        put_tick(&p, i);
    for (uint32_t g = 0; g < d->groups; g++)
        group_label(&p, g);
    for (size_t i = 0; i < p.lines; i++)
        put_curve(&p, i);
    for (size_t i = 0; i < p.lines; i++)
        put_legend(&p, i);
    wndl_buf_text(out, "</svg>\n");
}
