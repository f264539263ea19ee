/* SPDX-License-Identifier: MIT */
#include "cli/core/terminal.h"

#include "cli/core/command.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static unsigned width_of(int terminal)
{
    enum { USUAL = 80 };
    struct winsize size;
    if (!isatty(terminal))
        return 0;
    if (ioctl(terminal, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return USUAL;
    return size.ws_col;
}

unsigned wndl_terminal_width(void)
{
    return width_of(STDOUT_FILENO);
}

unsigned wndl_terminal_error_width(void)
{
    const char *kind = getenv("TERM");
    if (kind == NULL || strcmp(kind, "dumb") == 0)
        return 0;
    return width_of(STDERR_FILENO);
}

bool wndl_terminal_utf8(void)
{
    return setlocale(LC_CTYPE, "") != NULL &&
           strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static bool is_in_path(const char *program)
{
    const char *path = getenv("PATH");
    while (path != NULL && *path != '\0') {
        char file[4096];
        int size = (int)strcspn(path, ":");
        int used = snprintf(file, sizeof file, "%.*s/%s", size, path, program);
        if (used < (int)sizeof file && access(file, X_OK) == 0)
            return true;
        path += size + (path[size] == ':');
    }
    return false;
}

FILE *wndl_pager_open(bool wanted)
{
    const char *pager = getenv("PAGER");
    if (pager == NULL && is_in_path("less"))
        pager = "less";
    if (!wanted || !isatty(STDOUT_FILENO) || pager == NULL || *pager == '\0')
        return stdout;
    /* As git sets it: no paging of what fits, and leave it on the screen. */
    (void)setenv("LESS", "FRX", 0);
    fflush(stdout);
    FILE *out = popen(pager, "w");
    return out == NULL ? stdout : out;
}

bool wndl_pager_close(FILE *out)
{
    if (out == stdout)
        return fflush(out) == 0 && !ferror(out);
    (void)pclose(out); /* who quits the pager early has seen enough */
    return true;
}

int wndl_pager_show(const struct wndl_buf *text, bool wanted)
{
    if (text->failed)
        return wndl_cli_error("out of memory");
    FILE *out = wndl_pager_open(wanted);
    fwrite(text->data, 1, text->size, out);
    if (!wndl_pager_close(out))
        return wndl_cli_error(
            "cannot write standard output: %s", strerror(errno));
    return WNDL_EXIT_OK;
}
