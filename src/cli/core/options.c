/* SPDX-License-Identifier: MIT */
#include "cli/core/options.h"

#include "cli/core/command.h"
#include "cli/core/suggest.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROBLEM_SIZE = WNDL_PROBLEM_SIZE };

#define COUNT_MAX UINT64_C(1000000000000)
#define SIZE_LIMIT (UINT64_C(1) << 40)

struct parser {
    const struct wndl_command *command;
    void *options;
    char *problem;
    char **next; /* the next argument */
};

static bool complain(struct parser *p, const char *what, const char *about)
{
    snprintf(p->problem, PROBLEM_SIZE, "%s '%s'", what, about);
    return false;
}

/* ---- what was meant */

static void add_problem(struct parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends to the problem, as far as there is room. */
static void add_problem(struct parser *p, const char *format, ...)
{
    const size_t used = strlen(p->problem);
    va_list args;
    va_start(args, format);
    vsnprintf(p->problem + used, PROBLEM_SIZE - used, format, args);
    va_end(args);
}

/* `dashes` come before the word. */
static void add_suggestion(
    struct parser *p, const struct wndl_suggestion *s, const char *dashes)
{
    if (s->best != NULL)
        add_problem(
            p, "; did you mean '%s%.*s'?", dashes, (int)s->best_size, s->best);
}

/* `word` is without dashes and value. */
static bool is_unknown(struct parser *p, const struct wndl_option *rows,
    const char *argument, const char *word)
{
    struct wndl_suggestion s = wndl_suggest(word, strcspn(word, "="));
    for (const struct wndl_option *o = rows; o->name != NULL; o++) {
        if (o->type != WNDL_OPT_OTHERS)
            wndl_suggest_try(&s, o->name, strlen(o->name));
    }
    wndl_suggest_try(&s, "help", 4);
    complain(p, "unknown option", argument);
    add_suggestion(p, &s, word == argument ? "" : "--");
    return false;
}

/* Answers an option of another tool. */
static bool is_of_others(
    struct parser *p, const char *argument, const struct wndl_option *option)
{
    const size_t size =
        argument[1] == '-' ? strcspn(argument, "=") : strlen("-x");
    snprintf(p->problem, PROBLEM_SIZE, "%.*s: %s", (int)size, argument,
        option->value);
    return false;
}

/* ---- values */

static bool set_count(
    struct parser *p, const char *text, const struct wndl_option *option)
{
    uint64_t *field = (uint64_t *)((char *)p->options + option->offset);
    uint64_t value = 0;
    const char *c = text;
    for (; *c >= '0' && *c <= '9' && value <= COUNT_MAX; c++)
        value = value * 10 + (uint64_t)(*c - '0');
    if (c == text || *c != '\0' || value == 0 || value > COUNT_MAX) {
        snprintf(p->problem, PROBLEM_SIZE,
            "--%s takes a whole number of at least 1, not '%s'", option->name,
            text);
        return false;
    }
    *field = value;
    return true;
}

/* Such numbers are of seconds, or shares. */
#define MOST_REAL 1e9

static bool set_real(
    struct parser *p, const char *text, const struct wndl_option *option)
{
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || errno != 0 || !(value > 0) ||
        value > MOST_REAL) {
        snprintf(p->problem, PROBLEM_SIZE,
            "--%s takes a number above 0, at most 1e9, not '%s'", option->name,
            text);
        return false;
    }
    *(double *)((char *)p->options + option->offset) = value;
    return true;
}

/* The power of 2^10 that `letter` stands for; -1 for an unknown letter. */
static int unit_of(char letter)
{
    static const char letters[] = "KMGkmg";
    const char *at = letter == '\0' ? NULL : strchr(letters, letter);
    return letter == '\0' ? 0 : at == NULL ? -1 : (int)(at - letters) % 3 + 1;
}

static bool set_size(
    struct parser *p, const char *text, const struct wndl_option *option)
{
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    int unit = unit_of(*end);
    bool number = *text >= '0' && *text <= '9' && errno == 0 && unit >= 0 &&
                  (*end == '\0' || end[1] == '\0');
    if (!number || value == 0 || value > SIZE_LIMIT >> 10 * unit) {
        snprintf(p->problem, PROBLEM_SIZE,
            "--%s takes a size from 1 to 1024G such as 64M, not '%s'",
            option->name, text);
        return false;
    }
    *(uint64_t *)((char *)p->options + option->offset) = value << 10 * unit;
    return true;
}

static bool set_choice(struct parser *p, const char *text,
    const struct wndl_option *option, unsigned *field)
{
    size_t length = strlen(text);
    unsigned index = 0;
    for (const char *c = option->choices; *c != '\0'; index++) {
        size_t size = strcspn(c, "|");
        if (size == length && memcmp(c, text, size) == 0) {
            *field = index;
            return true;
        }
        c += size;
        if (strncmp(c, "||", 2) == 0)
            index = -1u; /* older words follow, in the same order */
        c += strspn(c, "|");
    }
    struct wndl_suggestion s = wndl_suggest(text, length);
    wndl_suggest_try_choices(&s, option->choices);
    snprintf(p->problem, PROBLEM_SIZE, "--%s takes one of %.*s, not '%.80s'",
        option->name, wndl_choices_size(option->choices), option->choices,
        text);
    add_suggestion(p, &s, "");
    return false;
}

static bool set_chosen(
    struct parser *p, const char *text, const struct wndl_option *option)
{
    struct wndl_option_choice *field =
        (struct wndl_option_choice *)((char *)p->options + option->offset);
    field->given = true;
    return set_choice(p, text, option, &field->index);
}

static bool set_list(
    struct parser *p, const char *text, const struct wndl_option *option)
{
    struct wndl_option_list *list =
        (struct wndl_option_list *)((char *)p->options + option->offset);
    if (list->replaceable)
        *list = (struct wndl_option_list){0};
    if (list->count == WNDL_OPTION_LIST_MAX) {
        snprintf(p->problem, PROBLEM_SIZE, "--%s given more than %d times",
            option->name, WNDL_OPTION_LIST_MAX);
        return false;
    }
    list->texts[list->count++] = text;
    return true;
}

static bool set_value(
    struct parser *p, const char *text, const struct wndl_option *option)
{
    switch (option->type) {
    case WNDL_OPT_FLAG:
        *(bool *)((char *)p->options + option->offset) = true;
        return true;
    case WNDL_OPT_TEXT:
        *(const char **)((char *)p->options + option->offset) = text;
        return true;
    case WNDL_OPT_COUNT:
        return set_count(p, text, option);
    case WNDL_OPT_REAL:
        return set_real(p, text, option);
    case WNDL_OPT_SIZE:
        return set_size(p, text, option);
    case WNDL_OPT_CHOICE:
        return set_choice(
            p, text, option, (unsigned *)((char *)p->options + option->offset));
    case WNDL_OPT_CHOSEN:
        return set_chosen(p, text, option);
    case WNDL_OPT_LIST:
        return set_list(p, text, option);
    case WNDL_OPT_OTHERS:
        break;
    }
    return false;
}

static bool set_defaults(struct parser *p, const struct wndl_option *rows)
{
    for (const struct wndl_option *o = rows; o->name != NULL; o++) {
        const char *env = o->env == NULL ? NULL : getenv(o->env);
        const char *text = env == NULL || *env == '\0' ? o->fallback : env;
        if (text != NULL && !set_value(p, text, o))
            return false;
        if (o->type == WNDL_OPT_CHOSEN)
            ((struct wndl_option_choice *)((char *)p->options + o->offset))
                ->given = false;
    }
    return true;
}

static const struct wndl_option *find_long(
    const struct wndl_option *rows, const char *name, size_t size)
{
    for (const struct wndl_option *o = rows; o->name != NULL; o++) {
        if (strlen(o->name) == size && memcmp(o->name, name, size) == 0)
            return o;
    }
    return NULL;
}

static const struct wndl_option *find_letter(
    const struct wndl_command *command, char letter)
{
    for (const struct wndl_option *o = command->options; o->name != NULL; o++) {
        if (o->letter == letter)
            return o;
    }
    return NULL;
}

static bool needs_value(struct parser *p, const char *spelled)
{
    snprintf(p->problem, PROBLEM_SIZE, "%s needs a value", spelled);
    return false;
}

static bool takes_no_value(struct parser *p, const char *spelled)
{
    snprintf(p->problem, PROBLEM_SIZE, "%.*s takes no value",
        (int)strcspn(spelled, "="), spelled);
    return false;
}

/* `attached` is the text after "=" or after the letter, or NULL. */
static bool take_value(struct parser *p, const struct wndl_option *option,
    const char *attached, const char *spelled)
{
    if (attached != NULL)
        return set_value(p, attached, option);
    if (*p->next == NULL)
        return needs_value(p, spelled);
    return set_value(p, *p->next++, option);
}

/* ---- options of the environment */

/* "name" or "name=value". */
static bool parse_env_option(struct parser *p, const char *word)
{
    size_t size = strcspn(word, "=");
    const char *value = word[size] == '=' ? word + size + 1 : NULL;
    const struct wndl_option *option =
        find_long(p->command->env_options, word, size);
    if (option == NULL || option->type == WNDL_OPT_OTHERS)
        return is_unknown(p, p->command->env_options, word, word);
    if ((option->type == WNDL_OPT_FLAG) != (value == NULL))
        return value == NULL ? needs_value(p, word) : takes_no_value(p, word);
    return set_value(p, value, option);
}

static void make_replaceable(struct parser *p)
{
    for (const struct wndl_option *o = p->command->env_options; o->name != NULL;
         o++) {
        if (o->type == WNDL_OPT_LIST)
            ((struct wndl_option_list *)((char *)p->options + o->offset))
                ->replaceable = true;
    }
}

/* Values of options point into `words`, which must not be freed. */
static bool parse_env_options(struct parser *p, char *words)
{
    static const char separators[] = " ,\t\n";
    char *rest;
    for (char *word = strtok_r(words, separators, &rest); word != NULL;
         word = strtok_r(NULL, separators, &rest)) {
        char why[PROBLEM_SIZE];
        if (parse_env_option(p, word))
            continue;
        memcpy(why, p->problem, sizeof why);
        snprintf(p->problem, PROBLEM_SIZE, WNDL_OPTIONS_ENV ": %.*s",
            (int)(PROBLEM_SIZE - sizeof WNDL_OPTIONS_ENV - 2), why);
        return false;
    }
    make_replaceable(p);
    return true;
}

static bool asks_for_help(const char *text)
{
    return text != NULL && strcmp(text, "help") == 0;
}

static const char *env_option_text(void)
{
    const char *text = getenv(WNDL_OPTIONS_ENV);
    return text == NULL || asks_for_help(text) ? "" : text;
}

/* Parses a copy: programs that are started inherit the variable unchanged. */
static bool parse_environment(struct parser *p)
{
    static char *words;
    const char *text = env_option_text();
    if (p->command->env_options == NULL)
        return true;
    if (p->command->env_options != p->command->options &&
        !set_defaults(p, p->command->env_options))
        return false;
    free(words);
    words = strdup(text);
    return words == NULL ? complain(p, "out of memory at", text)
                         : parse_env_options(p, words);
}

/* ---- arguments */

static bool parse_long(struct parser *p, const char *argument)
{
    const char *name = argument + 2;
    size_t size = strcspn(name, "=");
    const char *attached = name[size] == '=' ? name + size + 1 : NULL;
    const struct wndl_option *option =
        find_long(p->command->options, name, size);
    if (option == NULL)
        return is_unknown(p, p->command->options, argument, name);
    if (option->type == WNDL_OPT_OTHERS)
        return is_of_others(p, argument, option);
    if (option->type != WNDL_OPT_FLAG)
        return take_value(p, option, attached, argument);
    if (attached != NULL)
        return takes_no_value(p, argument);
    return set_value(p, NULL, option);
}

static bool parse_letters(struct parser *p, const char *argument)
{
    for (const char *c = argument + 1; *c != '\0'; c++) {
        const struct wndl_option *option = find_letter(p->command, *c);
        if (option == NULL)
            return is_unknown(p, p->command->options, argument, argument + 1);
        if (option->type == WNDL_OPT_OTHERS)
            return is_of_others(p, argument, option);
        if (option->type != WNDL_OPT_FLAG)
            return take_value(p, option, c[1] == '\0' ? NULL : c + 1, argument);
        set_value(p, NULL, option);
    }
    return true;
}

static bool is_help(const char *argument)
{
    return strcmp(argument, "-h") == 0 || strcmp(argument, "--help") == 0;
}

/* The first word after those given, of the operands without brackets. */
static void say_missing(struct parser *p, size_t given)
{
    const char *word = p->command->operands;
    while (*word == '[' || (given > 0 && strchr(word, ' ') != NULL)) {
        given -= *word != '[';
        word += strcspn(word, " ") + 1;
    }
    snprintf(p->problem, PROBLEM_SIZE, "%.*s is missing",
        (int)strcspn(word, " "), word);
}

/* Whether the action, if one is given, is among those of the command. */
static bool check_action(struct parser *p, const struct wndl_operands *operands)
{
    const struct wndl_command *c = p->command;
    if (c->actions == NULL || operands->count <= c->action_at)
        return true;
    const char *word = operands->texts[c->action_at];
    const size_t size = strlen(word);
    for (const char *at = c->actions; *at != '\0'; at += strspn(at, "|")) {
        const size_t length = strcspn(at, "|");
        if (length == size && memcmp(at, word, size) == 0)
            return true;
        at += length;
    }
    struct wndl_suggestion s = wndl_suggest(word, size);
    wndl_suggest_try_choices(&s, c->actions);
    snprintf(p->problem, PROBLEM_SIZE, "'%s' is not an action", word);
    add_suggestion(p, &s, "");
    return false;
}

static enum wndl_parse_result check_operands(
    struct parser *p, const struct wndl_operands *operands)
{
    if (operands->count < p->command->min_operands)
        say_missing(p, operands->count);
    else if (operands->count > p->command->max_operands)
        complain(p, "unexpected argument",
            operands->texts[p->command->max_operands]);
    else if (check_action(p, operands))
        return WNDL_PARSE_OK;
    return WNDL_PARSE_ERROR;
}

enum wndl_parse_result wndl_options_parse(const struct wndl_command *command,
    char **argv, void *options, struct wndl_operands *operands,
    char problem[WNDL_PROBLEM_SIZE])
{
    struct parser p = {command, options, problem, argv};
    *operands = (struct wndl_operands){argv, 0};
    if (command->env_options == command->options &&
        command->env_options != NULL && asks_for_help(getenv(WNDL_OPTIONS_ENV)))
        return WNDL_PARSE_HELP;
    if (!set_defaults(&p, command->options) || !parse_environment(&p))
        return WNDL_PARSE_ERROR;
    bool only_operands = false;
    while (*p.next != NULL) {
        char *argument = *p.next++;
        bool is_separator = command->operands_in_groups &&
                            operands->count != 0 && strcmp(argument, "--") == 0;
        bool is_operand = only_operands || is_separator || argument[0] != '-' ||
                          argument[1] == '\0';
        if (is_operand) {
            argv[operands->count++] = argument;
            only_operands |= command->operands_end_options;
        } else if (strcmp(argument, "--") == 0) {
            only_operands = true;
        } else if (is_help(argument)) {
            return WNDL_PARSE_HELP;
        } else if (argument[1] == '-' ? !parse_long(&p, argument)
                                      : !parse_letters(&p, argument)) {
            return WNDL_PARSE_ERROR;
        }
    }
    argv[operands->count] = NULL;
    return check_operands(&p, operands);
}
