/* SPDX-License-Identifier: MIT */
/*
 * gnu: binutils' addr2line: its options, its reading of numbers, its output and
 * its errors.
 */
#include "cli/addr2line/stand_in.h"
#include "cli/core/command.h"
#include "cli/symbols/sym_answer.h"
#include "cli/symbols/sym_open.h"
#include "cli/symbols/sym_style.h"

#include <errno.h>
#include <getopt.h>
#include <libiberty/libiberty.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <windlass/version.h>

/* The names of options may be abbreviated, as long as they are unique. */
static const char letters[] = "ab:Ce:fHhij:prRsVv";
static const struct option long_options[] = {
    {"addresses", no_argument, NULL, 'a'},
    {"basenames", no_argument, NULL, 's'},
    {"demangle", optional_argument, NULL, 'C'},
    {"exe", required_argument, NULL, 'e'},
    {"functions", no_argument, NULL, 'f'},
    {"help", no_argument, NULL, 'h'},
    {"inlines", no_argument, NULL, 'i'},
    {"no-recurse-limit", no_argument, NULL, 'r'},
    {"no-recursion-limit", no_argument, NULL, 'r'},
    {"pretty-print", no_argument, NULL, 'p'},
    {"recurse-limit", no_argument, NULL, 'R'},
    {"recursion-limit", no_argument, NULL, 'R'},
    {"section", required_argument, NULL, 'j'},
    {"target", required_argument, NULL, 'b'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

static const char usage_text[] =
    " [option(s)] [addr(s)]\n"
    " Convert addresses into line number/file name pairs.\n"
    " If no addresses are specified on the command line, they will be read "
    "from stdin\n"
    " The options are:\n"
    "  @<file>                Read options from <file>\n"
    "  -a --addresses         Show addresses\n"
    "  -b --target=<bfdname>  Accepted, and not used: files say what they are\n"
    "  -e --exe=<executable>  Set the input file name (default is a.out)\n"
    "  -i --inlines           Unwind inlined functions\n"
    "  -j --section=<name>    Read section-relative offsets instead of "
    "addresses\n"
    "  -p --pretty-print      Make the output easier to read for humans\n"
    "  -s --basenames         Strip directory names\n"
    "  -f --functions         Show function names\n"
    "  -C --demangle[=style]  Demangle function names\n"
    "  -R --recurse-limit     Accepted, and not used: demangling always has a "
    "limit\n"
    "  -r --no-recurse-limit  Accepted, and not used\n"
    "  -h --help              Display this information\n"
    "  -v --version           Display the program's version\n"
    "\n"
    "This is windlass, in place of GNU addr2line; see 'windlass sym --help'.\n";

/* The task that the arguments set. */
enum action { ANSWER, HELP, VERSION, FAIL, FAIL_WITH_HELP };

static enum action set_demangling(struct wndl_sym_options *o, const char *style)
{
    static const char *const styles[] = {
        "none", "auto", "gnu-v3", "java", "gnat", "dlang", "rust"};
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++) {
        if (style == NULL || strcmp(style, styles[i]) == 0) {
            o->demangle = style == NULL || i != 0;
            return ANSWER;
        }
    }
    wndl_cli_error("unknown demangling style `%s'", style);
    return FAIL;
}

static enum action take_option(struct wndl_sym_options *o, int letter)
{
    switch (letter) {
    case 'a':
        o->addresses = true;
        break;
    case 's':
        o->basenames = true;
        break;
    case 'C':
        return set_demangling(o, optarg);
    case 'e':
        o->path = optarg;
        break;
    case 'f':
        o->functions = true;
        break;
    case 'i':
        o->inlines = true;
        break;
    case 'p':
        o->pretty = true;
        break;
    case 'j':
        o->section = optarg;
        break;
    case 'b':
    case 'r':
    case 'R':
        break;
    case 'v':
    case 'V':
        return VERSION;
    case 'h':
    case 'H':
        return HELP;
    default:
        return FAIL_WITH_HELP;
    }
    return ANSWER;
}

static enum action take_options(
    struct wndl_sym_options *o, int argc, char **argv)
{
    enum action action = ANSWER;
    int letter;
    while (action == ANSWER &&
           (letter = getopt_long(argc, argv, letters, long_options, NULL)) >= 0)
        action = take_option(o, letter);
    return action;
}

/* Whether there is a file with something in it. */
static bool check_file(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0 && errno == ENOENT)
        wndl_cli_error("'%s': No such file", path);
    else if (stat(path, &st) != 0)
        wndl_cli_error("Warning: could not locate '%s'.  reason: %s", path,
            strerror(errno));
    else if (S_ISDIR(st.st_mode))
        wndl_cli_error("Warning: '%s' is a directory", path);
    else if (!S_ISREG(st.st_mode))
        wndl_cli_error("Warning: '%s' is not an ordinary file", path);
    else
        return st.st_size != 0;
    return false;
}

/* NULL, with an error on stderr. */
static struct wndl_symbolizer *open_file(struct wndl_sym_opening *opening)
{
    return check_file(opening->o->path) ? wndl_sym_open(opening) : NULL;
}

static bool has_section(
    struct wndl_symbolizer *symbols, const char *path, const char *section)
{
    uint64_t rva;
    if (section == NULL ||
        wndl_symbolizer_section(symbols, section, &rva, NULL) == WNDL_OK)
        return true;
    wndl_cli_error("%s: cannot find section %s", path, section);
    return false;
}

static int answer(const struct wndl_sym_options *o, char **addresses)
{
    struct wndl_sym_opening opening = {.o = o};
    struct wndl_operands operands = {.texts = addresses};
    struct wndl_symbolizer *symbols = open_file(&opening);
    if (symbols == NULL)
        return WNDL_EXIT_FAILURE;
    while (addresses[operands.count] != NULL)
        operands.count++;
    int exit_code = has_section(symbols, o->path, o->section)
                        ? wndl_sym_answer(symbols, o, operands)
                        : WNDL_EXIT_FAILURE;
    wndl_symbolizer_close(symbols);
    return exit_code;
}

static int say_usage(FILE *out, const char *program, int exit_code)
{
    fprintf(out, "Usage: %s%s", program, usage_text);
    return exit_code;
}

static int say_version(void)
{
    printf(
        "windlass-addr2line %s, in place of GNU addr2line\n", wndl_version());
    return WNDL_EXIT_OK;
}

static int run_expanded(int argc, char **argv)
{
    struct wndl_sym_options o = {
        .format = WNDL_SYM_GNU, .path = "a.out", .as_addr2line = true};
    switch (take_options(&o, argc, argv)) {
    case HELP:
        return say_usage(stdout, argv[0], WNDL_EXIT_OK);
    case VERSION:
        return say_version();
    case FAIL:
        return WNDL_EXIT_FAILURE;
    case FAIL_WITH_HELP:
        return say_usage(stderr, argv[0], WNDL_EXIT_FAILURE);
    case ANSWER:
        break;
    }
    return answer(&o, argv + optind);
}

int wndl_stand_in_gnu(int argc, char **argv)
{
    char **given = argv;
    wndl_cli_set_name(given[0]);
    expandargv(&argc, &argv);
    int exit_code = run_expanded(argc, argv);
    if (argv != given)
        freeargv(argv);
    return exit_code;
}
