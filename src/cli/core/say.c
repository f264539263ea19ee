/* SPDX-License-Identifier: MIT */
#include "cli/core/command.h"

#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Messages hold names from foreign files, which must not control a terminal. */
static void put_tame(const char *text)
{
    static const char controls[] =
        "\1\2\3\4\5\6\a\b\t\v\f\r\16\17\20\21\22\23\24\25\26\27\30\31\32"
        "\33\34\35\36\37\177";
    for (;;) {
        size_t plain = strcspn(text, controls);
        fwrite(text, 1, plain, stderr);
        if (text[plain] == '\0')
            return;
        fprintf(stderr, "\\x%02x", (unsigned)text[plain]);
        text += plain + 1;
    }
}

static void say(const char *kind, const char *format, va_list args)
{
    char *text;
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    fflush(stdout);
    fprintf(stderr, "windlass: %s", kind);
    put_tame(text == NULL ? format : text);
    fputc('\n', stderr);
    free(text);
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
    return err->status == WNDL_UNSUPPORTED ? "unsupported" : "damaged";
}

void wndl_cli_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say("", format, args);
    va_end(args);
}
