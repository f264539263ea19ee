/* SPDX-License-Identifier: MIT */
/* rules: how much code of a program and its libraries has unwind rules. */
#include "analyze/binary/unwind_info.h"
#include "cli/doctor/doctor.h"

#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PADDING = 64,  /* bytes: a longer gap between functions is code */
    WORTH_IT = 10, /* in 0.1 %: less is not worth a word */
    LEAST = 1024,  /* bytes: the C startup files alone have some hundred */
    MODULES = 512,
    NAMED = 4,
};

/* A module, and its code without rules. */
struct module {
    char *path;
    uint32_t tenths; /* of its code, in 0.1 % */
};

struct modules {
    struct module all[MODULES];
    size_t count;
    struct wndl_doctor *d;
};

static void add_module(struct modules *m, const char *path)
{
    char *copy = m->count < MODULES ? strdup(path) : NULL;
    if (copy != NULL)
        m->all[m->count++] = (struct module){.path = copy};
    else if (m->count < MODULES)
        wndl_doctor_note_errno(m->d, path);
}

static void free_modules(struct modules *m)
{
    for (size_t i = 0; i < m->count; i++)
        free(m->all[i].path);
}

/* ---- libraries, as the loader finds them */

static const char *loader_of(const struct wndl_object *object)
{
    switch (wndl_object_machine(object)) {
    case EM_X86_64:
        return "/lib64/ld-linux-x86-64.so.2";
    case EM_386:
        return "/lib/ld-linux.so.2";
    case EM_AARCH64:
        return "/lib/ld-linux-aarch64.so.1";
    default:
        return NULL;
    }
}

static _Noreturn void run_loader(
    const char *loader, const char *program, int out)
{
    (void)dup2(out, STDOUT_FILENO);
    (void)!freopen("/dev/null", "w", stderr);
    execl(loader, loader, "--list", program, (char *)NULL);
    _exit(1);
}

/* Lines are "NAME => PATH (0xADDRESS)", or "PATH (0xADDRESS)". */
static void read_libraries(struct modules *m, FILE *from)
{
    char line[PATH_MAX + 256];
    while (fgets(line, sizeof line, from) != NULL) {
        char *arrow = strstr(line, " => ");
        char *path = arrow == NULL ? line + strspn(line, " \t") : arrow + 4;
        char *end = strstr(path, " (0x");
        if (end == NULL)
            continue;
        *end = '\0';
        if (strchr(path, '/') == NULL) /* the vDSO */
            continue;
        add_module(m, path);
    }
}

static void list_libraries(
    struct modules *m, const struct wndl_object *program, const char *path)
{
    const char *loader = loader_of(program);
    int pipes[2];
    if (loader == NULL || access(loader, X_OK) != 0)
        return;
    if (pipe(pipes) != 0) {
        wndl_doctor_note_errno(m->d, loader);
        return;
    }
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        run_loader(loader, path, pipes[1]);
    close(pipes[1]);
    FILE *from = fdopen(pipes[0], "r");
    if (from != NULL)
        read_libraries(m, from);
    else
        wndl_doctor_note_errno(m->d, loader);
    if (from != NULL)
        fclose(from);
    else
        close(pipes[0]);
    if (child > 0)
        (void)waitpid(child, NULL, 0);
}

/* ---- their rules */

static uint64_t gap(uint64_t from, uint64_t to)
{
    return to > from && to - from > PADDING ? to - from : 0;
}

/* The bytes of a section in gaps between functions; these are sorted. */
static uint64_t bare_bytes(const struct wndl_unwind_info *info,
    const struct wndl_unwind_section *section)
{
    const uint64_t end = section->start + section->size;
    uint64_t at = section->start, bare = 0;
    for (size_t i = 0; i < info->functions.len; i++) {
        const struct wndl_unwind_function *f = wndl_vec_at(&info->functions, i);
        if (f->end <= at || f->start >= end)
            continue;
        bare += gap(at, f->start);
        at = f->end;
    }
    return bare + gap(at, end);
}

static uint32_t bare_tenths(struct wndl_doctor *d, const char *path)
{
    struct wndl_unwind_info info;
    struct wndl_error err = {0};
    uint64_t all = 0, bare = 0;
    const enum wndl_status status =
        wndl_unwind_info_cover(&info, path, wndl_mem_libc(), &err);
    for (size_t i = 0; i < info.sections.len && status == WNDL_OK; i++) {
        const struct wndl_unwind_section *s = wndl_vec_at(&info.sections, i);
        all += s->size;
        bare += bare_bytes(&info, s);
    }
    wndl_unwind_info_close(&info);
    wndl_doctor_note(d, &err);
    if (status == WNDL_NOT_FOUND)
        return 1000;
    return bare < LEAST ? 0 : (uint32_t)(bare * 1000 / all);
}

/* Orders by share, the largest first. */
static int compare_modules(const void *a, const void *b)
{
    const struct module *m = a, *n = b;
    return (m->tenths < n->tenths) - (m->tenths > n->tenths);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* "29.6 % of libdav1d.so.6, 7.1 % of libgmp.so.10 and of 2 others". */
static void write_bare(
    const struct modules *m, size_t bare, char *text, size_t size)
{
    size_t at = 0;
    for (size_t i = 0; i < bare && i < NAMED && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%u.%u %% of %.40s",
            i == 0 ? "" : ", ", m->all[i].tenths / 10, m->all[i].tenths % 10,
            base_name(m->all[i].path));
    if (bare > NAMED && at < size)
        snprintf(text + at, size - at, " and of %zu other%s", bare - NAMED,
            bare - NAMED == 1 ? "" : "s");
}

static void say_bare(
    struct wndl_doctor *d, const struct modules *m, size_t bare)
{
    char text[200];
    write_bare(m, bare, text, sizeof text);
    struct wndl_doctor_finding *f = wndl_doctor_find(d, "stacks",
        WNDL_DOCTOR_LIMITED, "code without unwind rules: %s", text);
    wndl_doctor_advise(f,
        "such code is followed to its returns, which may fail; install the "
        "debug packages of these files for their .debug_frame, or record with "
        "--unwind scan");
}

/* ---- programs that generate code */

static const struct {
    const char *name, *check, *found, *advice;
} runtimes[] = {
    {"java", "stacks",
        "it compiles code that keeps no frame pointer and has no rules",
        "run java with -XX:+PreserveFramePointer"},
    {"luajit", "stacks",
        "it compiles code that keeps no frame pointer and has no rules",
        "run luajit with -joff, or record with --unwind scan"},
    {"pypy", "stacks",
        "it compiles code that keeps no frame pointer and has no rules",
        "run pypy with --jit off, or record with --unwind scan"},
    {"node", "names", "it compiles code that has no names",
        "run node with --perf-basic-prof --interpreted-frames-native-stack"},
};

/* Whether the program is of that name, perhaps with a version: pypy3. */
static bool is_runtime(const char *program, const char *name)
{
    const size_t size = strlen(name);
    return strncmp(program, name, size) == 0 &&
           strspn(program + size, "-.0123456789") == strlen(program + size);
}

/* Whether its stacks depend on that. */
static bool check_runtime(struct wndl_doctor *d, const char *path)
{
    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++) {
        if (!is_runtime(base_name(path), runtimes[i].name))
            continue;
        wndl_doctor_advise(wndl_doctor_find(d, runtimes[i].check,
                               WNDL_DOCTOR_LIMITED, "%s", runtimes[i].found),
            "%s", runtimes[i].advice);
        return strcmp(runtimes[i].check, "stacks") == 0;
    }
    return false;
}

void wndl_doctor_rules(
    struct wndl_doctor *d, struct wndl_object *program, const char *path)
{
    struct modules m = {.d = d};
    size_t bare = 0;
    add_module(&m, path);
    list_libraries(&m, program, path);
    for (size_t i = 0; i < m.count; i++) {
        m.all[i].tenths = bare_tenths(d, m.all[i].path);
        bare += m.all[i].tenths >= WORTH_IT;
    }
    qsort(m.all, m.count, sizeof *m.all, compare_modules);
    const bool depends = check_runtime(d, path);
    if (bare == 0 && !depends)
        wndl_doctor_find(d, "stacks", WNDL_DOCTOR_OK,
            "whole: there are unwind rules for its code and that of %zu "
            "librar%s",
            m.count - 1, m.count == 2 ? "y" : "ies");
    else if (bare != 0)
        say_bare(d, &m, bare);
    free_modules(&m);
}
