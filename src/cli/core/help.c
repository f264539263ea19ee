/* SPDX-License-Identifier: MIT */
#include "cli/core/help.h"

#include "cli/core/completion.h"

#include <string.h>

enum { HELP_COLUMN = 26, HELP_WIDTH = 78, HELP_SIZE = 1024 };

static const char program_text[] =
    "windlass records where a program's time goes, without privileges and "
    "without frame pointers, and shows it by function, inlined frame, file "
    "and line.";

/* Writes `text`, wrapped at HELP_WIDTH; later lines are indented. */
static void put_wrapped(FILE *out, const char *text, int indent)
{
    int column = indent;
    while (*text != '\0') {
        int size = (int)strcspn(text, " \n");
        if (column > indent && column + 1 + size > HELP_WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", size, text);
        column += size;
        text += size;
        if (strncmp(text, "\n\n", 2) == 0) {
            fprintf(out, "\n\n%*s", indent, "");
            column = indent;
        }
        text += strspn(text, " \n");
    }
    fputc('\n', out);
}

static const char *shown_value(const struct wndl_option *option)
{
    return option->choices != NULL ? option->choices
           : option->value != NULL ? option->value
                                   : "";
}

static int spell_option(
    char *text, size_t size, const struct wndl_option *option)
{
    char letter[8] = "    ";
    if (option->letter != 0)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    const char *value = shown_value(option);
    return snprintf(text, size, "%s--%s%s%.*s", letter, option->name,
        *value == '\0' ? "" : " ", wndl_choices_size(value), value);
}

static void option_help_text(
    char *text, size_t size, const struct wndl_option *option)
{
    int used = snprintf(text, size, "%s", option->help);
    if (option->fallback != NULL)
        used += snprintf(text + used, size - (size_t)used, " (default %s)",
            option->fallback);
    if (option->env != NULL)
        snprintf(text + used, size - (size_t)used, " [$%s]", option->env);
}

static void help_option(FILE *out, const struct wndl_option *option)
{
    char spelled[128];
    char text[HELP_SIZE];
    int used = spell_option(spelled, sizeof spelled, option);
    option_help_text(text, sizeof text, option);
    fprintf(out, "  %s", spelled);
    if (used + 4 > HELP_COLUMN)
        fprintf(out, "\n%*s", HELP_COLUMN, "");
    else
        fprintf(out, "%*s", HELP_COLUMN - used - 2, "");
    put_wrapped(out, text, HELP_COLUMN);
}

static void help_env_option(FILE *out, const struct wndl_option *option)
{
    char text[HELP_SIZE];
    const char *value = shown_value(option);
    int used = fprintf(out, "  %s%s%.*s", option->name,
        *value == '\0' ? "" : "=", wndl_choices_size(value), value);
    option_help_text(text, sizeof text, option);
    if (used + 2 > HELP_COLUMN)
        fprintf(out, "\n%*s", HELP_COLUMN, "");
    else
        fprintf(out, "%*s", HELP_COLUMN - used, "");
    put_wrapped(out, text, HELP_COLUMN);
}

void wndl_help_env_options(FILE *out, const struct wndl_option *rows)
{
    fprintf(out, "%s holds any of these, separated by spaces or commas:\n\n",
        WNDL_OPTIONS_ENV);
    const struct wndl_option *o = wndl_option_shown(rows);
    for (; o->name != NULL; o = wndl_option_shown(o + 1))
        help_env_option(out, o);
    fprintf(
        out, "\nExample: %s=\"rate=5000 output=app.wndl\"\n", WNDL_OPTIONS_ENV);
}

static const struct wndl_option help_row = {
    .letter = 'h', .name = "help", .help = "show this help"};

void wndl_help_command(FILE *out, const struct wndl_command *command)
{
    fprintf(out, "Usage: windlass %s [OPTION...]%s%s\n\n", command->name,
        *command->operands == '\0' ? "" : " ", command->operands);
    put_wrapped(out, command->description, 0);
    fprintf(out, "\nOptions:\n");
    for (const struct wndl_option *o = wndl_option_shown(command->options);
         o->name != NULL; o = wndl_option_shown(o + 1))
        help_option(out, o);
    help_option(out, &help_row);
    if (command->examples == NULL)
        return;
    fprintf(out, "\nExamples:\n");
    for (const struct wndl_example *e = command->examples; e->command != NULL;
         e++)
        fprintf(out, "  %s\n      %s\n", e->command, e->what);
}

static const char *const group_titles[WNDL_GROUP_COUNT] = {
    [WNDL_GROUP_RECORD] = "record a program",
    [WNDL_GROUP_LOOK] = "look at recordings",
    [WNDL_GROUP_CONVERT] = "convert and send profiles",
    [WNDL_GROUP_SIMULATE] = "simulate memory",
    [WNDL_GROUP_SYMBOLS] = "find symbols",
    [WNDL_GROUP_UNWINDING] = "inspect unwinding",
};

/* The width of the longest name and a gap. */
static int name_column(const struct wndl_command *const *commands)
{
    enum { GAP = 2 };
    size_t longest = 0;
    for (; *commands != NULL; commands++) {
        const size_t size = strlen((*commands)->name);
        longest = size > longest ? size : longest;
    }
    return (int)longest + GAP;
}

static void help_group(FILE *out, const struct wndl_command *const *commands,
    enum wndl_command_group group)
{
    const int column = name_column(commands);
    fprintf(out, "\nCommands: %s\n", group_titles[group]);
    for (; *commands != NULL; commands++) {
        const struct wndl_command *c = *commands;
        if (c->group == group)
            fprintf(out, "  %-*s%s\n", column, c->name, c->summary);
    }
}

void wndl_help_program(FILE *out, const struct wndl_command *const *commands)
{
    fprintf(out, "Usage: windlass COMMAND [OPTION...] [ARGUMENT...]\n\n");
    put_wrapped(out, program_text, 0);
    for (unsigned group = 0; group < WNDL_GROUP_COUNT; group++)
        help_group(out, commands, (enum wndl_command_group)group);
    fprintf(out, "\n'windlass COMMAND --help' shows the options of a command,\n"
                 "'windlass --version' the libraries that are built in. A "
                 "command of perf,\nsamply or heaptrack is answered with what "
                 "it means here ('windlass top').\n"
                 "Start with: windlass record -- COMMAND\n");
}

/* man(7): a leading dot or quote is a request, a backslash an escape. */
static void man_text(FILE *out, const char *text)
{
    bool line_start = true;
    for (; *text != '\0'; text++) {
        if (strncmp(text, "\n\n", 2) == 0) {
            fputs("\n.PP\n", out);
            text++;
            line_start = true;
            continue;
        }
        if (line_start && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        if (*text == '\\' || *text == '-')
            fputc('\\', out);
        fputs(*text == '\\' ? "e" : (char[2]){*text, '\0'}, out);
        line_start = *text == '\n';
    }
    fputc('\n', out);
}

static void man_head(FILE *out, const char *name, const char *summary)
{
    fprintf(out, ".TH WINDLASS%s%s 1 \"\" \"windlass\" \"User Commands\"\n",
        *name == '\0' ? "" : "\\-", name);
    fprintf(out, ".SH NAME\nwindlass%s%s \\- %s\n", *name == '\0' ? "" : "\\-",
        name, summary);
}

static void man_option(FILE *out, const struct wndl_option *option)
{
    char spelled[128];
    char text[HELP_SIZE];
    spell_option(spelled, sizeof spelled, option);
    option_help_text(text, sizeof text, option);
    fprintf(out, ".TP\n.B ");
    man_text(out, spelled + strspn(spelled, " "));
    man_text(out, text);
}

void wndl_man_command(FILE *out, const struct wndl_command *command)
{
    man_head(out, command->name, command->summary);
    fprintf(out, ".SH SYNOPSIS\n.B windlass %s\n[\\fIOPTION\\fR...] ",
        command->name);
    man_text(out, command->operands);
    fprintf(out, ".SH DESCRIPTION\n");
    man_text(out, command->description);
    fprintf(out, ".SH OPTIONS\n");
    for (const struct wndl_option *o = wndl_option_shown(command->options);
         o->name != NULL; o = wndl_option_shown(o + 1))
        man_option(out, o);
    man_option(out, &help_row);
    if (command->examples != NULL)
        fprintf(out, ".SH EXAMPLES\n");
    for (const struct wndl_example *e = command->examples;
         e != NULL && e->command != NULL; e++) {
        fprintf(out, ".TP\n.B ");
        man_text(out, e->command);
        man_text(out, e->what);
    }
    fprintf(out, ".SH SEE ALSO\n.BR windlass (1)\n");
}

static void man_group(FILE *out, const struct wndl_command *const *commands,
    enum wndl_command_group group)
{
    fprintf(out, ".SS %s\n", group_titles[group]);
    for (; *commands != NULL; commands++) {
        if ((*commands)->group != group)
            continue;
        fprintf(out, ".TP\n.BR windlass\\-%s (1)\n", (*commands)->name);
        man_text(out, (*commands)->summary);
    }
}

void wndl_man_program(FILE *out, const struct wndl_command *const *commands)
{
    man_head(out, "", "a native profiling toolkit");
    fprintf(out, ".SH SYNOPSIS\n.B windlass\n\\fICOMMAND\\fR [...]\n");
    fprintf(out, ".SH DESCRIPTION\n");
    man_text(out, program_text);
    fprintf(out, ".SH COMMANDS\n");
    for (unsigned group = 0; group < WNDL_GROUP_COUNT; group++)
        man_group(out, commands, (enum wndl_command_group)group);
}
