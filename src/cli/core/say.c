/* SPDX-License-Identifier: MIT */
#include "cli/core/command.h"

#include "base/status.h"
#include "base/utf8.h"
#include "cli/core/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Messages hold names from foreign files, which must not control a terminal. */
void wndl_cli_put_tame(FILE *out, const char *text)
{
    const uint8_t *p = (const uint8_t *)text;
    for (size_t left = strlen(text); left > 0;) {
        const size_t length = p[0] < 0x80 ? 1 : wndl_utf8_length(p, left);
        const size_t size = length == 0 ? 1 : length;
        if (length != 0 && (p[0] == '\n' || !wndl_utf8_controls(p, left)))
            fwrite(p, 1, size, out);
        else
            for (size_t i = 0; i < size; i++)
                fprintf(out, "\\x%02x", p[i]);
        left -= size;
        p += size;
    }
}

/* The head of messages, in place of "windlass: error"; or NULL. */
static const char *other_name;

void wndl_cli_set_name(const char *name)
{
    other_name = name;
}

static void put_head(const char *kind)
{
    if (other_name == NULL)
        fprintf(stderr, "windlass: %s", kind);
    else
        fprintf(stderr, "%s: ", other_name);
}

static void say(const char *kind, const char *format, va_list args)
{
    char *text;
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    fflush(stdout);
    wndl_progress_hide();
    put_head(kind);
    wndl_cli_put_tame(stderr, text == NULL ? format : text);
    fputc('\n', stderr);
    free(text);
}

static bool incomplete;

void wndl_cli_incomplete(void)
{
    incomplete = true;
}

bool wndl_cli_is_incomplete(void)
{
    return incomplete;
}

int wndl_cli_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say("error: ", format, args);
    va_end(args);
    return WNDL_EXIT_FAILURE;
}

int wndl_cli_fail(const struct wndl_error *err)
{
    char text[600];
    return wndl_cli_error("%s", wndl_error_text(err, text, sizeof text));
}

const char *wndl_cli_damage(const struct wndl_error *err)
{
    switch (err->status) {
    case WNDL_UNSUPPORTED:
        return "unsupported";
    case WNDL_NOT_FOUND:
        return "missing";
    default:
        return "damaged";
    }
}

void wndl_cli_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say("", format, args);
    va_end(args);
}
