/* SPDX-License-Identifier: MIT */
/* completion for bash, and what the shells share. */
#include "cli/core/completion.h"

#include <string.h>

/* ---- what is completed */

/* By the name of the value, which help shows, too. */
static const struct {
    const char *value;
    enum wndl_completed what;
} values[] = {
    {"FILE", WNDL_COMPLETED_FILES},
    {"OUT", WNDL_COMPLETED_FILES},
    {"OBJ", WNDL_COMPLETED_FILES},
    {"TABLE", WNDL_COMPLETED_FILES},
    {"CORE", WNDL_COMPLETED_FILES},
    {"MODULE=FILE", WNDL_COMPLETED_FILES},
    {"DIR", WNDL_COMPLETED_FOLDERS},
    {"FOLDER", WNDL_COMPLETED_FOLDERS},
    {"PID", WNDL_COMPLETED_PIDS},
};

static enum wndl_completed completed_word(const char *word, size_t size)
{
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (strlen(values[i].value) == size &&
            memcmp(values[i].value, word, size) == 0)
            return values[i].what;
    }
    return WNDL_COMPLETED_NONE;
}

enum wndl_completed wndl_completed_value(const struct wndl_option *option)
{
    return option->choices != NULL || option->value == NULL
               ? WNDL_COMPLETED_NONE
               : completed_word(option->value, strlen(option->value));
}

/* By the first word of the operands. */
enum wndl_completed wndl_completed_operand(const struct wndl_command *command)
{
    const char *word = command->operands;
    if (strncmp(word, "[--] ", 5) == 0)
        word += 5;
    word += strspn(word, "[");
    const size_t size = strcspn(word, " ].");
    if (strncmp(word, "COMMAND", size) == 0 && size != 0)
        return WNDL_COMPLETED_PROGRAMS;
    if (command->takes_recordings)
        return WNDL_COMPLETED_RECORDINGS;
    if (command->actions != NULL && command->action_at == 0)
        return WNDL_COMPLETED_FILES;
    return completed_word(word, size);
}

const struct wndl_option *wndl_option_shown(const struct wndl_option *row)
{
    while (row->name != NULL && row->help == NULL)
        row++;
    return row;
}

void wndl_completion_choices(FILE *out, const char *choices, char separator)
{
    const int size = wndl_choices_size(choices);
    for (int i = 0; i < size; i++)
        fputc(choices[i] == '|' ? separator : choices[i], out);
}

/* ---- bash */

/* The kinds of both words, according to the tables below. */
static const char bash_start[] =
    "# windlass: completion for bash, made by windlass --completion-bash.\n"
    "_windlass_files() {\n"
    "  compopt -o filenames 2>/dev/null\n"
    "  case $1 in\n"
    "  files) mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
    "  folders) mapfile -t COMPREPLY < <(compgen -d -- \"$cur\") ;;\n"
    "  recordings)\n"
    "    mapfile -t COMPREPLY < <(compgen -f -X '!*.wndl*' -- \"$cur\"\n"
    "      compgen -d -- \"$cur\")\n"
    "    [[ ${#COMPREPLY[@]} -ne 0 ]] ||\n"
    "      mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
    "  esac\n"
    "}\n"
    "_windlass_kind() {\n"
    "  case $1 in\n"
    "  files | folders | recordings) _windlass_files \"$1\" ;;\n"
    "  pids) _windlass_words \"$(cd /proc && echo [0-9]*)\" ;;\n"
    "  programs) mapfile -t COMPREPLY < <(compgen -c -- \"$cur\") ;;\n"
    "  esac\n"
    "}\n"
    "_windlass_words() {\n"
    "  mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n"
    "}\n"
    "# The command to record, from word $1 on.\n"
    "_windlass_program() {\n"
    "  if [[ $COMP_CWORD -eq $1 ]]; then\n"
    "    _windlass_kind programs\n"
    "    [[ $cur != */* ]] || _windlass_files files\n"
    "  elif declare -F _command_offset >/dev/null; then\n"
    "    _command_offset \"$1\"\n"
    "  else\n"
    "    _windlass_files files\n"
    "  fi\n"
    "}\n";

static const char bash_end[] =
    "  # Words up to the cursor: operands so far, and where a command starts.\n"
    "  local i word ended= count=0\n"
    "  for ((i = 2; i < COMP_CWORD; i++)); do\n"
    "    word=${COMP_WORDS[i]}\n"
    "    if [[ $word == -- ]]; then\n"
    "      ended=1\n"
    "      [[ -z $ends ]] || { _windlass_program $((i + 1)); return; }\n"
    "    elif [[ -z $ended && $word == -?* ]]; then\n"
    "      [[ $valued != *\" $word \"* ]] || {\n"
    "        [[ ${COMP_WORDS[i + 1]-} != = ]] || ((i++))\n"
    "        ((i++))\n"
    "      }\n"
    "    else\n"
    "      [[ -z $ends ]] || { _windlass_program \"$i\"; return; }\n"
    "      ((count++))\n"
    "    fi\n"
    "  done\n"
    "  if [[ -z $ended && $valued == *\" $prev \"* ]]; then\n"
    "    if [[ -n $choices ]]; then\n"
    "      _windlass_words \"$choices\"\n"
    "    else\n"
    "      _windlass_kind \"$value\"\n"
    "    fi\n"
    "    [[ -z $joined ]] || COMPREPLY=(\"${COMPREPLY[@]/#/$prev=}\")\n"
    "  elif [[ -z $ended && $cur == -* ]]; then\n"
    "    _windlass_words \"$options\"\n"
    "  elif [[ $count -eq $action_at ]]; then\n"
    "    _windlass_words \"$actions\"\n"
    "  elif [[ -n $ends ]]; then\n"
    "    _windlass_program \"$COMP_CWORD\"\n"
    "    [[ -n $cur || -n $ended ]] || COMPREPLY+=($options)\n"
    "  else\n"
    "    _windlass_kind \"$operand\"\n"
    "  fi\n"
    "}\n"
    "complete -F _windlass windlass\n";

static const char *const kind_names[] = {
    [WNDL_COMPLETED_NONE] = "none",
    [WNDL_COMPLETED_FILES] = "files",
    [WNDL_COMPLETED_FOLDERS] = "folders",
    [WNDL_COMPLETED_RECORDINGS] = "recordings",
    [WNDL_COMPLETED_PIDS] = "pids",
    [WNDL_COMPLETED_PROGRAMS] = "programs",
};

static void bash_spellings(
    FILE *out, const struct wndl_option *o, const char *separator)
{
    if (o->letter != 0)
        fprintf(out, "-%c%s", o->letter, separator);
    fprintf(out, "--%s", o->name);
}

static void bash_options(FILE *out, const struct wndl_command *command)
{
    fprintf(out, "    options='");
    for (const struct wndl_option *o = wndl_option_shown(command->options);
         o->name != NULL; o = wndl_option_shown(o + 1))
        fprintf(out, "--%s ", o->name);
    fprintf(out, "--help'\n    valued=' ");
    for (const struct wndl_option *o = wndl_option_shown(command->options);
         o->name != NULL; o = wndl_option_shown(o + 1)) {
        if (o->type == WNDL_OPT_FLAG)
            continue;
        bash_spellings(out, o, " ");
        fputc(' ', out);
    }
    fprintf(out, "'\n");
}

/* The values of options, by the word before. */
static void bash_values(FILE *out, const struct wndl_command *command)
{
    fprintf(out, "    case $prev in\n");
    for (const struct wndl_option *o = wndl_option_shown(command->options);
         o->name != NULL; o = wndl_option_shown(o + 1)) {
        if (o->type == WNDL_OPT_FLAG)
            continue;
        fprintf(out, "    ");
        bash_spellings(out, o, " | ");
        if (o->choices == NULL) {
            fprintf(
                out, ") value=%s ;;\n", kind_names[wndl_completed_value(o)]);
            continue;
        }
        fprintf(out, ") choices='");
        wndl_completion_choices(out, o->choices, ' ');
        fprintf(out, "' ;;\n");
    }
    fprintf(out, "    *) ;;\n    esac\n");
}

static void bash_command(FILE *out, const struct wndl_command *command)
{
    fprintf(out, "  %s)\n", command->name);
    bash_options(out, command);
    fprintf(
        out, "    operand=%s\n", kind_names[wndl_completed_operand(command)]);
    if (command->operands_end_options)
        fprintf(out, "    ends=1\n");
    if (command->actions != NULL) {
        fprintf(out, "    action_at=%zu actions='", command->action_at);
        wndl_completion_choices(out, command->actions, ' ');
        fprintf(out, "'\n");
    }
    bash_values(out, command);
    fprintf(out, "    ;;\n");
}

static void bash_names(FILE *out, const struct wndl_command *const *commands)
{
    for (size_t i = 0; commands[i] != NULL; i++)
        fprintf(out, "%s ", commands[i]->name);
}

void wndl_completion_bash(FILE *out, const struct wndl_command *const *commands)
{
    fputs(bash_start, out);
    fprintf(out,
        "_windlass() {\n"
        "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - "
        "1]}\n"
        "  local options= valued= choices= value=none operand=none ends= "
        "joined=\n"
        "  local actions= action_at=-1\n"
        "  COMPREPLY=()\n"
        "  if [[ $cur == = ]]; then\n    cur=\n"
        "  elif [[ $prev == = ]]; then\n"
        "    prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
        "  elif [[ $cur == --*=* ]]; then\n"
        "    prev=${cur%%%%=*} cur=${cur#*=} joined=1\n  fi\n"
        "  if [[ $COMP_CWORD -eq 1 ]]; then\n    _windlass_words '");
    bash_names(out, commands);
    fprintf(out, "help version --help --version'\n    return\n  fi\n"
                 "  case ${COMP_WORDS[1]} in\n"
                 "  help) [[ $COMP_CWORD -gt 2 ]] || _windlass_words '");
    bash_names(out, commands);
    fprintf(out, "'\n    return ;;\n");
    for (size_t i = 0; commands[i] != NULL; i++)
        bash_command(out, commands[i]);
    fprintf(out, "  *) return ;;\n  esac\n%s", bash_end);
}
