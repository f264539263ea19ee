/* SPDX-License-Identifier: MIT */
#include "cli/core/completion.h"

/* The operands and values that fish offers; it completes files by itself. */
static const char *const lists[] = {
    [WNDL_COMPLETED_NONE] = NULL,
    [WNDL_COMPLETED_FILES] = NULL,
    [WNDL_COMPLETED_FOLDERS] = "(__fish_complete_directories)",
    [WNDL_COMPLETED_RECORDINGS] = "(__windlass_recordings)",
    [WNDL_COMPLETED_PIDS] = "(__fish_complete_pids)",
    [WNDL_COMPLETED_PROGRAMS] = "(__fish_complete_command)",
};

/* In single quotes. */
static void put_text(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('\'', out);
}

static void put_start(FILE *out, const struct wndl_command *c)
{
    fprintf(out, "complete -c windlass -n '__windlass_is %s'", c->name);
}

static void put_option(
    FILE *out, const struct wndl_command *c, const struct wndl_option *o)
{
    put_start(out, c);
    if (o->letter != 0)
        fprintf(out, " -s %c", o->letter);
    fprintf(out, " -l %s", o->name);
    const enum wndl_completed value = wndl_completed_value(o);
    if (o->choices != NULL) {
        fprintf(out, " -x -a '");
        wndl_completion_choices(out, o->choices, ' ');
        fprintf(out, "'");
    } else if (o->type != WNDL_OPT_FLAG && lists[value] != NULL) {
        fprintf(out, " -x -a '%s'", lists[value]);
    } else if (o->type != WNDL_OPT_FLAG) {
        fprintf(out, value == WNDL_COMPLETED_FILES ? " -r -F" : " -x");
    }
    fprintf(out, " -d ");
    put_text(out, o->help);
    fputc('\n', out);
}

static void put_operands(FILE *out, const struct wndl_command *c)
{
    const enum wndl_completed operand = wndl_completed_operand(c);
    if (c->operands_end_options) {
        put_start(out, c);
        fprintf(out, " -x -a '(__windlass_program)'\n");
        return;
    }
    if (c->actions != NULL) {
        fprintf(out, "complete -c windlass -n '__windlass_is %s %zu' -x -a '",
            c->name, c->action_at);
        wndl_completion_choices(out, c->actions, ' ');
        fprintf(out, "'\n");
    }
    if (lists[operand] != NULL) {
        fprintf(out,
            "complete -c windlass -n '__windlass_is %s%s' -x -a '%s'\n",
            c->name, c->actions != NULL ? " 0" : "", lists[operand]);
    } else if (operand == WNDL_COMPLETED_FILES) {
        put_start(out, c);
        fprintf(out, " -F\n");
    }
}

/* A command to record begins at the first word that is no option and no value
 * of one; fish completes from there as if it stood alone. */
static void put_helpers(FILE *out, const struct wndl_command *const *commands)
{
    fprintf(out,
        "# windlass: completion for fish, made by windlass --completion-fish.\n"
        "function __windlass_is\n"
        "    set -l words (commandline -opc)\n"
        "    test (count $words) -ge 2; and test \"$words[2]\" = $argv[1]\n"
        "    or return 1\n"
        "    test (count $argv) -lt 2; or test (count $words) -eq (math 2 + "
        "$argv[2])\n"
        "end\n"
        "function __windlass_recordings\n"
        "    set -l start (commandline -ct)\n"
        "    for file in $start*.wndl*\n"
        "        echo $file\n"
        "    end\n"
        "    __fish_complete_directories $start\n"
        "end\n"
        "function __windlass_program\n"
        "    set -l valued");
    for (size_t i = 0; commands[i] != NULL; i++) {
        if (!commands[i]->operands_end_options)
            continue;
        for (const struct wndl_option *o =
                 wndl_option_shown(commands[i]->options);
             o->name != NULL; o = wndl_option_shown(o + 1)) {
            if (o->type == WNDL_OPT_FLAG)
                continue;
            if (o->letter != 0)
                fprintf(out, " -%c", o->letter);
            fprintf(out, " --%s", o->name);
        }
    }
    fprintf(out,
        "\n"
        "    set -l words (commandline -opc)[3..]\n"
        "    while set -q words[1]; and string match -q -- '-*' $words[1]\n"
        "        set -l word $words[1]\n"
        "        set -e words[1]\n"
        "        test $word = --; and break\n"
        "        contains -- $word $valued; and set -e words[1]\n"
        "    end\n"
        "    set -l current (commandline -ct)\n"
        "    if set -q words[1]\n"
        "        complete -C (string join -- ' ' (string escape -- $words) "
        "$current)\n"
        "    else\n"
        "        __fish_complete_command\n"
        "    end\n"
        "end\n"
        "complete -c windlass -f\n");
}

void wndl_completion_fish(FILE *out, const struct wndl_command *const *commands)
{
    put_helpers(out, commands);
    for (size_t i = 0; commands[i] != NULL; i++) {
        fprintf(out,
            "complete -c windlass -n '__fish_use_subcommand' -a %s -d ",
            commands[i]->name);
        put_text(out, commands[i]->summary);
        fputc('\n', out);
        fprintf(out, "complete -c windlass -n '__windlass_is help 0' -a %s\n",
            commands[i]->name);
    }
    for (size_t i = 0; commands[i] != NULL; i++) {
        for (const struct wndl_option *o =
                 wndl_option_shown(commands[i]->options);
             o->name != NULL; o = wndl_option_shown(o + 1))
            put_option(out, commands[i], o);
        put_operands(out, commands[i]);
    }
}
