/* SPDX-License-Identifier: MIT */
#include "cli/check/report.h"

#include "analyze/check/findings.h"
#include "base/text.h"
#include "cli/check/history.h"
#include "cli/core/command.h"
#include "cli/core/input.h"
#include "cli/core/output.h"
#include "cli/core/shell_word.h"
#include "in/check_list.h"
#include "out/check/check_html.h"
#include "out/check/check_json.h"
#include "out/check/check_text.h"

#include <string.h>

enum { USUAL_ROWS = 20 };

/* ---- the baseline */

static bool read_baseline(struct wndl_check_report *r, const char *path)
{
    struct wndl_input input;
    struct wndl_error err = {0};
    if (!wndl_input_open(&input, path))
        return false;
    const bool fine =
        wndl_check_list_read(&r->list.known, input.bytes, &err) == WNDL_OK;
    if (!fine)
        wndl_input_error(&input, &err);
    wndl_input_close(&input);
    r->list.has_baseline = true;
    return fine;
}

bool wndl_check_report_open(
    struct wndl_check_report *report, const struct wndl_check_options *options)
{
    *report = (struct wndl_check_report){.options = options};
    wndl_arena_init(&report->arena, wndl_mem_libc());
    wndl_vec_init(
        &report->list.known, &report->arena, sizeof(struct wndl_known_finding));
    for (size_t i = 0; i < options->outputs.count; i++) {
        if (!wndl_output_may_write(options->outputs.texts[i], NULL))
            return false;
    }
    return options->baseline == NULL ||
           read_baseline(report, options->baseline);
}

void wndl_check_report_close(struct wndl_check_report *report)
{
    wndl_arena_free(&report->arena);
}

/* ---- the list */

/* The command as a shell would take it, in memory of the report. */
static const char *command_text(struct wndl_check_report *r, char **command)
{
    struct wndl_buf text;
    wndl_buf_init(&text, wndl_mem_libc());
    for (char **word = command; *word != NULL; word++) {
        if (word != command)
            wndl_buf_byte(&text, ' ');
        wndl_shell_word(&text, *word);
    }
    const char *copy =
        text.failed ? NULL : wndl_arena_copy(&r->arena, text.data, text.size);
    wndl_buf_free(&text);
    return copy;
}

static bool fill(struct wndl_check_report *r, struct wndl_check_session *s)
{
    struct wndl_finding_list *list = &r->list;
    list->check = &s->check;
    list->runs = s->runs;
    list->tool = wndl_check_tool_name(s->tool);
    list->command = command_text(r, s->command);
    if (s->check.damaged != 0)
        wndl_check_note(&s->notes,
            "%llu errors could not be read: processes wrote into one file at "
            "the same time",
            (unsigned long long)s->check.damaged);
    if (s->options->wrap.count != 0 && wndl_check_process_count(&s->check) == 0)
        wndl_check_note(
            &s->notes, "no program that was started matches --wrap");
    if (wndl_vec_push(&s->notes) == NULL || list->command == NULL)
        return false;
    list->notes = s->notes.data;
    return wndl_findings_list(list, s->program.path);
}

/* ---- where it goes */

static bool write_list(const struct wndl_finding_list *list, const char *path,
    struct wndl_buf *text)
{
    return wndl_text_ends_with(path, ".html") ? wndl_check_html(text, list)
                                              : wndl_check_json(text, list);
}

static int write_file(const struct wndl_finding_list *list, const char *path)
{
    struct wndl_buf text;
    int exit_code;
    wndl_buf_init(&text, wndl_mem_libc());
    if (write_list(list, path, &text)) {
        const struct wndl_output output = {
            path, wndl_output_bytes, &text, "'windlass check --baseline'"};
        exit_code = wndl_output_write(&output);
    } else {
        exit_code = wndl_cli_error("out of memory");
    }
    wndl_buf_free(&text);
    return exit_code;
}

static int show(const struct wndl_check_report *r)
{
    struct wndl_buf text;
    int exit_code = WNDL_EXIT_OK;
    const uint64_t rows = r->options->rows;
    wndl_buf_init(&text, wndl_mem_libc());
    if (wndl_check_text(&text, &r->list, rows == 0 ? USUAL_ROWS : rows))
        fwrite(text.data, 1, text.size, stderr);
    else
        exit_code = wndl_cli_error("out of memory");
    wndl_buf_free(&text);
    return exit_code;
}

/* Errors for which the exit status stands. */
static bool has_failed(const struct wndl_finding_list *list)
{
    for (size_t i = 0; i < list->findings.len; i++) {
        const struct wndl_finding *f = wndl_vec_at(&list->findings, i);
        if (f->is_new && f->group != WNDL_FINDING_FOREIGN)
            return true;
    }
    return false;
}

int wndl_check_report(
    struct wndl_check_report *report, struct wndl_check_session *session)
{
    const struct wndl_check_options *o = report->options;
    int exit_code = WNDL_EXIT_OK;
    if (!fill(report, session))
        return wndl_cli_error("out of memory");
    if (!o->quiet)
        exit_code = show(report);
    for (size_t i = 0; i < o->outputs.count; i++) {
        const int written = write_file(&report->list, o->outputs.texts[i]);
        exit_code = exit_code == WNDL_EXIT_OK ? written : exit_code;
    }
    if (o->history != NULL && !wndl_check_history(o->history, &report->list))
        exit_code = WNDL_EXIT_FAILURE;
    if (exit_code != WNDL_EXIT_OK)
        return exit_code;
    return has_failed(&report->list) ? WNDL_CHECK_EXIT_ERRORS
                                     : session->exit_code;
}
