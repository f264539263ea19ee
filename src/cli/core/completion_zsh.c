/* SPDX-License-Identifier: MIT */
#include "cli/core/completion.h"

#include <stdbool.h>
#include <string.h>

static const char *const actions[] = {
    [WNDL_COMPLETED_NONE] = " ",
    [WNDL_COMPLETED_FILES] = "_files",
    [WNDL_COMPLETED_FOLDERS] = "_files -/",
    [WNDL_COMPLETED_RECORDINGS] = "_windlass_recordings",
    [WNDL_COMPLETED_PIDS] = "_pids",
    [WNDL_COMPLETED_PROGRAMS] = "_command_names -e",
};

/* Text within single quotes, where _arguments gives some letters a meaning. */
static void put_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else if (strchr("[]:\\", *text) != NULL)
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

static void put_value(FILE *out, const struct wndl_option *o)
{
    if (o->type == WNDL_OPT_FLAG)
        return;
    fputc(':', out);
    put_text(out, o->value != NULL ? o->value : o->name);
    fputc(':', out);
    if (o->choices == NULL) {
        fputs(actions[wndl_completed_value(o)], out);
        return;
    }
    fputc('(', out);
    wndl_completion_choices(out, o->choices, ' ');
    fputc(')', out);
}

/* "-n+" and "--rows=": the value may follow at once, or as a word. */
static void put_option(FILE *out, const struct wndl_option *o)
{
    const bool valued = o->type != WNDL_OPT_FLAG;
    const bool repeats = o->type == WNDL_OPT_LIST;
    fprintf(out, "      ");
    if (o->letter == 0)
        fprintf(
            out, "'%s--%s%s", repeats ? "*" : "", o->name, valued ? "=" : "");
    else if (repeats)
        fprintf(out, "'*'{-%c%s,--%s%s}'", o->letter, valued ? "+" : "",
            o->name, valued ? "=" : "");
    else
        fprintf(out, "'(-%c --%s)'{-%c%s,--%s%s}'", o->letter, o->name,
            o->letter, valued ? "+" : "", o->name, valued ? "=" : "");
    fputc('[', out);
    put_text(out, o->help);
    fputc(']', out);
    put_value(out, o);
    fprintf(out, "' \\\n");
}

static void put_operands(FILE *out, const struct wndl_command *c)
{
    const enum wndl_completed operand = wndl_completed_operand(c);
    if (c->operands_end_options) {
        fprintf(out, "      '(-):command:%s' '*::arguments:_normal'\n",
            actions[operand]);
        return;
    }
    if (c->actions == NULL) {
        fprintf(out, "      '*:%s:%s'\n",
            operand == WNDL_COMPLETED_RECORDINGS ? "recording" : "operand",
            actions[operand]);
        return;
    }
    if (c->action_at != 0)
        fprintf(out, "      '1:operand:%s' ", actions[operand]);
    else
        fprintf(out, "      ");
    fprintf(out, "'%zu:action:(", c->action_at + 1);
    wndl_completion_choices(out, c->actions, ' ');
    fprintf(out, ")'%s\n", c->action_at == 0 ? " '*:file:_files'" : "");
}

static void put_command(FILE *out, const struct wndl_command *c)
{
    fprintf(out, "  %s)\n    _arguments -s -S \\\n", c->name);
    for (const struct wndl_option *o = wndl_option_shown(c->options);
         o->name != NULL; o = wndl_option_shown(o + 1))
        put_option(out, o);
    fprintf(out, "      '(- *)'{-h,--help}'[show this help]' \\\n");
    put_operands(out, c);
    fprintf(out, "    ;;\n");
}

void wndl_completion_zsh(FILE *out, const struct wndl_command *const *commands)
{
    fprintf(out, "#compdef windlass\n"
                 "# Made by windlass --completion-zsh.\n"
                 "_windlass_recordings() {\n"
                 "  _files -g '*.wndl*(-.)' || _files\n"
                 "}\n"
                 "_windlass() {\n  local -a names\n  names=(\n");
    for (size_t i = 0; commands[i] != NULL; i++) {
        fprintf(out, "    '%s:", commands[i]->name);
        put_text(out, commands[i]->summary);
        fprintf(out, "'\n");
    }
    fprintf(out, "    'help:show the options of a command'\n  )\n"
                 "  if (( CURRENT == 2 )); then\n"
                 "    _describe -t commands 'windlass command' names\n"
                 "    return\n  fi\n"
                 "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n"
                 "  case $command in\n"
                 "  help) (( CURRENT > 2 )) || _describe -t commands "
                 "'windlass command' names ;;\n");
    for (size_t i = 0; commands[i] != NULL; i++)
        put_command(out, commands[i]);
    fprintf(out, "  esac\n}\n_windlass \"$@\"\n");
}
