/* SPDX-License-Identifier: MIT */
#include "cli/check/results.h"

#include "base/lines.h"
#include "base/text.h"
#include "cli/core/command.h"
#include "cli/valgrind/launch.h"
#include "in/valgrind_xml.h"
#include "os/file.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DISTINCT_MAX = 1000 }; /* of a process: Valgrind then stops */

/* ---- what Valgrind says in text */

struct saying {
    const char *contains;
    const char *meaning; /* NULL: the line itself */
};

/* The command has not run then. */
static const char refusal[] = "Fatal error at startup: a function redirection";

/* In the order in which they are looked for; one a line. */
static const struct saying sayings[] = {
    {"unhandled instruction bytes: 0x62",
        "the program has AVX-512 instructions, which Valgrind 3.19 does not "
        "know, and was ended by SIGILL; check a build without them "
        "(-mno-avx512f), or let it choose other code"},
    {"unhandled instruction bytes:",
        "the program has instructions that Valgrind 3.19 does not know, and "
        "was ended by SIGILL"},
    {"I'm not reporting any more",
        "there were more than 1000 distinct errors in a process; Valgrind "
        "reported no others: repair some, or suppress them"},
    {"Serious error when reading debug info",
        "Valgrind could not read debug information, so that functions or "
        "lines are missing; compile with -gdwarf-4"},
    {refusal,
        "Valgrind needs the symbols of the program's ld.so: install libc6-dbg, "
        "for a 32-bit program libc6-dbg:i386"},
    {"the 'impossible' happened", "Valgrind itself gave up"},
    {"Assertion '",
        "Valgrind itself gave up: DRD does so after a misused lock"},
    {"failed to start tool", NULL},
    {"Can't execute", NULL},
    {"cannot execute", NULL},
    {"FATAL:", NULL},
    {"Fatal error", NULL},
};

static bool line_contains(struct wndl_bytes line, const char *text)
{
    return memmem(line.data, line.size, text, strlen(text)) != NULL;
}

static void note_line(struct wndl_check_session *s, struct wndl_bytes line)
{
    for (size_t i = 0; i < sizeof sayings / sizeof *sayings; i++) {
        if (!line_contains(line, sayings[i].contains))
            continue;
        s->has_refused |= sayings[i].contains == refusal;
        if (sayings[i].meaning != NULL)
            wndl_check_note(&s->notes, "%s", sayings[i].meaning);
        else
            wndl_check_note(&s->notes, "Valgrind: %.*s", (int)line.size,
                (const char *)line.data);
        return;
    }
}

static void read_lines(struct wndl_check_session *s, struct wndl_bytes file,
    void (*use)(struct wndl_check_session *s, struct wndl_bytes line))
{
    struct wndl_lines lines = wndl_lines_of(file);
    struct wndl_bytes line;
    while (wndl_lines_next(&lines, &line))
        use(s, line);
}

/* A note of the process that has followed a test runner. */
static void keep_note(struct wndl_check_session *s, struct wndl_bytes line)
{
    wndl_check_note(&s->notes, "%.*s", (int)line.size, (const char *)line.data);
}

/* ---- files */

static void note_process(
    struct wndl_check_session *s, const struct wndl_check_process *p)
{
    const char *command = wndl_intern_text(&s->check.texts, p->command);
    if (p->signal != 0)
        wndl_check_note(&s->notes, "%.200s was ended by %s", command,
            wndl_intern_text(&s->check.texts, p->signal));
    else if (!p->is_finished)
        wndl_check_note(&s->notes,
            "%.200s did not end by itself (killed, or replaced by another "
            "program); what was found until then is in the list",
            command);
}

static void read_xml(struct wndl_check_session *s,
    const struct wndl_check_part *part, struct wndl_bytes file)
{
    struct wndl_error err = {0};
    const size_t errors = s->check.errors.len;
    const size_t processes = s->check.processes.len;
    if (wndl_valgrind_xml_read(&s->check, file, part->run, &err) != WNDL_OK)
        wndl_check_note(&s->notes, "a file of Valgrind: %s", err.what);
    for (size_t i = errors; i < s->check.errors.len; i++) {
        struct wndl_check_error *e = wndl_vec_at(&s->check.errors, i);
        e->is_repeat = part->origins;
    }
    if (s->check.errors.len - errors >= DISTINCT_MAX)
        note_line(s, (struct wndl_bytes){
                         (const uint8_t *)"I'm not reporting any more", 26});
    for (size_t i = processes; i < s->check.processes.len; i++) {
        struct wndl_check_process *p = wndl_vec_at(&s->check.processes, i);
        p->is_left_out = part->origins;
        note_process(s, p);
    }
}

/* False if there is no such file, or nothing in it. */
static bool read_file(struct wndl_check_session *s,
    const struct wndl_check_part *part, const char *name)
{
    char path[PATH_MAX + 300];
    struct wndl_file file;
    snprintf(path, sizeof path, "%s/%s", s->folder, name);
    if (wndl_file_open(path, &file, NULL) != WNDL_OK)
        return false;
    const bool is_xml = wndl_text_ends_with(name, ".xml");
    if (is_xml)
        read_xml(s, part, file.bytes);
    else
        read_lines(s, file.bytes,
            wndl_text_ends_with(name, ".note") ? keep_note : note_line);
    wndl_file_close(&file);
    return is_xml;
}

static bool nothing_came(struct wndl_check_session *s)
{
    for (size_t i = 0; i < s->notes.len; i++)
        wndl_cli_note("%s", *(const char **)wndl_vec_at(&s->notes, i));
    wndl_cli_error("Valgrind did not run the command%s",
        s->options->gdb || s->options->log_socket != NULL
            ? ""
            : "; 'valgrind COMMAND' says why");
    s->exit_code = WNDL_VALGRIND_EXIT_START;
    return false;
}

bool wndl_check_read_results(
    struct wndl_check_session *session, const struct wndl_check_part *part)
{
    char start[64];
    bool has_xml = false;
    struct dirent **entries;
    const int count = scandir(session->folder, &entries, NULL, alphasort);
    wndl_check_part_name(part, start, sizeof start);
    for (int i = 0; i < count; i++) {
        if (wndl_text_starts_with(entries[i]->d_name, start))
            has_xml |= read_file(session, part, entries[i]->d_name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    if (session->options->wrap.count != 0)
        return true; /* the command has run, whatever it started */
    return (has_xml && !session->has_refused) || nothing_came(session);
}

bool wndl_check_needs_origins(
    const struct wndl_check_session *session, size_t first)
{
    const struct wndl_check *check = &session->check;
    if (session->tool != WNDL_MEMCHECK)
        return false;
    for (size_t i = first; i < check->errors.len; i++) {
        const struct wndl_check_error *e = wndl_vec_at(&check->errors, i);
        const char *kind = wndl_intern_text(&check->texts, e->kind);
        if ((wndl_text_starts_with(kind, "Uninit") && e->stacks < 2) ||
            (strcmp(kind, "SyscallParam") == 0 && e->stacks < 2))
            return true;
    }
    return false;
}

void wndl_check_find_suppressions(struct wndl_check_session *session)
{
    static const char *const places[] = {
        WNDL_SUPPRESSIONS_BUILT, WNDL_SUPPRESSIONS_FROM_BINDIR};
    char self[PATH_MAX];
    const ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    session->suppressions[0] = '\0';
    if (size <= 0)
        return;
    self[size] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char path[2 * PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", self, places[i]);
        if (access(path, R_OK) == 0 &&
            realpath(path, session->suppressions) != NULL)
            return;
    }
    session->suppressions[0] = '\0';
}
