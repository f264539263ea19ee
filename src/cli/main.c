/* SPDX-License-Identifier: MIT */
/*
 * main: finds the command and runs it. Knows the list of commands, and nothing
 * about the work they do.
 */
#include "cli/core/command.h"
#include "cli/core/help.h"
#include "cli/core/sigbus_guard.h"
#include "cli/view/page.h"

#include <errno.h>
#include <libdeflate.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windlass/version.h>
#include <zlib.h>
#include <zstd.h>

static const struct wndl_command *const commands[] = {
    &wndl_cmd_record,
    &wndl_cmd_heap,
    &wndl_cmd_ctl,
    &wndl_cmd_doctor,
    &wndl_cmd_report,
    &wndl_cmd_diff,
    &wndl_cmd_view,
    &wndl_cmd_export,
    &wndl_cmd_merge,
    &wndl_cmd_push,
    &wndl_cmd_vmprof,
    &wndl_cmd_fix,
    &wndl_cmd_sym,
    &wndl_cmd_dump_syms,
    &wndl_cmd_unwind_info,
    &wndl_cmd_unwind_table,
    NULL,
};

/* Commands that windlass starts itself. */
static const struct wndl_command *const hidden[] = {&wndl_cmd_collect, NULL};

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
    char problem[160];
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

static int say_version(void)
{
    printf("windlass %s\n", wndl_version());
    printf("built with: zlib %s, libdeflate %s, zstd %s, liblzma %s, the "
           "libiberty demangler and a Microsoft demangler of its own\n",
        zlibVersion(), LIBDEFLATE_VERSION_STRING, ZSTD_versionString(),
        lzma_version_string());
    printf("viewer: %s\n",
        wndl_view_page().size != 0 ? "yes" : "no (built without npm)");
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
static int list_commands(void)
{
    for (const struct wndl_command *const *c = commands; *c != NULL; c++)
        printf("%s\n", (*c)->name);
    return WNDL_EXIT_OK;
}

static int usage_error(const char *word)
{
    wndl_cli_error("unknown command '%s'; see 'windlass --help'", word);
    return WNDL_EXIT_USAGE;
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        wndl_help_program(stderr, commands);
        return WNDL_EXIT_USAGE;
    }
    const char *word = argv[1];
    const struct wndl_command *command = find_command(word);
    if (command != NULL)
        return run_command(command, argv + 2);
    if (strcmp(word, "--version") == 0)
        return say_version();
    if (strcmp(word, "--man") == 0)
        return say_man(argv[2]);
    if (strcmp(word, "--commands") == 0)
        return list_commands();
    if (strcmp(word, "--completion-bash") == 0) {
        wndl_completion_bash(stdout, commands);
        return WNDL_EXIT_OK;
    }
    if (strcmp(word, "-h") != 0 && strcmp(word, "--help") != 0)
        return usage_error(word);
    wndl_help_program(stdout, commands);
    return WNDL_EXIT_OK;
}

/* A full disk is an error of every command, reported once. */
int main(int argc, char **argv)
{
    wndl_sigbus_guard_install();
    int exit_code = run(argc, argv);
    bool is_whole = fflush(stdout) == 0 && !ferror(stdout);
    if (is_whole || exit_code != WNDL_EXIT_OK)
        return exit_code;
    return wndl_cli_error("cannot write standard output: %s", strerror(errno));
}
