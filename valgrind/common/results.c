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

VgFile *results_file;

void results_put_in_line(const HChar *text)
{
    for (; *text != '\0'; text++)
        VG_(fprintf)(results_file, "%c", *text == '\n' ? ' ' : *text);
}

void results_put_command(void)
{
    VG_(fprintf)(results_file, "command ");
    results_put_in_line(VG_(args_the_exename));
    const XArray *args = VG_(args_for_client);
    for (Word i = 0; i < VG_(sizeXA)(args); i++) {
        VG_(fprintf)(results_file, " ");
        results_put_in_line(*(HChar **)VG_(indexXA)(args, i));
    }
    VG_(fprintf)(results_file, "\n");
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
        VG_(fprintf)
        (results_file, "code %lx %lx %llx ", codes[i].start, codes[i].end,
            codes[i].offset);
        results_put_in_line(codes[i].path);
        VG_(fprintf)(results_file, "\n");
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
    results_file =
        VG_(fopen)(part, VKI_O_CREAT | VKI_O_TRUNC | VKI_O_WRONLY, 0600);
    if (results_file == NULL) {
        VG_(umsg)("%s: cannot write %s\n", results->tool, part);
    } else {
        results->write(is_running);
        VG_(fclose)(results_file);
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
