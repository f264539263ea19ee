/* SPDX-License-Identifier: MIT */
#include "analyze/names/jit.h"

#include "analyze/names/jit_names.h"
#include "os/file.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The names of one process's code. */
struct jit {
    struct wndl_jit_names names;
    struct wndl_arena arena;
    const struct wndl_log *log;
    const struct wndl_process *process; /* that the files are of */
    bool used;                          /* one of them */
    bool out_of_memory;
};

/* ---- which files to believe */

/* Foreign numbers: no sum of them may wrap. */
static uint64_t sum(uint64_t a, uint64_t b)
{
    uint64_t both;
    return __builtin_add_overflow(a, b, &both) ? UINT64_MAX : both;
}

/* File times are those of the last tick of the kernel's clock. */
static bool is_of_its_time(const struct jit *j, int64_t modified)
{
    enum { EARLY = 100 * 1000 * 1000, LATE = 1000 * 1000 * 1000 };
    const struct wndl_process *process = j->process;
    uint64_t zero = j->names.s->profile->realtime;
    uint64_t time = modified < 0 ? 0 : (uint64_t)modified;
    bool ended = process->how_ended != 0;
    return sum(time, sum(EARLY, process->age)) >= sum(zero, process->start) &&
           (!ended || time <= sum(sum(zero, process->end), LATE));
}

static bool is_trusted(const struct jit *j, uint32_t owner)
{
    return owner == 0 || owner == geteuid() ||
           owner == j->names.s->profile->owner;
}

/* Why the file is not used, or NULL. */
static const char *doubt_of_map(
    const struct jit *j, const struct wndl_file_facts *facts)
{
    if (!is_trusted(j, facts->owner))
        return "belongs to another user";
    if (!is_of_its_time(j, facts->modified))
        return "was not written by this process, but before or after it";
    return NULL;
}

static void log_used(const struct jit *j, const char *path, uint32_t before)
{
    wndl_log(j->log, WNDL_LOG_INFO,
        "%s: names for %u of %u addresses in generated code of pid %u", path,
        j->names.named - before, j->names.count - before, j->process->pid);
    if (j->names.damaged != 0)
        wndl_log(j->log, WNDL_LOG_WARNING, "%s: damaged, %llu entries lost",
            path, (unsigned long long)j->names.damaged);
}

static void log_not_used(const struct jit *j, const char *path, const char *why)
{
    wndl_log(j->log, WNDL_LOG_WARNING, "%s: not used for pid %u: %s", path,
        j->process->pid, why);
}

enum wndl_jit_kind {
    WNDL_JIT_MAP,
    WNDL_JIT_DUMP,
};

static enum wndl_status read_names(struct jit *j, enum wndl_jit_kind kind,
    struct wndl_bytes file, struct wndl_error *err)
{
    if (kind == WNDL_JIT_DUMP)
        return wndl_jit_names_from_dump(&j->names, file, j->process->pid, err);
    return wndl_jit_names_from_map(&j->names, file)
               ? WNDL_OK
               : wndl_fail(err, WNDL_NOMEM, "out of memory");
}

static void use_file(struct jit *j, enum wndl_jit_kind kind, const char *path)
{
    struct wndl_file file;
    struct wndl_file_facts facts;
    struct wndl_error err = {0};
    enum wndl_status status = wndl_file_open_itself(path, &file, &facts, &err);
    if (status == WNDL_IO && err.sys_errno == ENOENT)
        return;
    const char *why = status == WNDL_OK ? doubt_of_map(j, &facts) : NULL;
    uint32_t before = j->names.named;
    j->names.damaged = 0;
    if (status == WNDL_OK && why == NULL)
        status = read_names(j, kind, file.bytes, &err);
    wndl_file_close(&file);
    j->out_of_memory = status == WNDL_NOMEM;
    char text[320];
    err.file[0] = '\0'; /* the message says which */
    if (why != NULL || status != WNDL_OK) {
        log_not_used(j, path,
            why != NULL ? why : wndl_error_text(&err, text, sizeof text));
        return;
    }
    j->used = true;
    log_used(j, path, before);
}

/* ---- where they are */

static void use_in(struct jit *j, enum wndl_jit_kind kind, const char *folder)
{
    static const char *const patterns[] = {
        [WNDL_JIT_MAP] = "%s/perf-%u.map",
        [WNDL_JIT_DUMP] = "%s/jit-%u.dump",
    };
    char path[PATH_MAX];
    int length =
        snprintf(path, sizeof path, patterns[kind], folder, j->process->pid);
    bool done = j->out_of_memory || j->names.named == j->names.count;
    if (!done && length > 0 && (size_t)length < sizeof path)
        use_file(j, kind, path);
}

/* The folder ~/.debug/jit has a folder for each run of a runtime. */
static void use_in_home(struct jit *j)
{
    char folder[PATH_MAX], inner[PATH_MAX + NAME_MAX + 2];
    const char *home = getenv("HOME");
    if (home == NULL || home[0] != '/' ||
        snprintf(folder, sizeof folder, "%s/.debug/jit", home) >=
            (int)sizeof folder)
        return;
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(inner, sizeof inner, "%s/%s", folder, e->d_name);
        use_in(j, WNDL_JIT_DUMP, inner);
    }
    closedir(dir);
}

/* Searches the folder of the recording, and the one where it is read now. */
static void use_in_folders(struct jit *j)
{
    struct wndl_bytes cwd = j->names.s->profile->cwd;
    char folder[PATH_MAX] = "", here[PATH_MAX] = "";
    if (cwd.size != 0 && cwd.data[0] == '/' && cwd.size < sizeof folder) {
        memcpy(folder, cwd.data, cwd.size);
        use_in(j, WNDL_JIT_DUMP, folder);
    }
    if (getcwd(here, sizeof here) != NULL && strcmp(here, folder) != 0)
        use_in(j, WNDL_JIT_DUMP, here);
}

/* Dumps first: they know lines. */
static void use_files(struct jit *j)
{
    use_in_home(j);
    use_in_folders(j);
    use_in(j, WNDL_JIT_DUMP, "/tmp");
    use_in(j, WNDL_JIT_MAP, "/tmp");
}

/* ---- processes */

/*
 * The parent, if `process` continued its image: it runs the same command and
 * has not called exec since.
 */
static const struct wndl_process *forked_from(
    const struct wndl_profile *p, const struct wndl_process *process)
{
    if (process->parent == WNDL_NO_INDEX || process->generation != 0)
        return NULL;
    const struct wndl_process *parent =
        wndl_vec_at(&p->processes, process->parent);
    bool same = wndl_bytes_equal(parent->executable, process->executable) &&
                wndl_bytes_equal(parent->command, process->command);
    return same ? parent : NULL;
}

/* Adds the module "[JIT] node"; it is removed again if no function is in it. */
static bool add_module(struct jit *j, const struct wndl_process *process)
{
    struct wndl_symbolized *s = j->names.s;
    struct wndl_bytes of = wndl_path_name(process->executable);
    char name[300];
    uint32_t id;
    snprintf(name, sizeof name, "[JIT] %.*s", (int)(of.size % 256), of.data);
    if (!wndl_symbolized_text(s, name, &id))
        return false;
    size_t i = s->profile->images.len + 1;
    for (; i < s->modules.len; i++) {
        const struct wndl_module *module = wndl_vec_at(&s->modules, i);
        if (module->name == id)
            break;
    }
    j->names.module = (uint32_t)i;
    if (i < s->modules.len)
        return true;
    struct wndl_module *module = wndl_vec_push(&s->modules);
    if (module == NULL)
        return false;
    *module = (struct wndl_module){
        .name = id, .path = id, .state = WNDL_SYMBOLS_GENERATED};
    return true;
}

/* names.next as it is while nothing has a name. */
static bool start_names(struct jit *j)
{
    uint32_t count = j->names.count;
    j->names.next =
        wndl_arena_calloc(&j->arena, (size_t)count + 1, sizeof(uint32_t));
    for (uint32_t i = 0; j->names.next != NULL && i <= count; i++)
        j->names.next[i] = i;
    return j->names.next != NULL;
}

/* Names `count` addresses, all of one process. */
static bool name_process(struct jit *j)
{
    enum { FORKS_MAX = 64 };
    struct wndl_symbolized *s = j->names.s;
    size_t modules = s->modules.len;
    j->process =
        wndl_vec_at(&s->profile->processes, j->names.addresses[0].process);
    if (!start_names(j) || !add_module(j, j->process))
        return false;
    for (int i = 0; j->process != NULL && !j->used && i < FORKS_MAX; i++) {
        use_files(j);
        j->process = forked_from(s->profile, j->process);
    }
    if (j->names.named == 0)
        s->modules.len = modules;
    return !j->out_of_memory;
}

static int compare_addresses(const void *a, const void *b)
{
    const struct wndl_jit_address *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->address < y->address ? -1 : x->address > y->address;
}

/* The address of the byte that ran: a return address is one past it. */
static struct wndl_jit_address address_of(
    const struct wndl_symbolized *s, uint32_t frame)
{
    const struct wndl_frame_key *key = wndl_vec_at(&s->profile->frames, frame);
    bool as_it_is = key->exact != WNDL_EXACT_NOT || key->address == 0;
    return (struct wndl_jit_address){
        key->address - !as_it_is, key->process, frame};
}

static bool name_processes(struct wndl_symbolized *s,
    const struct wndl_jit_address *addresses, size_t count,
    const struct wndl_log *log)
{
    bool kept = true;
    for (size_t i = 0, end; i < count && kept; i = end) {
        for (end = i + 1; end < count; end++)
            if (addresses[end].process != addresses[i].process)
                break;
        if (addresses[i].process >= s->profile->processes.len)
            continue;
        struct jit j = {.log = log};
        j.names = (struct wndl_jit_names){
            .s = s, .addresses = addresses + i, .count = (uint32_t)(end - i)};
        wndl_arena_init(&j.arena, s->arena.mem);
        kept = name_process(&j);
        wndl_arena_free(&j.arena);
    }
    return kept;
}

bool wndl_jit_symbolize(struct wndl_symbolized *s, const uint32_t *frames,
    size_t count, const struct wndl_log *log)
{
    struct wndl_arena arena;
    wndl_arena_init(&arena, s->arena.mem);
    struct wndl_jit_address *addresses =
        wndl_arena_calloc(&arena, count + 1, sizeof *addresses);
    bool kept = addresses != NULL;
    if (kept) {
        for (size_t i = 0; i < count; i++)
            addresses[i] = address_of(s, frames[i]);
        qsort(addresses, count, sizeof *addresses, compare_addresses);
        kept = name_processes(s, addresses, count, log);
    }
    wndl_arena_free(&arena);
    return kept;
}
