/* SPDX-License-Identifier: MIT */
/* windlass sym: functions, files and lines of addresses in one binary. */
#include "base/status.h"
#include "cli/core/command.h"
#include "cli/core/sigbus.h"
#include "cli/shared/debug_dirs.h"
#include "cli/shared/symbol_options.h"
#include "cli/symbols/sym_ids.h"
#include "cli/symbols/sym_style.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct sym_options {
    const char *path;
    const char *build_id;
    unsigned format; /* enum wndl_sym_format */
    bool functions;
    bool demangle;
    bool no_demangle;
    bool inlines;
    bool pretty;
    bool basenames;
    bool addresses;
    const char *section;
    bool rva;
    bool all_functions;
    bool ids;
    bool list_arches;
    struct wndl_symbol_options symbols;
};

static const struct wndl_option option_table[] = {
    {'e', "exe", "OBJ", NULL, NULL, NULL,
        "the program or library that the addresses are in", WNDL_OPT_TEXT,
        offsetof(struct sym_options, path)},
    {0, "build-id", "ID", NULL, NULL, NULL,
        "instead of -e: the one with this build-id (hexadecimal) in "
        ".build-id/ of the debug folders",
        WNDL_OPT_TEXT, offsetof(struct sym_options, build_id)},
    {0, "style", "STYLE", "gnu|llvm|json", "gnu", NULL,
        "write as addr2line or llvm-symbolizer does, or a JSON object a line",
        WNDL_OPT_CHOICE, offsetof(struct sym_options, format)},
    {'f', "functions", NULL, NULL, NULL, NULL,
        "show names of functions, which styles other than gnu do anyway",
        WNDL_OPT_FLAG, offsetof(struct sym_options, functions)},
    {'C', "demangle", NULL, NULL, NULL, NULL,
        "show names as in the source, which styles other than gnu do anyway",
        WNDL_OPT_FLAG, offsetof(struct sym_options, demangle)},
    {0, "no-demangle", NULL, NULL, NULL, NULL,
        "show names as in the symbol table", WNDL_OPT_FLAG,
        offsetof(struct sym_options, no_demangle)},
    {'i', "inlines", NULL, NULL, NULL, NULL,
        "show what inlined code was inlined into, which styles other than gnu "
        "do anyway",
        WNDL_OPT_FLAG, offsetof(struct sym_options, inlines)},
    {'p', "pretty-print", NULL, NULL, NULL, NULL,
        "write each frame on one line", WNDL_OPT_FLAG,
        offsetof(struct sym_options, pretty)},
    {'s', "basenames", NULL, NULL, NULL, NULL, "leave out the folders of files",
        WNDL_OPT_FLAG, offsetof(struct sym_options, basenames)},
    {'a', "addresses", NULL, NULL, NULL, NULL,
        "write the address before each answer", WNDL_OPT_FLAG,
        offsetof(struct sym_options, addresses)},
    {'j', "section", "NAME", NULL, NULL, NULL,
        "addresses count from the start of this section; those in an object "
        "file do from the first one with code",
        WNDL_OPT_TEXT, offsetof(struct sym_options, section)},
    {0, "rva", NULL, NULL, NULL, NULL,
        "addresses count from the start of the image, not as it was linked",
        WNDL_OPT_FLAG, offsetof(struct sym_options, rva)},
    {0, "all-functions", NULL, NULL, NULL, NULL,
        "list all functions with their addresses instead", WNDL_OPT_FLAG,
        offsetof(struct sym_options, all_functions)},
    {0, "ids", NULL, NULL, NULL, NULL,
        "show instead what builds the binaries are: build-id, and the debug id "
        "as Breakpad, Microsoft's and Apple's tools write it; takes OBJ... for "
        "ADDR...",
        WNDL_OPT_FLAG, offsetof(struct sym_options, ids)},
    WNDL_ARCH_OPTION_ROW(struct sym_options, symbols),
    WNDL_LIST_ARCHES_OPTION_ROW(struct sym_options, list_arches),
    WNDL_SYMBOL_OPTION_ROWS(struct sym_options, symbols),
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass sym -e app -fCi 0x401136",
        "the function at an address, and those it was inlined into"},
    {"windlass sym -e app --style json main+0x10 | jq .frames",
        "the same for a program to read, from the name of a function"},
    {"windlass sym -e libx.so --all-functions -C",
        "all functions of a library"},
    {NULL, NULL},
};

/* ---- opening */

enum { MAX_BUILD_ID = 64 };

struct opening {
    const struct sym_options *o;
    struct wndl_debug_dirs dirs;
    struct wndl_symbolizer_cache cache;
    struct wndl_symbolizer_options options;
    uint8_t build_id[MAX_BUILD_ID];
    struct wndl_error err; /* of the first file that was there */
};

static int digit_of(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = strchr(digits, c | 0x20);
    return c == '\0' || at == NULL ? -1 : (int)(at - digits);
}

static bool read_build_id(struct opening *opening)
{
    const char *text = opening->o->build_id;
    size_t size = strlen(text) / 2;
    if (size < 2 || size > MAX_BUILD_ID || text[2 * size] != '\0')
        return false;
    for (size_t i = 0; i < size; i++) {
        int high = digit_of(text[2 * i]);
        int low = digit_of(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        opening->build_id[i] = (uint8_t)(high << 4 | low);
    }
    opening->options.build_id = opening->build_id;
    opening->options.build_id_size = size;
    return true;
}

static struct wndl_symbolizer *open_path(
    struct opening *opening, const char *path)
{
    struct wndl_symbolizer *symbols = NULL;
    struct wndl_error err;
    if (wndl_symbolizer_open(path, &opening->options, &symbols, &err) ==
        WNDL_OK)
        return symbols;
    if (opening->err.status == WNDL_OK && err.sys_errno != ENOENT)
        opening->err = err;
    return NULL;
}

/* DIR/.build-id/ab/cdef.debug, or without .debug the binary itself. */
static struct wndl_symbolizer *open_in(
    struct opening *opening, const char *dir, const char *suffix)
{
    struct wndl_buf path;
    struct wndl_symbolizer *symbols = NULL;
    wndl_buf_init(&path, wndl_mem_libc());
    wndl_buf_printf(&path, "%s/.build-id/%02x/", dir, opening->build_id[0]);
    for (size_t i = 1; i < opening->options.build_id_size; i++)
        wndl_buf_printf(&path, "%02x", opening->build_id[i]);
    wndl_buf_text(&path, suffix);
    wndl_buf_byte(&path, '\0');
    if (!path.failed)
        symbols = open_path(opening, (const char *)path.data);
    wndl_buf_free(&path);
    return symbols;
}

static struct wndl_symbolizer *open_build_id(struct opening *opening)
{
    struct wndl_symbolizer *symbols = NULL;
    for (size_t i = 0; i < opening->dirs.count && symbols == NULL; i++) {
        symbols = open_in(opening, opening->dirs.list[i], "");
        if (symbols == NULL)
            symbols = open_in(opening, opening->dirs.list[i], ".debug");
    }
    if (symbols == NULL && opening->err.status == WNDL_OK)
        (void)wndl_fail(&opening->err, WNDL_NOT_FOUND,
            "no file with build-id %s in the debug folders; see --debug-dir",
            opening->o->build_id);
    return symbols;
}

static struct wndl_symbolizer *open_symbols(struct opening *opening)
{
    char text[600];
    struct wndl_symbolizer *symbols = NULL;
    wndl_debug_dirs_init(&opening->dirs, &opening->o->symbols.debug_dirs);
    opening->options.size = sizeof opening->options;
    opening->options.debug_dirs = opening->dirs.list;
    opening->options.debuginfod = opening->o->symbols.debuginfod;
    opening->options.arch = opening->o->symbols.arch;
    opening->options.cache =
        wndl_symbol_cache(&opening->o->symbols, &opening->cache);
    if (opening->o->path == NULL)
        symbols = open_build_id(opening);
    else if (wndl_symbolizer_open(opening->o->path, &opening->options, &symbols,
                 &opening->err) == WNDL_OK)
        return symbols;
    if (symbols == NULL)
        wndl_cli_error("%s", wndl_error_text(&opening->err, text, sizeof text));
    return symbols;
}

/* ---- answering */

struct work {
    struct wndl_symbolizer *symbols;
    struct wndl_sym_style style;
    struct wndl_sym_reader reader;
    struct wndl_arena scratch; /* of one block */
    struct wndl_buf out;
};

static bool flush(struct work *w)
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

/* Answers what was read. Without memory the output is not whole. */
static int answer_block(struct work *w)
{
    size_t count = w->reader.list.len;
    const struct wndl_sym_query *queries = w->reader.list.data;
    struct wndl_symbols *answers =
        wndl_arena_calloc(&w->scratch, count, sizeof *answers);
    if (answers == NULL || !look_up(w, answers))
        return wndl_cli_error("out of memory; the output is not whole");
    for (size_t i = 0; i < count; i++) {
        if (!queries[i].has_address)
            answers[i] = (struct wndl_symbols){0};
        wndl_sym_write_answer(&w->out, &w->style, &queries[i], &answers[i]);
        if (w->out.size >= PIECE && !w->out.failed && !flush(w))
            return wndl_cli_error("standard output does not take it");
    }
    if (w->out.failed)
        return wndl_cli_error("out of memory; the output is not whole");
    return flush(w) ? WNDL_EXIT_OK
                    : wndl_cli_error("standard output does not take it");
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

/* What was read and not answered yet; at most one line that is not whole. */
struct input {
    size_t size;
    char bytes[1 << 20];
};

/* Lines that are there, and at the end or if it is too long what is left. */
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
            return wndl_cli_error("out of memory; the output is not whole");
        line = newline == NULL ? end : newline + 1;
    }
    int exit_code = answer_block(w);
    in->size = (size_t)(end - line);
    memmove(in->bytes, line, in->size);
    return exit_code;
}

/* Whatever a read gives is answered before the next one may have to wait. */
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
                "standard input cannot be read: %s", strerror(errno));
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
            written = flush(w);
    }
    if (w->out.failed)
        return wndl_cli_error("out of memory; the output is not whole");
    return written ? WNDL_EXIT_OK
                   : wndl_cli_error("standard output does not take it");
}

static void set_style(struct work *w, const struct sym_options *o,
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
    w->reader.image_base = w->style.image_base;
    w->reader.mask = info->address_size == 4 ? UINT32_MAX : UINT64_MAX;
}

static void say_missing(const struct wndl_symbolizer_info *info)
{
    char text[600];
    if (info->files_missing == 0)
        return;
    wndl_error_text(&info->first_missing, text, sizeof text);
    wndl_cli_note("warning: %u file%s of debug information %s missing, and "
                  "functions and inlined frames with them: %s",
        info->files_missing, info->files_missing == 1 ? "" : "s",
        info->files_missing == 1 ? "is" : "are", text);
}

/* Answers may lack what was lost. */
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
        wndl_cli_note("warning: damaged: %s", text);
    else
        wndl_cli_note("warning: %u unit%s of debug information %s damaged "
                      "and left out: %s",
            info.units_damaged, info.units_damaged == 1 ? "" : "s",
            info.units_damaged == 1 ? "is" : "are", text);
}

static const char *contradiction(
    const struct sym_options *o, struct wndl_operands operands)
{
    bool of_files = o->ids || o->list_arches;
    if (o->ids && o->list_arches)
        return "--ids and --list-arches do not go together";
    if (of_files && (o->build_id != NULL || o->all_functions))
        return "--ids and --list-arches go with neither --build-id nor "
               "--all-functions";
    if (of_files)
        return o->path == NULL && operands.count == 0
                   ? "--ids and --list-arches take OBJ"
                   : NULL;
    if (o->path == NULL && o->build_id == NULL)
        return "-e OBJ or --build-id ID is missing";
    if (o->path != NULL && o->build_id != NULL)
        return "-e and --build-id do not go together";
    if (o->demangle && o->no_demangle)
        return "-C and --no-demangle do not go together";
    if (o->section != NULL && o->rva)
        return "--section and --rva do not go together";
    if (o->all_functions && operands.count != 0)
        return "--all-functions takes no addresses";
    return NULL;
}

/* Addresses from here on count from the section. */
static bool count_from(struct work *w, const char *section)
{
    uint64_t rva;
    char text[600];
    struct wndl_error err;
    if (section == NULL)
        return true;
    if (wndl_symbolizer_section(w->symbols, section, &rva, &err) != WNDL_OK) {
        wndl_cli_error("%s", wndl_error_text(&err, text, sizeof text));
        return false;
    }
    w->style.image_base = w->reader.image_base = -rva;
    return true;
}

static int run_on(
    struct work *w, const struct sym_options *o, struct wndl_operands operands)
{
    struct wndl_symbolizer_info info;
    wndl_symbolizer_get_info(w->symbols, &info);
    set_style(w, o, &info);
    if (!count_from(w, o->section))
        return WNDL_EXIT_FAILURE;
    wndl_arena_init(&w->scratch, wndl_mem_libc());
    wndl_buf_init(&w->out, wndl_mem_libc());
    int exit_code = o->all_functions      ? list_functions(w)
                    : operands.count != 0 ? answer_operands(w, operands)
                                          : answer_stdin(w);
    say_damage(w);
    wndl_buf_free(&w->out);
    wndl_arena_free(&w->scratch);
    return exit_code;
}

static int print_of(
    const struct sym_options *o, const char *path, bool of_several)
{
    return o->ids ? wndl_sym_print_ids(path, o->symbols.arch)
                  : wndl_sym_print_arches(path, of_several);
}

static int print_of_files(
    const struct sym_options *o, struct wndl_operands operands)
{
    int exit_code = WNDL_EXIT_OK;
    bool of_several = operands.count + (o->path != NULL) > 1;
    if (o->path != NULL)
        exit_code |= print_of(o, o->path, of_several);
    for (size_t i = 0; i < operands.count; i++)
        exit_code |= print_of(o, operands.texts[i], of_several);
    return exit_code;
}

static int run_sym(const void *options, struct wndl_operands operands)
{
    const struct sym_options *o = options;
    struct opening opening = {.o = o};
    const char *problem = contradiction(o, operands);
    if (problem == NULL && o->build_id != NULL && !read_build_id(&opening))
        problem = "--build-id takes hexadecimal digits, two for each byte";
    if (problem != NULL) {
        wndl_cli_error("%s; see 'windlass sym --help'", problem);
        return WNDL_EXIT_USAGE;
    }
    wndl_outlive_cut_short();
    if (o->ids || o->list_arches)
        return print_of_files(o, operands);
    opening.options.no_demangle =
        o->format == WNDL_SYM_GNU ? !o->demangle : o->no_demangle;
    struct work w = {.symbols = open_symbols(&opening)};
    if (w.symbols == NULL)
        return WNDL_EXIT_FAILURE;
    int exit_code = run_on(&w, o, operands);
    wndl_symbolizer_close(w.symbols);
    return exit_code;
}

const struct wndl_command wndl_cmd_sym = {
    .name = "sym",
    .summary = "show functions, files and lines of addresses in a binary",
    .operands = "[ADDR...]",
    .description =
        "Shows which line of which file the code at each ADDR is of. Takes "
        "addresses and options as addr2line does, and writes as it does.\n\n"
        "ADDR is hexadecimal, with or without 0x, and counts as in the "
        "binary's own tables: what nm and objdump show. For one in a running "
        "process, take off what the binary was moved by; for a return "
        "address, ask for the byte before it. ADDR may also be the name of a "
        "function, mangled or not, with +0xOFFSET or +OFFSET after it; where "
        "several are called so, each is answered. A name of nothing but the "
        "letters a to f and digits needs +0.\n\n"
        "Without ADDR they are read from standard input, one a line, and "
        "answered as they come. What is not known is ??:0, and no error.\n\n"
        "Where it differs from GNU addr2line: stubs of the linkage table have "
        "names; a function has the name of its symbol, which tells its clones "
        "(.cold, .part) apart; what lies between functions is not taken for "
        "the one before; the file of a symbol without a line is not told, nor "
        "the place of a variable, nor discriminators. Where it differs from "
        "llvm-symbolizer: numbers are always hexadecimal, linkage table stubs "
        "have names, and demangled names are spelled as c++filt does.\n\n"
        "With --all-functions, each line is the addresses of a function, "
        "START-END, separated by commas if it is in several pieces, and its "
        "name. Where the end is not known, it is left out.\n\n"
        "Of binaries for Windows, the PDB file is looked for beside them, "
        "where "
        "it was written and in the debug folders, also as symbol stores have "
        "it. One may stand for OBJ, or is found by the name of one that is not "
        "there; addresses count from the start of the image then.\n\n"
        "Of Mach-O binaries, debug information is looked for in NAME.dSYM "
        "beside them, or in a debug folder, and then in the object files and "
        "archives that they were linked from.\n\n"
        "A Breakpad symbol file may stand for OBJ. Addresses in it count from "
        "the start of the image, and it has no columns.",
    .options = option_table,
    .options_size = sizeof(struct sym_options),
    .examples = examples,
    .max_operands = SIZE_MAX,
    .run = run_sym,
};
