/* SPDX-License-Identifier: MIT */
/*
 * symdump: what dbg answers, for comparison with other symbolizers.
 *
 *   symdump FILE [-q] < ADDRESSES
 *
 * For each address, one line "NAME FILE:LINE:COLUMN" per frame, innermost
 * first, then an empty line; names are linkage names where there are some, and
 * the outermost one is the ELF symbol's where there is one. `?` is what is not
 * known. -q prints nothing: for timing. Statistics go to stderr.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "dbg/dwarf.h"
#include "obj/object.h"
#include "os/file.h"

struct session {
    struct wndl_object *object;
    struct wndl_dwarf *dwarf;
    bool quiet;
};

static void die(const struct wndl_error *err)
{
    char text[512];
    fprintf(stderr, "symdump: %s\n", wndl_error_text(err, text, sizeof text));
    exit(2);
}

static void load_sections(
    struct wndl_object *object, struct wndl_dwarf_sections *in)
{
    const struct {
        const char *name;
        struct wndl_bytes *bytes;
    } wanted[] = {
        {".debug_info", &in->info},
        {".debug_abbrev", &in->abbrev},
        {".debug_line", &in->line},
        {".debug_line_str", &in->line_str},
        {".debug_str", &in->str},
        {".debug_str_offsets", &in->str_offsets},
        {".debug_addr", &in->addr},
        {".debug_ranges", &in->ranges},
        {".debug_rnglists", &in->rnglists},
        {".debug_aranges", &in->aranges},
    };
    in->big_endian = wndl_object_is_big_endian(object);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        struct wndl_error err;
        enum wndl_status status = wndl_object_section_bytes(
            object, wanted[i].name, wanted[i].bytes, NULL, &err);
        if (status != WNDL_OK && status != WNDL_NOT_FOUND)
            die(&err);
    }
}

/* The bytes, or "?" when there are none. */
static void print_bytes(struct wndl_bytes b)
{
    if (b.size == 0)
        putchar('?');
    else
        fwrite(b.data, 1, b.size, stdout);
}

static struct wndl_bytes symbol_name(struct session *s, wndl_svma addr)
{
    struct wndl_symbol symbol;
    if (wndl_object_find_function(s->object, addr, &symbol, NULL) != WNDL_OK)
        return (struct wndl_bytes){0};
    return symbol.name;
}

static void print_frame(
    const struct wndl_dwarf_frame *frame, struct wndl_bytes symbol)
{
    struct wndl_bytes name =
        frame->linkage_name.size > 0 ? frame->linkage_name : frame->name;
    if (!frame->inlined && symbol.size > 0)
        name = symbol;
    print_bytes(name);
    putchar(' ');
    print_bytes(frame->file);
    printf(":%" PRIu32 ":%" PRIu32 "\n", frame->line, frame->column);
}

static void look_up(struct session *s, wndl_svma addr)
{
    struct wndl_dwarf_frames frames = {0};
    struct wndl_error err;
    enum wndl_status status = wndl_dwarf_lookup(s->dwarf, addr, &frames, &err);
    if (status != WNDL_OK && status != WNDL_NOT_FOUND)
        die(&err);
    if (s->quiet)
        return;
    struct wndl_dwarf_frame none = {0};
    struct wndl_bytes symbol = symbol_name(s, addr);
    if (frames.count == 0)
        print_frame(&none, symbol);
    for (size_t i = 0; i < frames.count; i++)
        print_frame(&frames.frames[i], symbol);
    putchar('\n');
}

static void print_stats(const struct wndl_dwarf *dwarf)
{
    struct wndl_dwarf_stats stats;
    char text[512];
    wndl_dwarf_get_stats(dwarf, &stats);
    fprintf(stderr,
        "units %" PRIu32 " damaged %" PRIu32 " skipped %" PRIu32 "\n",
        stats.units, stats.units_damaged, stats.units_skipped);
    if (stats.first_damage.status != WNDL_OK)
        fprintf(stderr, "first: %s\n",
            wndl_error_text(&stats.first_damage, text, sizeof text));
}

int main(int argc, char **argv)
{
    struct wndl_mem *mem = wndl_mem_libc();
    struct wndl_error err = {0};
    struct wndl_file file;
    struct wndl_dwarf_sections in = {0};
    struct session s = {.quiet = argc > 2 && strcmp(argv[2], "-q") == 0};
    char line[256];
    if (argc < 2) {
        fputs("usage: symdump FILE [-q] < ADDRESSES\n", stderr);
        return 2;
    }
    if (wndl_file_open(argv[1], &file, &err) != WNDL_OK ||
        wndl_object_open(file.bytes, argv[1], mem, &s.object, &err) != WNDL_OK)
        die(&err);
    load_sections(s.object, &in);
    if (wndl_dwarf_open(&in, mem, &s.dwarf, &err) != WNDL_OK)
        die(&err);
    while (fgets(line, sizeof line, stdin) != NULL)
        look_up(&s, (wndl_svma){strtoull(line, NULL, 16)});
    print_stats(s.dwarf);
    wndl_dwarf_close(s.dwarf);
    wndl_object_close(s.object);
    wndl_file_close(&file);
    return 0;
}
