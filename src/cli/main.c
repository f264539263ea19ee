/* SPDX-License-Identifier: MIT */
/*
 * main: finds the command and hands over. Knows the list of commands and
 * nothing of what they do.
 */
#include "cli/command.h"
#include "cli/help.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windlass/version.h>
#include <zlib.h>

static const struct wndl_command *const commands[] = {
    &wndl_cmd_record,
    &wndl_cmd_report,
    &wndl_cmd_export,
    NULL,
};

static void say(const char *kind, const char *format, va_list args)
{
    fflush(stdout);
    fprintf(stderr, "windlass: %s", kind);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

int wndl_cli_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say("error: ", format, args);
    va_end(args);
    return WNDL_EXIT_FAILURE;
}

void wndl_cli_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say("", format, args);
    va_end(args);
}

static const struct wndl_command *find_command(const char *name)
{
    for (size_t i = 0; commands[i] != NULL; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
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
        wndl_cli_error("%s; see 'windlass %s --help'", problem, command->name);
        exit_code = WNDL_EXIT_USAGE;
        break;
    }
    free(options);
    return exit_code;
}

static int say_version(void)
{
    printf("windlass %s\n", wndl_version());
    printf("built with: zlib %s, libiberty demangler\n", zlibVersion());
    return WNDL_EXIT_OK;
}

/* `windlass --man [COMMAND]`: what the build makes the man pages with. */
static int say_man(const char *name)
{
    const struct wndl_command *command =
        name == NULL ? NULL : find_command(name);
    if (name != NULL && command == NULL)
        return wndl_cli_error("there is no command '%s'", name);
    if (command != NULL)
        wndl_man_command(stdout, command);
    else
        wndl_man_program(stdout, commands);
    return WNDL_EXIT_OK;
}

static int usage_error(const char *word)
{
    wndl_cli_error("there is no command '%s'; see 'windlass --help'", word);
    return WNDL_EXIT_USAGE;
}

int main(int argc, char **argv)
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
    if (strcmp(word, "--completion-bash") == 0) {
        wndl_completion_bash(stdout, commands);
        return WNDL_EXIT_OK;
    }
    if (strcmp(word, "-h") != 0 && strcmp(word, "--help") != 0)
        return usage_error(word);
    wndl_help_program(stdout, commands);
    return WNDL_EXIT_OK;
}
