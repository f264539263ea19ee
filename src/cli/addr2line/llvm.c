/* SPDX-License-Identifier: MIT */
/*
 * llvm: llvm-symbolizer and llvm-addr2line: the options that programs give
 * them, and the lines that programs send.
 */
#include "cli/addr2line/llvm_query.h"
#include "cli/addr2line/markup.h"
#include "cli/addr2line/modules.h"
#include "cli/addr2line/stand_in.h"
#include "cli/core/command.h"
#include "cli/symbols/sym_style.h"

#include <ctype.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windlass/version.h>

struct work {
    struct wndl_sym_options o;
    struct wndl_modules modules;
    const char *path, *build_id; /* of all queries that name none */
    bool as_addr2line;
    bool filters_markup;
    uint64_t adjust;
    bool said_unanswered;
    struct wndl_arena scratch; /* of one query */
    struct wndl_buf out;
};

enum {
    DEFAULT_ARCH = 256,
    ADJUST,
    OUTPUT_STYLE,
    DEBUG_DIR,
    NO_DEMANGLE,
    NO_INLINES,
    BUILD_ID,
    DEBUGINFOD,
    FILTER_MARKUP,
    ACCEPTED,
};

static const char letters[] = "aCe:fipsvh";
static const struct option long_options[] = {
    {"obj", required_argument, NULL, 'e'},
    {"exe", required_argument, NULL, 'e'},
    {"build-id", required_argument, NULL, BUILD_ID},
    {"demangle", no_argument, NULL, 'C'},
    {"no-demangle", no_argument, NULL, NO_DEMANGLE},
    {"inlines", no_argument, NULL, 'i'},
    {"inlining", no_argument, NULL, 'i'},
    {"no-inlines", no_argument, NULL, NO_INLINES},
    {"functions", optional_argument, NULL, 'f'},
    {"addresses", no_argument, NULL, 'a'},
    {"print-address", no_argument, NULL, 'a'},
    {"pretty-print", no_argument, NULL, 'p'},
    {"basenames", no_argument, NULL, 's'},
    {"default-arch", required_argument, NULL, DEFAULT_ARCH},
    {"adjust-vma", required_argument, NULL, ADJUST},
    {"output-style", required_argument, NULL, OUTPUT_STYLE},
    {"debug-file-directory", required_argument, NULL, DEBUG_DIR},
    {"fallback-debug-path", required_argument, NULL, DEBUG_DIR},
    {"debuginfod", no_argument, NULL, DEBUGINFOD},
    {"no-debuginfod", no_argument, NULL, ACCEPTED},
    {"filter-markup", no_argument, NULL, FILTER_MARKUP},
    {"use-symbol-table", no_argument, NULL, ACCEPTED},
    {"version", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* ---- options */

enum action { ANSWER, HELP, VERSION, FAIL };

static enum action refuse(const char *option, const char *value)
{
    wndl_cli_error("error: windlass does not know %s=%s", option, value);
    return FAIL;
}

static enum action set_functions(struct work *w, const char *kind)
{
    w->o.functions = true;
    return kind == NULL || strcmp(kind, "linkage") == 0
               ? ANSWER
               : refuse("--functions", kind);
}

static enum action set_output_style(struct work *w, const char *style)
{
    const bool is_llvm = strcmp(style, "LLVM") == 0;
    w->o.format = is_llvm ? WNDL_SYM_LLVM : WNDL_SYM_GNU;
    return is_llvm || strcmp(style, "GNU") == 0
               ? ANSWER
               : refuse("--output-style", style);
}

static enum action add_debug_dir(struct work *w, const char *folder)
{
    struct wndl_option_list *dirs = &w->o.symbols.debug_dirs;
    if (dirs->count == WNDL_OPTION_LIST_MAX)
        return refuse("--debug-file-directory", "more than 16 folders");
    dirs->texts[dirs->count++] = folder;
    return ANSWER;
}

static enum action set_adjust(struct work *w, const char *text)
{
    char *end;
    w->adjust = strtoull(text, &end, 0);
    return *end == '\0' ? ANSWER : refuse("--adjust-vma", text);
}

/* Options that change where and how names are looked for. */
static enum action take_source_option(struct work *w, int letter)
{
    switch (letter) {
    case 'e':
        w->path = optarg;
        return ANSWER;
    case BUILD_ID:
        w->build_id = optarg;
        return ANSWER;
    case DEFAULT_ARCH:
        w->o.symbols.arch = optarg;
        return ANSWER;
    case ADJUST:
        return set_adjust(w, optarg);
    case DEBUG_DIR:
        return add_debug_dir(w, optarg);
    case DEBUGINFOD:
        w->o.symbols.debuginfod = true;
        return ANSWER;
    case FILTER_MARKUP:
        w->filters_markup = true;
        return ANSWER;
    case ACCEPTED:
        return ANSWER;
    case 'h':
        return HELP;
    case 'v':
        return VERSION;
    default:
        return FAIL;
    }
}

static enum action take_option(struct work *w, int letter)
{
    switch (letter) {
    case 'C':
    case NO_DEMANGLE:
        w->o.demangle = letter == 'C';
        return ANSWER;
    case 'i':
    case NO_INLINES:
        w->o.inlines = letter == 'i';
        return ANSWER;
    case 'f':
        return set_functions(w, optarg);
    case 'a':
        w->o.addresses = true;
        return ANSWER;
    case 'p':
        w->o.pretty = true;
        return ANSWER;
    case 's':
        w->o.basenames = true;
        return ANSWER;
    case OUTPUT_STYLE:
        return set_output_style(w, optarg);
    default:
        return take_source_option(w, letter);
    }
}

static bool is_long_name(const char *text)
{
    const size_t size = strcspn(text, "=");
    for (const struct option *o = long_options; o->name != NULL; o++) {
        if (strlen(o->name) == size && memcmp(o->name, text, size) == 0)
            return true;
    }
    return false;
}

/* Long names may have one dash: they get the other, in memory that lasts. */
static void add_dashes(char **argv)
{
    for (; *argv != NULL && strcmp(*argv, "--") != 0; argv++) {
        char *fresh;
        if (**argv == '-' && is_long_name(*argv + 1) &&
            asprintf(&fresh, "-%s", *argv) >= 0)
            *argv = fresh;
    }
}

static enum action take_options(struct work *w, int argc, char **argv)
{
    enum action action = ANSWER;
    int letter;
    add_dashes(argv + 1);
    while (action == ANSWER &&
           (letter = getopt_long(argc, argv, letters, long_options, NULL)) >= 0)
        action = take_option(w, letter);
    return action;
}

/* ---- answers */

static struct wndl_sym_style style_of(
    const struct work *w, const struct wndl_symbolizer_info *info)
{
    return (struct wndl_sym_style){
        .format = w->o.format,
        .functions = w->o.functions,
        .demangled = w->o.demangle,
        .inlines = w->o.inlines,
        .pretty = w->o.pretty,
        .basenames = w->o.basenames,
        .image_base = info->image_base,
        .link_base = info->image_base,
    };
}

static void write_address(struct work *w, const struct wndl_sym_query *query)
{
    if (w->o.addresses && query->has_address)
        wndl_buf_printf(&w->out, "0x%" PRIx64 "%s", query->address,
            w->o.pretty ? ": " : "\n");
}

/* Without --inlines a frame is the line of the code in the function that it is
 * in at last. */
static void write_frames(struct work *w, const struct wndl_sym_style *style,
    struct wndl_symbols answer)
{
    const struct wndl_sym_query query = {0};
    struct wndl_symbol_frame frame;
    if (!style->inlines && answer.count > 1) {
        frame = answer.frames[0];
        frame.function = answer.frames[answer.count - 1].function;
        frame.mangled = answer.frames[answer.count - 1].mangled;
        answer = (struct wndl_symbols){&frame, 1};
    }
    if (answer.count != 0 || style->format == WNDL_SYM_LLVM)
        wndl_sym_write_answer(&w->out, style, &query, &answer);
    else
        wndl_buf_printf(&w->out, "%s??:0\n",
            !style->functions ? ""
            : style->pretty   ? "?? at "
                              : "??\n");
}

/* The answer where nothing is known. */
static void write_unknown(struct work *w)
{
    const struct wndl_symbolizer_info info = {0};
    const struct wndl_sym_style style = style_of(w, &info);
    write_frames(w, &style, (struct wndl_symbols){0});
}

/* The number in a query: as in C, but for addr2line hexadecimal. */
static struct wndl_sym_query read_number(struct work *w, const char *text)
{
    char *end;
    const bool is_hex = text[0] == '0' && (text[1] | 0x20) == 'x';
    const uint64_t number =
        strtoull(text, &end, w->as_addr2line || is_hex ? 16 : 0);
    return (struct wndl_sym_query){.text = text,
        .address = number,
        .has_address = *end == '\0' && isxdigit((unsigned char)text[0])};
}

/* The addresses of a symbol, which sym_query does not take for a number if
 * there is an offset after it. */
static bool read_symbol(struct work *w, struct wndl_sym_reader *reader,
    const struct wndl_sym_query *query)
{
    const size_t room = strlen(query->text) + sizeof "+0";
    char *text = wndl_arena_alloc(&w->scratch, room);
    if (text == NULL)
        return false;
    snprintf(text, room, "%s%s", query->text,
        strchr(query->text, '+') == NULL ? "+0" : "");
    return wndl_sym_read_query(reader, text, strlen(text));
}

static bool add_number(struct work *w, struct wndl_sym_reader *reader,
    const struct wndl_sym_query *query)
{
    struct wndl_sym_query *slot = wndl_vec_push(&reader->list);
    if (slot == NULL)
        return false;
    *slot = *query;
    slot->rva = query->address - w->adjust - reader->image_base;
    return true;
}

static bool look_up(struct work *w, struct wndl_symbolizer *symbols,
    const struct wndl_sym_query *query, struct wndl_symbols *answer)
{
    *answer = (struct wndl_symbols){0};
    w->out.failed |=
        query->has_address &&
        wndl_symbolizer_lookup(symbols, query->rva, answer, NULL) == WNDL_NOMEM;
    return !w->out.failed;
}

static bool answer_code(struct work *w, struct wndl_symbolizer *symbols,
    const struct wndl_sym_query *query)
{
    struct wndl_symbolizer_info info;
    wndl_symbolizer_get_info(symbols, &info);
    struct wndl_sym_style style = style_of(w, &info);
    style.inlines &= query->has_address; /* a symbol is a whole function */
    struct wndl_sym_reader reader = {.symbols = symbols,
        .image_base = info.image_base,
        .mask = info.address_size == 4 ? UINT32_MAX : UINT64_MAX};
    struct wndl_symbols answer;
    wndl_vec_init(&reader.list, &w->scratch, sizeof(struct wndl_sym_query));
    if (!(query->has_address ? add_number(w, &reader, query)
                             : read_symbol(w, &reader, query)))
        return false;
    const struct wndl_sym_query *queries = reader.list.data;
    for (size_t i = 0; i < reader.list.len; i++) {
        if (look_up(w, symbols, &queries[i], &answer))
            write_frames(w, &style, answer);
    }
    return true;
}

/* Variables are not known, which is said once. */
static void answer_variable(struct work *w, enum wndl_llvm_command command)
{
    if (!w->said_unanswered)
        wndl_cli_note("warning: windlass knows code only: DATA and FRAME have "
                      "no answers");
    w->said_unanswered = true;
    wndl_buf_text(
        &w->out, command == WNDL_LLVM_DATA ? "??\n0 0\n??:?\n" : "??\n");
    if (w->o.format == WNDL_SYM_LLVM)
        wndl_buf_byte(&w->out, '\n');
}

/* False when memory is out. */
static bool answer_query(struct work *w, const struct wndl_llvm_query *query)
{
    const bool is_build_id =
        query->module == NULL ? w->build_id != NULL : query->is_build_id;
    const char *name = query->module != NULL ? query->module
                       : is_build_id         ? w->build_id
                                             : w->path;
    if (query->command != WNDL_LLVM_CODE) {
        answer_variable(w, query->command);
        return true;
    }
    const struct wndl_sym_query number = read_number(w, query->address);
    struct wndl_symbolizer *symbols =
        wndl_modules_find(&w->modules, name, is_build_id);
    if (symbols != NULL || !is_build_id)
        write_address(w, &number);
    if (symbols != NULL)
        return answer_code(w, symbols, &number);
    write_unknown(w);
    return true;
}

static bool flush_output(struct work *w)
{
    fwrite(w->out.data, 1, w->out.size, stdout);
    wndl_buf_clear(&w->out);
    return fflush(stdout) == 0 && !ferror(stdout);
}

/* Answers a line, or an operand. */
static int answer_line(struct work *w, char *line)
{
    struct wndl_llvm_query query;
    bool has_module = w->path != NULL || w->build_id != NULL;
    line[strcspn(line, "\n")] = '\0';
    char *whole = strdup(line);
    if (whole == NULL)
        return wndl_cli_error("error: out of memory");
    const char *problem = wndl_llvm_query_read(line, has_module, &query);
    if (problem != NULL)
        wndl_cli_error("error: '%s': %s", whole, problem);
    free(whole);
    if (problem != NULL)
        write_unknown(w);
    else if (!answer_query(w, &query) || w->out.failed)
        return wndl_cli_error("error: out of memory");
    wndl_arena_free(&w->scratch);
    return flush_output(w) ? WNDL_EXIT_OK : WNDL_EXIT_FAILURE;
}

static int answer_stdin(struct work *w)
{
    char *line = NULL;
    size_t room = 0;
    int exit_code = WNDL_EXIT_OK;
    while (exit_code == WNDL_EXIT_OK && getline(&line, &room, stdin) >= 0)
        exit_code = answer_line(w, line);
    free(line);
    return exit_code;
}

static int answer_all(struct work *w, char **operands)
{
    int exit_code = WNDL_EXIT_OK;
    w->modules.o = &w->o;
    wndl_arena_init(&w->scratch, wndl_mem_libc());
    wndl_buf_init(&w->out, wndl_mem_libc());
    if (w->filters_markup)
        exit_code = wndl_filter_markup(&w->modules, w->o.demangle);
    else if (*operands == NULL)
        exit_code = answer_stdin(w);
    for (; !w->filters_markup && *operands != NULL && exit_code == WNDL_EXIT_OK;
         operands++)
        exit_code = answer_line(w, *operands);
    wndl_buf_free(&w->out);
    wndl_arena_free(&w->scratch);
    wndl_modules_close(&w->modules);
    return exit_code;
}

/* ---- all of it */

static int say_help(const char *name)
{
    printf("Usage: %s [options] [[CODE] [PATH|BUILDID:ID] ADDRESS...]\n"
           "This is windlass, in place of LLVM's symbolizer; see "
           "'windlass sym --help'.\nOptions:",
        name);
    for (const struct option *o = long_options; o->name != NULL; o++)
        printf(" --%s%s", o->name,
            o->has_arg == required_argument ? "=VALUE" : "");
    printf("\n");
    return WNDL_EXIT_OK;
}

static int say_version(const char *name)
{
    printf("%s (windlass %s), in place of LLVM's symbolizer\n", name,
        wndl_version());
    return WNDL_EXIT_OK;
}

static int run(struct work *w, int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    const char *name = slash == NULL ? argv[0] : slash + 1;
    wndl_cli_set_name(name);
    switch (take_options(w, argc, argv)) {
    case HELP:
        return say_help(name);
    case VERSION:
        return say_version(name);
    case FAIL:
        return WNDL_EXIT_FAILURE;
    case ANSWER:
        break;
    }
    w->o.no_demangle = !w->o.demangle;
    return answer_all(w, argv + optind);
}

int wndl_stand_in_llvm_symbolizer(int argc, char **argv)
{
    struct work w = {.o = {.format = WNDL_SYM_LLVM,
                         .functions = true,
                         .demangle = true,
                         .inlines = true}};
    return run(&w, argc, argv);
}

int wndl_stand_in_llvm_addr2line(int argc, char **argv)
{
    struct work w = {
        .o = {.format = WNDL_SYM_GNU}, .path = "a.out", .as_addr2line = true};
    return run(&w, argc, argv);
}
