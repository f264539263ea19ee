/* SPDX-License-Identifier: MIT */
#include "cli/core/shell_word.h"

#include <stdbool.h>
#include <string.h>

/* Whether this byte begins a control character, or is the rest of one. */
static bool is_control(const char *text)
{
    const uint8_t c = (uint8_t)*text;
    return c < ' ' || c == 0x7f || c == 0xc2 || (c >= 0x80 && c < 0xa0);
}

static bool has_controls(const char *text)
{
    while (*text != '\0' && !is_control(text))
        text++;
    return *text != '\0';
}

/* $'...', so that the word commands no terminal that it is shown on. */
static void put_escaped(struct wndl_buf *command, const char *text)
{
    wndl_buf_text(command, "$'");
    for (; *text != '\0'; text++) {
        if (is_control(text)) {
            wndl_buf_printf(command, "\\%03o", (unsigned)(uint8_t)*text);
            continue;
        }
        if (*text == '\'' || *text == '\\')
            wndl_buf_byte(command, '\\');
        wndl_buf_byte(command, (uint8_t)*text);
    }
    wndl_buf_byte(command, '\'');
}

void wndl_shell_word(struct wndl_buf *command, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ/._-+,:@%=";
    if (*text != '\0' && text[strspn(text, plain)] == '\0') {
        wndl_buf_text(command, text);
        return;
    }
    if (has_controls(text)) {
        put_escaped(command, text);
        return;
    }
    wndl_buf_byte(command, '\'');
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            wndl_buf_text(command, "'\\'");
        wndl_buf_byte(command, (uint8_t)*text);
    }
    wndl_buf_byte(command, '\'');
}
