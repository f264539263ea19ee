/* SPDX-License-Identifier: MIT */
/* windlass doctor: checks whether and how well recording works here. */
#include "base/json.h"
#include "base/utf8.h"
#include "cli/core/command.h"
#include "cli/core/shell_word.h"
#include "cli/doctor/doctor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <windlass/version.h>

struct doctor_options {
    bool json;
    bool whole_stacks;
    const char *pid;
};

static const struct wndl_option option_table[] = {
    {'p', "pid", "PID", NULL, NULL, NULL,
        "check whether this running process can be recorded, from outside",
        WNDL_OPT_TEXT, offsetof(struct doctor_options, pid)},
    {0, "json", NULL, NULL, NULL, NULL, "write JSON", WNDL_OPT_FLAG,
        offsetof(struct doctor_options, json)},
    {0, "whole-stacks", NULL, NULL, NULL, NULL,
        "exit with status 1 also if there is code without unwind rules in "
        "COMMAND or in a library of it",
        WNDL_OPT_FLAG, offsetof(struct doctor_options, whole_stacks)},
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass doctor", "check this machine"},
    {"windlass doctor ./server", "check this machine and a program"},
    {"windlass doctor --whole-stacks ./server",
        "check in a script that stacks of a program will be whole"},
    {"windlass doctor -p $(pidof server)",
        "check whether a process that runs can be recorded"},
    {NULL, NULL},
};

static bool works(const struct wndl_doctor *d)
{
    for (size_t i = 0; i < d->count; i++) {
        if (d->findings[i].stops)
            return false;
    }
    return true;
}

/* Whether no stack of the program is known to need more than its rules. */
static bool has_whole_stacks(const struct wndl_doctor *d)
{
    for (size_t i = 0; i < d->count; i++) {
        if (strcmp(d->findings[i].check, "stacks") == 0 &&
            d->findings[i].state != WNDL_DOCTOR_OK)
            return false;
    }
    return true;
}

static const char *const states[] = {
    [WNDL_DOCTOR_OK] = "ok",
    [WNDL_DOCTOR_LIMITED] = "limited",
    [WNDL_DOCTOR_NO] = "no",
};

/* Names in the text may hold any bytes. */
static void write_plain(struct wndl_buf *out, const char *text)
{
    wndl_utf8_plain(
        out, (struct wndl_bytes){(const uint8_t *)text, strlen(text)});
}

static void write_line(
    struct wndl_buf *out, const struct wndl_doctor_finding *f)
{
    wndl_buf_printf(out, "%-8s %-16s ", states[f->state], f->check);
    write_plain(out, f->found);
    if (f->setting[0] != '\0') {
        wndl_buf_printf(
            out, " (%s%s", f->setting, f->value[0] == '\0' ? "" : " is ");
        write_plain(out, f->value);
        wndl_buf_byte(out, ')');
    }
    wndl_buf_text(out, f->advice[0] == '\0' ? "" : "; ");
    write_plain(out, f->advice);
    wndl_buf_byte(out, '\n');
}

static void write_next(
    struct wndl_buf *out, const struct doctor_options *o, const char *command)
{
    wndl_buf_text(out, "\nNext: windlass record ");
    if (o->pid != NULL)
        wndl_buf_text(out, "-p ");
    if (o->pid != NULL || command != NULL)
        wndl_shell_word(out, o->pid != NULL ? o->pid : command);
    else
        wndl_buf_text(out, "COMMAND");
    wndl_buf_byte(out, '\n');
}

static void write_text(struct wndl_buf *out, const struct wndl_doctor *d,
    const struct doctor_options *o, const char *command)
{
    for (size_t i = 0; i < d->count; i++)
        write_line(out, &d->findings[i]);
    if (!works(d)) {
        wndl_buf_text(out, "\nRecording does not work: see \"no\" above\n");
        return;
    }
    write_next(out, o, command);
}

static void write_field(
    struct wndl_buf *out, const char *name, const char *text)
{
    if (text[0] == '\0')
        return;
    wndl_buf_printf(out, ",\"%s\":", name);
    wndl_json_text(out, text);
}

static void write_json(struct wndl_buf *out, const struct wndl_doctor *d)
{
    wndl_buf_printf(out,
        "{\"version\":1,\"windlass\":\"%s\",\"works\":%s,"
        "\"checks\":[",
        wndl_version(), works(d) ? "true" : "false");
    for (size_t i = 0; i < d->count; i++) {
        const struct wndl_doctor_finding *f = &d->findings[i];
        wndl_buf_printf(out, "%s\n{\"check\":\"%s\",\"state\":\"%s\"",
            i == 0 ? "" : ",", f->check, states[f->state]);
        if (f->stops)
            wndl_buf_text(out, ",\"stops\":true");
        write_field(out, "found", f->found);
        write_field(out, "setting", f->setting);
        write_field(out, "value", f->value);
        write_field(out, "advice", f->advice);
        wndl_buf_byte(out, '}');
    }
    wndl_buf_text(out, "]}\n");
}

static int say_lack(const struct wndl_doctor *d)
{
    char text[300];
    return wndl_cli_error(
        "this is not all: %s", wndl_error_text(&d->lack, text, sizeof text));
}

static int run(const void *parsed, struct wndl_operands operands)
{
    const struct doctor_options *o = parsed;
    const char *command = operands.texts[0];
    struct wndl_doctor d = {.count = 0};
    struct wndl_buf out;
    if (o->pid != NULL && command != NULL)
        return wndl_cli_error("--pid is a process: there is no COMMAND then");
    wndl_doctor_machine(&d);
    if (o->pid != NULL)
        wndl_doctor_process(&d, o->pid);
    if (command != NULL)
        wndl_doctor_program(&d, command);
    wndl_buf_init(&out, wndl_mem_libc());
    if (o->json)
        write_json(&out, &d);
    else
        write_text(&out, &d, o, command);
    if (!out.failed)
        fwrite(out.data, 1, out.size, stdout);
    bool written = !out.failed && fflush(stdout) == 0;
    wndl_buf_free(&out);
    if (!written)
        return wndl_cli_error(
            "cannot write standard output: %s", strerror(errno));
    if (d.lack.status != WNDL_OK)
        return say_lack(&d);
    return works(&d) && (!o->whole_stacks || has_whole_stacks(&d))
               ? WNDL_EXIT_OK
               : WNDL_EXIT_FAILURE;
}

const struct wndl_command wndl_cmd_doctor = {
    .name = "doctor",
    .group = WNDL_GROUP_RECORD,
    .summary = "check what can be recorded on this machine, and how well",
    .operands = "[COMMAND]",
    .description =
        "Checks what recording needs, as the current user, and prints one line "
        "for each check: \"ok\", \"limited\" (recording works, but not as well "
        "as it could) or \"no\", with the setting that decides, its value, and "
        "what to do. With COMMAND, also checks whether that program can be "
        "recorded and what is known about its code; the program is not run. "
        "With "
        "--pid, checks the same of a process that runs, which does not notice "
        "it.\n\n"
        "The exit status is 1 if recording does not work.",
    .options = option_table,
    .options_size = sizeof(struct doctor_options),
    .examples = examples,
    .min_operands = 0,
    .max_operands = 1,
    .operands_end_options = true,
    .run = run,
};
