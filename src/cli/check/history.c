/* SPDX-License-Identifier: MIT */
#include "cli/check/history.h"

#include "base/lines.h"
#include "cli/core/command.h"
#include "os/file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

enum { SHOWN = 10 };

static void put_line(FILE *out, const struct wndl_finding_list *list)
{
    char when[32] = "";
    struct tm parts;
    const time_t now = time(NULL);
    if (gmtime_r(&now, &parts) != NULL)
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &parts);
    fprintf(out, "%s %s distinct=%zu new=%" PRIu64, when, list->tool,
        list->findings.len, wndl_finding_new_count(list));
    for (size_t i = 0; i < list->kinds.len; i++) {
        const struct wndl_kind_count *k = wndl_vec_at(&list->kinds, i);
        fprintf(out, " %s=%" PRIu64,
            wndl_intern_text(&list->check->texts, k->kind), k->distinct);
    }
    fputc('\n', out);
}

static void show_last(const char *path)
{
    struct wndl_file file;
    struct wndl_bytes line;
    uint64_t count = 0;
    if (wndl_file_open(path, &file, NULL) != WNDL_OK)
        return;
    struct wndl_lines lines = wndl_lines_of(file.bytes);
    while (wndl_lines_next(&lines, &line))
        count++;
    lines = wndl_lines_of(file.bytes);
    while (wndl_lines_next(&lines, &line)) {
        if (lines.number + SHOWN > count)
            fprintf(stderr, "%.*s\n", (int)line.size, (const char *)line.data);
    }
    wndl_file_close(&file);
}

bool wndl_check_history(const char *path, const struct wndl_finding_list *list)
{
    FILE *out = fopen(path, "ae");
    bool fine = out != NULL;
    if (fine) {
        put_line(out, list);
        fine = fclose(out) == 0;
    }
    if (!fine) {
        wndl_cli_error("cannot write %s: %s", path, strerror(errno));
        return false;
    }
    show_last(path);
    return true;
}
