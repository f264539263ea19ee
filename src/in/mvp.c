/* SPDX-License-Identifier: MIT */
#include "in/mvp.h"

#include "base/text.h"
#include "in/core/results.h"

#define FIRST_LINE "windlass-mvp 1"

/* The largest load that an instruction makes, in bytes. */
enum { LARGEST = 4096 };

static struct wndl_mvp *mvp_of(const struct wndl_result_line *line)
{
    return line->into;
}

bool wndl_mvp_is(struct wndl_bytes file)
{
    return wndl_bytes_start_with(file, FIRST_LINE "\n");
}

static void read_command(struct wndl_result_line *line)
{
    mvp_of(line)->command = wndl_result_rest(line);
}

static void read_pid(struct wndl_result_line *line)
{
    mvp_of(line)->pid = wndl_result_decimal(line);
}

static void read_running(struct wndl_result_line *line)
{
    mvp_of(line)->is_running = true;
}

static void read_code(struct wndl_result_line *line)
{
    wndl_result_code(line, &mvp_of(line)->code);
}

/* The fields that both kinds of sites begin with. */
static struct wndl_mvp_site take_site(struct wndl_result_line *line)
{
    struct wndl_mvp_site site = {.ip = wndl_result_hex(line)};
    const uint64_t index = wndl_result_decimal(line);
    const uint64_t size = wndl_result_decimal(line);
    site.loads = wndl_result_decimal(line);
    site.sectors = wndl_result_decimal(line);
    site.pages = wndl_result_decimal(line);
    if (index > UINT8_MAX || size == 0 || size > LARGEST)
        line->bad = true;
    site.index = (uint32_t)index;
    site.size = (uint32_t)size;
    return site;
}

static void add_site(
    struct wndl_result_line *line, const struct wndl_mvp_site *site)
{
    struct wndl_mvp_site *row = wndl_result_push(line, &mvp_of(line)->sites);
    if (row != NULL)
        *row = *site;
}

static bool is_value(uint32_t size)
{
    return size == 1 || size == 2 || size == 4 || size == 8;
}

static void read_load(struct wndl_result_line *line)
{
    struct wndl_mvp_site site = take_site(line);
    site.first = wndl_result_hex(line);
    site.varying = wndl_result_hex(line);
    site.signs = wndl_result_hex(line);
    /* Bits that equal a sign that varies vary, too. */
    if (!is_value(site.size) || (site.signs & ~site.varying) != 0 ||
        (site.size < 8 &&
            (site.first | site.varying | site.signs) >> 8 * site.size != 0))
        line->bad = true;
    add_site(line, &site);
}

static void read_wide(struct wndl_result_line *line)
{
    struct wndl_mvp_site site = take_site(line);
    site.is_wide = true;
    add_site(line, &site);
}

static const struct wndl_result_kind line_kinds[] = {
    {"code", read_code},
    {"command", read_command},
    {"load", read_load},
    {"pid", read_pid},
    {"running", read_running},
    {"wide", read_wide},
};

enum wndl_status wndl_mvp_read(
    struct wndl_mvp *mvp, struct wndl_bytes file, struct wndl_error *err)
{
    static const struct wndl_result_format format = {
        FIRST_LINE, line_kinds, sizeof line_kinds / sizeof *line_kinds};
    struct wndl_result_line line = {.into = mvp, .arena = &mvp->arena};
    return wndl_results_read(&line, file, &format, err);
}
