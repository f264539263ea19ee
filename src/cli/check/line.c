/* SPDX-License-Identifier: MIT */
#include "cli/check/line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct line {
    struct wndl_vec words; /* char * */
    struct wndl_arena *arena;
    bool failed;
};

static void add_copy(struct line *line, const char *text, size_t size)
{
    char **slot = wndl_vec_push(&line->words);
    char *copy = wndl_arena_copy(line->arena, text, size);
    line->failed |= slot == NULL || copy == NULL;
    if (slot != NULL)
        *slot = copy;
}

static void add(struct line *line, const char *text)
{
    add_copy(line, text, strlen(text));
}

static void add_value(struct line *line, const char *option, const char *value)
{
    struct wndl_buf text;
    wndl_buf_init(&text, line->arena->mem);
    wndl_buf_text(&text, option);
    wndl_buf_text(&text, value);
    line->failed |= text.failed;
    if (!text.failed)
        add_copy(line, (const char *)text.data, text.size);
    wndl_buf_free(&text);
}

static void add_number(struct line *line, const char *option, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    add_value(line, option, text);
}

void wndl_check_part_name(
    const struct wndl_check_part *part, char *name, size_t size)
{
    snprintf(name, size, "%" PRIu32 "-%" PRIu64 "-%d.", part->run, part->shard,
        part->origins);
}

void wndl_check_part_path(const struct wndl_check_session *session,
    const struct wndl_check_part *part, const char *suffix, char *path,
    size_t size)
{
    char name[64];
    wndl_check_part_name(part, name, sizeof name);
    snprintf(path, size, "%s/%s%" PRIu32 "%s", session->folder, name,
        part->program, suffix);
}

static void add_file(struct line *line, const struct wndl_check_session *s,
    const struct wndl_check_part *part, const char *option, const char *suffix)
{
    char path[PATH_MAX + 128];
    wndl_check_part_path(s, part, suffix, path, sizeof path);
    add_value(line, option, path);
}

/* ---- options */

static void add_memcheck(struct line *line, const struct wndl_check_session *s,
    const struct wndl_check_part *part)
{
    if (s->options->leaks == WNDL_LEAKS_NONE) {
        add(line, "--leak-check=no");
    } else {
        const bool possible = s->options->leaks == WNDL_LEAKS_POSSIBLE;
        add(line, "--leak-check=full");
        add(line, possible ? "--show-leak-kinds=definite,possible"
                           : "--show-leak-kinds=definite");
    }
    if (part->origins)
        add(line, "--track-origins=yes");
}

/*
 * Threads change places after so many blocks of code. Blocks of another length,
 * and another order of those that wait, are another schedule.
 */
static void add_schedule(struct line *line, const struct wndl_check_part *part)
{
    enum { LONGEST = 50, STEP = 7, CHOICES = 45 };
    if (part->run == 0)
        return;
    if (part->run % 2 != 0)
        add(line, "--fair-sched=try");
    add_number(line, "--vex-guest-max-insns=",
        LONGEST - (uint64_t)part->run * STEP % CHOICES);
}

static void add_output(struct line *line, const struct wndl_check_session *s,
    const struct wndl_check_part *part)
{
    add(line, "--xml=yes");
    /* A forked child opens a file of its own if its name is another one, but
     * only the first of the two: the log keeps its name. */
    add_file(line, s, part, "--xml-file=", ".%p.xml");
    if (s->options->log_socket != NULL)
        add_value(line, "--log-socket=", s->options->log_socket);
    else if (!s->options->gdb)
        add_file(line, s, part, "--log-file=", ".log");
}

static void add_options(struct line *line, const struct wndl_check_session *s,
    const struct wndl_check_part *part)
{
    const struct wndl_check_options *o = s->options;
    add_value(line, "--tool=", wndl_check_tool_name(s->tool));
    add_output(line, s, part);
    add(line, "--num-callers=24");
    add(line, "--trace-children=no");
    if (s->tool == WNDL_MEMCHECK)
        add_memcheck(line, s, part);
    else
        add_schedule(line, part);
    if (s->program.reads_no_inline)
        add(line, "--read-inline-info=no");
    if (o->gdb) {
        add(line, "--vgdb=yes");
        add(line, "--vgdb-error=1");
    }
    if (s->suppressions[0] != '\0')
        add_value(line, "--suppressions=", s->suppressions);
    for (size_t i = 0; i < o->suppressions.count; i++)
        add_value(line, "--suppressions=", o->suppressions.texts[i]);
    for (size_t i = 0; i < o->valgrind.count; i++)
        add(line, o->valgrind.texts[i]);
}

/* ---- the command */

/* A word of the command; {shard} and {shards} stand for numbers. */
static void add_word(struct line *line, const char *word,
    const struct wndl_check_part *part, uint64_t shards)
{
    struct wndl_buf text;
    wndl_buf_init(&text, line->arena->mem);
    while (*word != '\0') {
        if (strncmp(word, "{shard}", 7) == 0) {
            wndl_buf_printf(&text, "%" PRIu64, part->shard + 1);
            word += 7;
        } else if (strncmp(word, "{shards}", 8) == 0) {
            wndl_buf_printf(&text, "%" PRIu64, shards);
            word += 8;
        } else {
            wndl_buf_byte(&text, (uint8_t)*word++);
        }
    }
    line->failed |= text.failed;
    add_copy(line, text.size == 0 ? "" : (const char *)text.data, text.size);
    wndl_buf_free(&text);
}

static struct line new_line(struct wndl_check_session *session)
{
    struct line line = {.arena = &session->arena};
    wndl_vec_init(&line.words, line.arena, sizeof(char *));
    return line;
}

static void add_start(struct line *line,
    const struct wndl_check_session *session,
    const struct wndl_check_part *part)
{
    add(line, session->valgrind);
    add_options(line, session, part);
    add(line, "--");
}

static char **end_line(struct line *line)
{
    return wndl_vec_push(&line->words) == NULL || line->failed
               ? NULL
               : line->words.data;
}

char **wndl_check_line_start(struct wndl_check_session *session,
    const struct wndl_check_part *part, size_t *count)
{
    struct line line = new_line(session);
    add_start(&line, session, part);
    *count = line.words.len;
    return end_line(&line);
}

char **wndl_check_line(
    struct wndl_check_session *session, const struct wndl_check_part *part)
{
    struct line line = new_line(session);
    if (session->options->wrap.count == 0)
        add_start(&line, session, part);
    for (char **word = session->command; *word != NULL; word++) {
        if (session->options->shards == 0)
            add(&line, *word);
        else
            add_word(&line, *word, part, session->options->shards);
    }
    return end_line(&line);
}
