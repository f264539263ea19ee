/* SPDX-License-Identifier: MIT */
/* windlass export: a recording for other tools. */
#include "analyze/calltree.h"
#include "cli/command.h"
#include "cli/loaded.h"
#include "cli/shell_word.h"
#include "os/file.h"
#include "out/folded.h"
#include "rec/chunk.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct export_options {
    unsigned format; /* index into formats */
    const char *out;
    struct wndl_option_list debug_dirs;
};

static bool export_folded(FILE *out, struct wndl_symbolized *s)
{
    struct wndl_arena arena;
    struct wndl_calltree tree;
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&tree.nodes, &arena, sizeof(struct wndl_calltree_node));
    bool whole = wndl_calltree_build(&tree, s, WNDL_TREE_FOR_FOLDING) &&
                 wndl_folded_write(out, &tree, &s->strings, wndl_mem_libc());
    wndl_arena_free(&arena);
    return whole;
}

/* A format is a row here and a word of FORMAT_NAMES, in the same order. */
#define FORMAT_NAMES "folded"

static const struct {
    bool (*write)(FILE *out, struct wndl_symbolized *s); /* false: no memory */
    const char *open_with;
} formats[] = {
    {export_folded, "flamegraph.pl, speedscope.app or profiler.firefox.com"},
};

static const struct wndl_option option_table[] = {
    {'f', "format", "FORMAT", FORMAT_NAMES, "folded", NULL,
        "folded: a stack a line, for flame graphs", WNDL_OPT_CHOICE,
        offsetof(struct export_options, format)},
    {'o', "output", "OUT", NULL, "-", NULL,
        "where to write it, - for standard output", WNDL_OPT_TEXT,
        offsetof(struct export_options, out)},
    {0, "debug-dir", "DIR", NULL, NULL, NULL,
        "look for separate debug files here, before /usr/lib/debug; may be "
        "given again",
        WNDL_OPT_LIST, offsetof(struct export_options, debug_dirs)},
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass export -f folded app.4711.cpu.wndl | flamegraph.pl > app.svg",
        "draw a flame graph"},
    {NULL, NULL},
};

/* Data on stdout has no place to say it. */
static void say_if_not_whole(const struct wndl_profile *p, const char *path)
{
    if (p->finished && !p->cut && p->chunks_damaged == 0)
        return;
    struct wndl_buf word;
    wndl_buf_init(&word, wndl_mem_libc());
    wndl_shell_word(&word, path);
    wndl_buf_byte(&word, '\0');
    wndl_cli_note("warning: the recording is cut short or damaged; what is "
                  "left of it is exported. See: windlass report %s",
        word.failed ? "FILE" : (const char *)word.data);
    wndl_buf_free(&word);
}

static int failed_write(const char *path)
{
    return wndl_cli_error("%s: cannot be written: %s", path, strerror(errno));
}

static int export_to_stdout(
    struct wndl_symbolized *s, const struct export_options *o)
{
    if (!formats[o->format].write(stdout, s))
        return wndl_cli_error("out of memory; the output is not whole");
    if (fflush(stdout) != 0 || ferror(stdout))
        return failed_write("standard output");
    return WNDL_EXIT_OK;
}

static bool is_recording(const char *path)
{
    struct wndl_file file;
    struct wndl_chunk_reader reader;
    struct wndl_error err = {0};
    if (wndl_file_open(path, &file, &err) != WNDL_OK)
        return false;
    enum wndl_status status = wndl_chunk_reader_init(&reader, file.bytes, &err);
    wndl_file_close(&file);
    return status == WNDL_OK || status == WNDL_UNSUPPORTED;
}

/*
 * A recording is never written over. A file that could not be written whole
 * is not left behind.
 */
static int export_to_file(
    struct wndl_symbolized *s, const struct export_options *o)
{
    if (is_recording(o->out))
        return wndl_cli_error("%s: is a recording, which is never written "
                              "over; name another file with -o",
            o->out);
    FILE *out = fopen(o->out, "wb");
    if (out == NULL)
        return failed_write(o->out);
    bool whole = formats[o->format].write(out, s);
    long size = ftell(out);
    bool written = !ferror(out) && size >= 0;
    written = fclose(out) == 0 && written;
    if (whole && written) {
        wndl_cli_note("wrote %s, %ld bytes; open it with %s", o->out, size,
            formats[o->format].open_with);
        return WNDL_EXIT_OK;
    }
    int exit_code =
        whole ? failed_write(o->out) : wndl_cli_error("out of memory");
    (void)remove(o->out);
    return exit_code;
}

static int run_export(const void *options, struct wndl_operands operands)
{
    const struct export_options *o = options;
    struct wndl_loaded loaded;
    if (!wndl_load(&loaded, operands.texts[0], &o->debug_dirs, false))
        return WNDL_EXIT_FAILURE;
    say_if_not_whole(&loaded.profile, operands.texts[0]);
    int exit_code = strcmp(o->out, "-") == 0
                        ? export_to_stdout(&loaded.symbolized, o)
                        : export_to_file(&loaded.symbolized, o);
    wndl_unload(&loaded);
    return exit_code;
}

const struct wndl_command wndl_cmd_export = {
    .name = "export",
    .summary = "write a recording in a format of other tools",
    .operands = "FILE",
    .description =
        "Writes the stacks of a recording for another tool to read, with the "
        "names that 'windlass report' shows. The same recording and the same "
        "binaries give the same bytes.",
    .options = option_table,
    .options_size = sizeof(struct export_options),
    .examples = examples,
    .min_operands = 1,
    .max_operands = 1,
    .run = run_export,
};
