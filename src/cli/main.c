/* SPDX-License-Identifier: MIT */
/*
 * main: finds the command and runs it. Knows the list of commands, and nothing
 * about the work they do.
 */
#include "cli/addr2line/stand_in.h"
#include "cli/core/command.h"
#include "cli/core/completion.h"
#include "cli/core/find_program.h"
#include "cli/core/habits.h"
#include "cli/core/help.h"
#include "cli/core/sigbus_guard.h"
#include "cli/core/suggest.h"
#include "cli/view/page.h"
#include "rec/chunk.h"

#include <errno.h>
#include <libdeflate.h>
#include <limits.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <windlass/version.h>
#include <zlib.h>
#include <zstd.h>

/* For `windlass top`. */
#ifdef WNDL_HAVE_NCURSES
enum { HAS_SCREEN = 1 };
#else
enum { HAS_SCREEN = 0 };
#endif

static const struct wndl_command *const commands[] = {
    &wndl_cmd_record,
    &wndl_cmd_heap,
    &wndl_cmd_ctl,
    &wndl_cmd_stack,
    &wndl_cmd_doctor,
    &wndl_cmd_report,
    &wndl_cmd_annotate,
    &wndl_cmd_top,
    &wndl_cmd_diff,
    &wndl_cmd_view,
    &wndl_cmd_ls,
    &wndl_cmd_memlog,
    &wndl_cmd_memory,
    &wndl_cmd_export,
    &wndl_cmd_merge,
    &wndl_cmd_push,
    &wndl_cmd_vmprof,
    &wndl_cmd_mvp,
    &wndl_cmd_check,
    &wndl_cmd_fix,
    &wndl_cmd_sym,
    &wndl_cmd_dump_syms,
    &wndl_cmd_unwind_info,
    &wndl_cmd_unwind_table,
    NULL,
};

/* Commands that windlass starts itself. */
static const struct wndl_command *const hidden[] = {&wndl_cmd_collect, NULL};

/* Words that are no commands, for suggestions. */
static const char *const other_words[] = {
    "help", "version", "--help", "--version", NULL};

static const struct wndl_command *find_in(
    const struct wndl_command *const *list, const char *name)
{
    while (*list != NULL && strcmp((*list)->name, name) != 0)
        list++;
    return *list;
}

static const struct wndl_command *find_command(const char *name)
{
    const struct wndl_command *found = find_in(commands, name);
    return found == NULL ? find_in(hidden, name) : found;
}

static int run_command(const struct wndl_command *command, char **argv)
{
    void *options = calloc(1, command->options_size);
    if (options == NULL)
        return wndl_cli_error("out of memory");
    struct wndl_operands operands;
    char problem[WNDL_PROBLEM_SIZE];
    int exit_code = WNDL_EXIT_OK;
    switch (wndl_options_parse(command, argv, options, &operands, problem)) {
    case WNDL_PARSE_OK:
        exit_code = command->run(options, operands);
        break;
    case WNDL_PARSE_HELP:
        wndl_help_command(stdout, command);
        break;
    case WNDL_PARSE_ERROR:
        if (command == &wndl_cmd_collect)
            wndl_cli_error("%s; see " WNDL_OPTIONS_ENV "=help", problem);
        else
            wndl_cli_error(
                "%s; see 'windlass %s --help'", problem, command->name);
        exit_code = WNDL_EXIT_USAGE;
        break;
    }
    free(options);
    return exit_code;
}

static int say_version(const char *next)
{
    (void)next;
    printf("windlass %s\n", wndl_version());
    printf("built with: zlib %s, libdeflate %s, zstd %s, liblzma %s; names of "
           "C++, Rust and Microsoft's C++ read by itself, of D by libiberty\n",
        zlibVersion(), LIBDEFLATE_VERSION_STRING, ZSTD_versionString(),
        lzma_version_string());
    printf("recordings: format %d.%d; files of a newer major version mean that "
           "a newer windlass wrote them\n",
        WNDL_FILE_MAJOR, WNDL_FILE_MINOR);
    printf("ncurses: %s\n", HAS_SCREEN ? "yes" : "no");
    if (wndl_view_problem() == NULL)
        printf("viewer: yes\n");
    else
        printf("viewer: no (%s)\n", wndl_view_problem());
    return WNDL_EXIT_OK;
}

/* `windlass --man [COMMAND]`: the source of a man page, for the build. */
static int say_man(const char *name)
{
    const struct wndl_command *command =
        name == NULL ? NULL : find_command(name);
    if (name != NULL && command == NULL)
        return wndl_cli_error("unknown command '%s'", name);
    if (command != NULL)
        wndl_man_command(stdout, command);
    else
        wndl_man_program(stdout, commands);
    return WNDL_EXIT_OK;
}

/* `windlass --commands`: the names of the man pages, for the build. */
static int list_commands(const char *next)
{
    (void)next;
    for (const struct wndl_command *const *c = commands; *c != NULL; c++)
        printf("%s\n", (*c)->name);
    return WNDL_EXIT_OK;
}

/* ---- words that are no command */

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A file that is named without a command is reported on, or recorded. */
static bool say_of_file(const char *word)
{
    char path[PATH_MAX];
    const bool is_path = access(word, R_OK) == 0 && !is_folder(word);
    if (strchr(word, '/') != NULL && wndl_program_find(word, path))
        wndl_cli_error("'%s' is a program, not a command; did you mean "
                       "'windlass record %s'?",
            word, word);
    else if (is_path)
        wndl_cli_error(
            "'%s' is a file, not a command; did you mean 'windlass report %s'?",
            word, word);
    else
        return false;
    return true;
}

static const char *nearest_command(const char *word)
{
    struct wndl_suggestion s = wndl_suggest(word, strlen(word));
    for (const struct wndl_command *const *c = commands; *c != NULL; c++)
        wndl_suggest_try(&s, (*c)->name, strlen((*c)->name));
    for (const char *const *w = other_words; *w != NULL; w++)
        wndl_suggest_try(&s, *w, strlen(*w));
    return s.best;
}

static int usage_error(const char *word)
{
    const char *habit = wndl_habit_of(word);
    const char *nearest = nearest_command(word);
    const bool is_option = word[0] == '-';
    if (habit != NULL)
        wndl_cli_error("'%s' %s", word, habit);
    else if (!is_option && nearest == NULL && say_of_file(word))
        return WNDL_EXIT_USAGE;
    else if (nearest != NULL)
        wndl_cli_error("unknown %s '%s'; did you mean '%s'? See 'windlass "
                       "--help'",
            is_option ? "option" : "command", word, nearest);
    else
        wndl_cli_error("unknown %s '%s'; see 'windlass --help'",
            is_option ? "option" : "command", word);
    return WNDL_EXIT_USAGE;
}

/* ---- words of the program itself */

/* `windlass help [COMMAND]` */
static int say_help(const char *word)
{
    const struct wndl_command *command =
        word == NULL ? NULL : find_command(word);
    if (word != NULL && command == NULL)
        return usage_error(word);
    if (command != NULL)
        wndl_help_command(stdout, command);
    else
        wndl_help_program(stdout, commands);
    return WNDL_EXIT_OK;
}

static int complete_bash(const char *next)
{
    (void)next;
    wndl_completion_bash(stdout, commands);
    return WNDL_EXIT_OK;
}

static int complete_zsh(const char *next)
{
    (void)next;
    wndl_completion_zsh(stdout, commands);
    return WNDL_EXIT_OK;
}

static int complete_fish(const char *next)
{
    (void)next;
    wndl_completion_fish(stdout, commands);
    return WNDL_EXIT_OK;
}

static const struct own_word {
    const char *word;
    int (*run)(const char *next); /* the word after it, or NULL */
} own_words[] = {
    {"help", say_help},
    {"--help", say_help},
    {"-h", say_help},
    {"version", say_version},
    {"--version", say_version},
    {"-V", say_version},
    {"--man", say_man},
    {"--commands", list_commands},
    {"--completion-bash", complete_bash},
    {"--completion-zsh", complete_zsh},
    {"--completion-fish", complete_fish},
};

static int run(int argc, char **argv)
{
    wndl_stand_in *stand_in = argc == 0 ? NULL : wndl_stand_in_find(argv[0]);
    if (stand_in != NULL)
        return stand_in(argc, argv);
    if (argc < 2) {
        wndl_help_program(stderr, commands);
        return WNDL_EXIT_USAGE;
    }
    const char *word = argv[1];
    const struct wndl_command *command = find_command(word);
    if (command != NULL)
        return run_command(command, argv + 2);
    for (size_t i = 0; i < sizeof own_words / sizeof *own_words; i++) {
        if (strcmp(own_words[i].word, word) == 0)
            return own_words[i].run(argv[2]);
    }
    return usage_error(word);
}

/* A full disk is an error of every command, reported once. */
int main(int argc, char **argv)
{
    wndl_sigbus_guard_install();
    int exit_code = run(argc, argv);
    bool is_whole = fflush(stdout) == 0 && !ferror(stdout);
    if (is_whole && exit_code == WNDL_EXIT_OK && wndl_cli_is_incomplete())
        return WNDL_EXIT_FAILURE;
    if (is_whole || exit_code != WNDL_EXIT_OK)
        return exit_code;
    return wndl_cli_error("cannot write standard output: %s", strerror(errno));
}
