/* SPDX-License-Identifier: MIT */
#include "cli/symbols/sym_answer.h"

#include "base/status.h"
#include "cli/core/command.h"
#include "cli/symbols/sym_style.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- answering */

struct work {
    struct wndl_symbolizer *symbols;
    struct wndl_sym_style style;
    struct wndl_sym_reader reader;
    struct wndl_arena scratch; /* of one block */
    struct wndl_buf out;
};

static bool flush_output(struct work *w)
{
    size_t size = w->out.size;
    bool written = size == 0 || fwrite(w->out.data, 1, size, stdout) == size;
    written = fflush(stdout) == 0 && written;
    wndl_buf_clear(&w->out);
    return written;
}

static bool look_up(struct work *w, struct wndl_symbols *answers)
{
    size_t count = w->reader.list.len;
    const struct wndl_sym_query *queries = w->reader.list.data;
    uint64_t *rvas = wndl_arena_calloc(&w->scratch, count, sizeof *rvas);
    if (rvas == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        rvas[i] = queries[i].rva;
    return wndl_symbolizer_lookup_batch(
               w->symbols, rvas, count, answers, NULL) == WNDL_OK;
}

/* Bytes of output that are worth a system call. */
enum { PIECE = 64 * 1024 };

/* Answers the queries of a block. Without memory the output is incomplete. */
static int answer_block(struct work *w)
{
    size_t count = w->reader.list.len;
    const struct wndl_sym_query *queries = w->reader.list.data;
    struct wndl_symbols *answers =
        wndl_arena_calloc(&w->scratch, count, sizeof *answers);
    if (answers == NULL || !look_up(w, answers))
        return wndl_cli_error("out of memory; the output is incomplete");
    for (size_t i = 0; i < count; i++) {
        if (!queries[i].has_address)
            answers[i] = (struct wndl_symbols){0};
        wndl_sym_write_answer(&w->out, &w->style, &queries[i], &answers[i]);
        if (w->out.size >= PIECE && !w->out.failed && !flush_output(w))
            return wndl_cli_error(
                "cannot write standard output: %s", strerror(errno));
    }
    if (w->out.failed)
        return wndl_cli_error("out of memory; the output is incomplete");
    return flush_output(w) ? WNDL_EXIT_OK
                           : wndl_cli_error("cannot write standard output: %s",
                                 strerror(errno));
}

static void begin_block(struct work *w)
{
    wndl_arena_free(&w->scratch);
    wndl_vec_init(&w->reader.list, &w->scratch, sizeof(struct wndl_sym_query));
}

static int answer_operands(struct work *w, struct wndl_operands operands)
{
    begin_block(w);
    for (size_t i = 0; i < operands.count; i++)
        if (!wndl_sym_read_query(
                &w->reader, operands.texts[i], strlen(operands.texts[i])))
            return wndl_cli_error("out of memory");
    return answer_block(w);
}

/* ---- standard input */

/* Input that is not answered yet; at most the last line is incomplete. */
struct input {
    size_t size;
    char bytes[1 << 20];
};

/* Answers whole lines; `all`: also the rest, at the end or if too long. */
static int answer_lines(struct work *w, struct input *in, bool all)
{
    char *line = in->bytes;
    char *end = in->bytes + in->size;
    begin_block(w);
    while (line < end) {
        char *newline = memchr(line, '\n', (size_t)(end - line));
        if (newline == NULL && !all)
            break;
        char *stop = newline == NULL ? end : newline;
        if (!wndl_sym_read_query(&w->reader, line, (size_t)(stop - line)))
            return wndl_cli_error("out of memory; the output is incomplete");
        line = newline == NULL ? end : newline + 1;
    }
    int exit_code = answer_block(w);
    in->size = (size_t)(end - line);
    memmove(in->bytes, line, in->size);
    return exit_code;
}

/* Each piece is answered before the next read, which may have to wait. */
static int answer_input(struct work *w, struct input *in)
{
    int exit_code = WNDL_EXIT_OK;
    ssize_t got;
    do {
        do
            got = read(STDIN_FILENO, in->bytes + in->size,
                sizeof in->bytes - in->size);
        while (got < 0 && errno == EINTR);
        if (got < 0)
            return wndl_cli_error(
                "cannot read standard input: %s", strerror(errno));
        in->size += (size_t)got;
        bool all = got == 0 || in->size == sizeof in->bytes;
        exit_code = answer_lines(w, in, all);
    } while (got != 0 && exit_code == WNDL_EXIT_OK);
    return exit_code;
}

static int answer_stdin(struct work *w)
{
    struct input *in = wndl_mem_zalloc(wndl_mem_libc(), sizeof *in);
    if (in == NULL)
        return wndl_cli_error("out of memory");
    int exit_code = answer_input(w, in);
    wndl_mem_free(wndl_mem_libc(), in);
    return exit_code;
}

/* ---- all of it */

static int list_functions(struct work *w)
{
    const struct wndl_symbol_function *functions;
    size_t count;
    bool written = true;
    if (wndl_symbolizer_functions(w->symbols, &functions, &count, NULL) !=
        WNDL_OK)
        return wndl_cli_error("out of memory");
    for (size_t i = 0; i < count && written; i++) {
        wndl_sym_write_function(&w->out, &w->style, &functions[i]);
        if (w->out.size >= PIECE || i + 1 == count)
            written = flush_output(w);
    }
    if (w->out.failed)
        return wndl_cli_error("out of memory; the output is incomplete");
    return written ? WNDL_EXIT_OK
                   : wndl_cli_error(
                         "cannot write standard output: %s", strerror(errno));
}

static void set_style(struct work *w, const struct wndl_sym_options *o,
    const struct wndl_symbolizer_info *info)
{
    bool gnu = o->format == WNDL_SYM_GNU;
    w->style = (struct wndl_sym_style){
        .format = o->format,
        .functions = o->functions,
        .demangled = gnu ? o->demangle : !o->no_demangle,
        .inlines = o->inlines,
        .addresses = o->addresses,
        .pretty = o->pretty,
        .basenames = o->basenames,
        .digits = 2 * info->address_size,
        .image_base = o->rva ? 0 : info->image_base,
        .link_base = info->image_base,
    };
    w->reader.symbols = w->symbols;
    w->reader.as_addr2line = o->as_addr2line;
    w->reader.image_base = w->style.image_base;
    w->reader.link_base = info->image_base;
    w->reader.mask = info->address_size == 4 ? UINT32_MAX : UINT64_MAX;
}

static void say_missing(const struct wndl_symbolizer_info *info)
{
    char text[600];
    if (info->files_missing == 0)
        return;
    wndl_error_text(&info->first_missing, text, sizeof text);
    wndl_cli_note("warning: %u file%s of debug information %s missing, along "
                  "with functions and inlined frames: %s",
        info->files_missing, info->files_missing == 1 ? "" : "s",
        info->files_missing == 1 ? "is" : "are", text);
}

/* Reports damage: answers may be incomplete. */
static void say_damage(const struct work *w)
{
    char text[600];
    struct wndl_symbolizer_info info;
    wndl_symbolizer_get_info(w->symbols, &info);
    say_missing(&info);
    if (info.first_damage.status == WNDL_OK)
        return;
    wndl_error_text(&info.first_damage, text, sizeof text);
    if (info.units_damaged == 0)
        wndl_cli_note(
            "warning: %s: %s", wndl_cli_damage(&info.first_damage), text);
    else
        wndl_cli_note("warning: %u unit%s of debug information %s %s "
                      "and left out: %s",
            info.units_damaged, info.units_damaged == 1 ? "" : "s",
            info.units_damaged == 1 ? "is" : "are",
            wndl_cli_damage(&info.first_damage), text);
}

/* Addresses from here on count from the section. */
static bool count_from(struct work *w, const char *section)
{
    uint64_t rva;
    struct wndl_error err;
    if (section == NULL)
        return true;
    if (wndl_symbolizer_section(w->symbols, section, &rva, &err) != WNDL_OK) {
        wndl_cli_fail(&err);
        return false;
    }
    w->style.image_base = w->reader.image_base = -rva;
    return true;
}

int wndl_sym_answer(struct wndl_symbolizer *symbols,
    const struct wndl_sym_options *o, struct wndl_operands operands)
{
    struct work w = {.symbols = symbols};
    struct wndl_symbolizer_info info;
    wndl_symbolizer_get_info(symbols, &info);
    set_style(&w, o, &info);
    if (!count_from(&w, o->section))
        return WNDL_EXIT_FAILURE;
    wndl_arena_init(&w.scratch, wndl_mem_libc());
    wndl_buf_init(&w.out, wndl_mem_libc());
    int exit_code = o->all_functions      ? list_functions(&w)
                    : operands.count != 0 ? answer_operands(&w, operands)
                                          : answer_stdin(&w);
    say_damage(&w);
    wndl_buf_free(&w.out);
    wndl_arena_free(&w.scratch);
    return exit_code;
}
