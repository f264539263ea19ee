/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_clientstate.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_vki.h"
#include "pub_tool_xarray.h"

/* ---- text: Valgrind's own printing takes a call for each character */

static Int file;
static HChar buffer[1 << 14];
static Int used; /* bytes of it */

static void flush(void)
{
    for (Int done = 0; done < used;) {
        const Int written = VG_(write)(file, buffer + done, used - done);
        if (written <= 0)
            break;
        done += written;
    }
    used = 0;
}

static void put_char(HChar c)
{
    if (used == sizeof buffer)
        flush();
    buffer[used++] = c;
}

void results_put(const HChar *text)
{
    for (; *text != '\0'; text++)
        put_char(*text);
}

static void put_digits(ULong n, UInt base)
{
    HChar digits[20];
    UInt count = 0;
    do
        digits[count++] = "0123456789abcdef"[n % base];
    while ((n /= base) != 0);
    put_char(' ');
    while (count > 0)
        put_char(digits[--count]);
}

void results_put_number(ULong n)
{
    put_digits(n, 10);
}

void results_put_hex(ULong n)
{
    put_digits(n, 16);
}

void results_printf(const HChar *format, ...)
{
    HChar text[512];
    va_list args;
    va_start(args, format);
    VG_(vsnprintf)(text, sizeof text, format, args);
    va_end(args);
    results_put(text);
}

void results_put_in_line(const HChar *text)
{
    for (; *text != '\0'; text++)
        put_char(*text == '\n' ? ' ' : *text);
}

void results_put_command(void)
{
    results_put("command ");
    results_put_in_line(VG_(args_the_exename));
    const XArray *args = VG_(args_for_client);
    for (Word i = 0; i < VG_(sizeXA)(args); i++) {
        results_put(" ");
        results_put_in_line(*(HChar **)VG_(indexXA)(args, i));
    }
    results_put("\n");
}

/* ---- code */

struct code {
    Addr start;
    Addr end;
    ULong offset; /* of `start` in the file */
    HChar *path;
};
static struct code *codes;
static UInt code_count;

static Bool is_noted(const struct code *c)
{
    for (UInt i = 0; i < code_count; i++)
        if (codes[i].start == c->start && codes[i].end == c->end &&
            VG_(strcmp)(codes[i].path, c->path) == 0)
            return True;
    return False;
}

void results_note_code(Addr start, SizeT size)
{
    const NSegment *segment = VG_(am_find_nsegment)(start);
    if (segment == NULL || segment->kind != SkFileC)
        return;
    const HChar *path = VG_(am_get_filename)(segment);
    if (path == NULL)
        return;
    struct code c = {start, start + size,
        (ULong)segment->offset + (start - segment->start), NULL};
    c.path = VG_(strdup)("results.code", path);
    if (is_noted(&c)) {
        VG_(free)(c.path);
        return;
    }
    codes =
        VG_(realloc)("results.code", codes, (code_count + 1) * sizeof *codes);
    codes[code_count++] = c;
}

void results_put_code(void)
{
    for (UInt i = 0; i < code_count; i++) {
        results_printf("code %lx %lx %llx ", codes[i].start, codes[i].end,
            codes[i].offset);
        results_put_in_line(codes[i].path);
        results_put("\n");
    }
}

/* ---- the file */

static void rename_part(
    const struct results *results, const HChar *part, const HChar *name)
{
    if (VG_(rename)(part, name) != 0)
        VG_(umsg)
    ("%s: cannot rename %s to %s\n", results->tool, part, name);
}

void results_write(const struct results *results, Bool is_running)
{
    HChar *name = VG_(expand_file_name)(results->option, results->name);
    SizeT room = VG_(strlen)(name) + sizeof ".2147483647.part";
    HChar *part = VG_(malloc)("results.name", room);
    /* Processes of one name write at the same time. */
    VG_(snprintf)(part, (Int)room, "%s.%d.part", name, VG_(getpid)());
    file = VG_(fd_open)(part, VKI_O_CREAT | VKI_O_TRUNC | VKI_O_WRONLY, 0600);
    if (file < 0) {
        VG_(umsg)("%s: cannot write %s\n", results->tool, part);
    } else {
        results->write(is_running);
        flush();
        VG_(close)(file);
        rename_part(results, part, name);
    }
    VG_(free)(part);
    VG_(free)(name);
}

void results_write_if_due(const struct results *results)
{
    static UInt last;
    static UInt wait = 10000; /* ms */
    UInt now = VG_(read_millisecond_timer)();
    if (now - last < wait)
        return;
    results_write(results, True);
    last = VG_(read_millisecond_timer)();
    if ((last - now) * 20 > wait)
        wait = (last - now) * 20;
}
