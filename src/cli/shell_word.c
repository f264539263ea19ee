/* SPDX-License-Identifier: MIT */
#include "cli/shell_word.h"

#include <string.h>

void wndl_shell_word(struct wndl_buf *command, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ/._-+,:@%=";
    if (*text != '\0' && text[strspn(text, plain)] == '\0') {
        wndl_buf_text(command, text);
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
