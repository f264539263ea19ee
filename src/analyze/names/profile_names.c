/* SPDX-License-Identifier: MIT */
#include "analyze/names/profile_names.h"

#include "analyze/names/extents.h"
#include "analyze/names/jit.h"
#include "base/search.h"
#include "base/workers.h"
#include "model/frame_key.h"
#include "symbolize/symbolizer.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/*
 * One image; `symbols` is NULL when it has none. Its extents are opened for the
 * first frame without a name.
 */
struct work {
    struct wndl_symbolized *s;
    uint32_t module;
    const char *path; /* of the module */
    struct wndl_symbolizer *symbols;
    bool are_kept;             /* `symbols` stay open */
    enum wndl_status opened;   /* OK also for an image in no file */
    struct wndl_error refusal; /* where that is another */
    struct wndl_extents extents;
    bool extents_open;
    const struct wndl_log *log;
};

static uint32_t module_of_frame(const struct wndl_symbolized *s, uint32_t frame)
{
    const struct wndl_frame_key *key = wndl_vec_at(&s->profile->frames, frame);
    return key->image == WNDL_NO_INDEX ? (uint32_t)s->profile->images.len
                                       : key->image;
}

static uint64_t address_of_frame(
    const struct wndl_symbolized *s, uint32_t frame)
{
    return wndl_frame_key_byte(wndl_vec_at(&s->profile->frames, frame));
}

/* The start of the function without a name; the address itself if unknown. */
static uint64_t start_of_unnamed(struct work *w, uint64_t address)
{
    if (w->symbols == NULL)
        return address;
    if (!w->extents_open)
        wndl_extents_open(&w->extents, w->path, w->s->arena.mem);
    w->extents_open = true;
    wndl_rva start = {address};
    (void)wndl_extents_find(&w->extents, (wndl_rva){address}, &start);
    return start.v;
}

/* The function is named so for stripped libcs; debuggers call it that, too. */
static const char signal_return[] = "<signal handler called>";

/*
 * Code in no image counts as one function: its addresses have no meaning for
 * the user.
 */
static bool append_unnamed(struct work *w, uint32_t frame)
{
    const struct wndl_module *module = wndl_vec_at(&w->s->modules, w->module);
    const char *module_name = wndl_intern_text(&w->s->strings, module->name);
    const struct wndl_frame_key *key =
        wndl_vec_at(&w->s->profile->frames, frame);
    char name[512];
    if (key->exact == WNDL_EXACT_SIGNAL_RETURN)
        snprintf(name, sizeof name, "%s", signal_return);
    else if (w->module == w->s->profile->images.len)
        snprintf(name, sizeof name, "%s", module_name);
    else
        snprintf(name, sizeof name, "%.480s+0x%llx", module_name,
            (unsigned long long)start_of_unnamed(
                w, address_of_frame(w->s, frame)));
    struct wndl_function function = {.module = w->module, .unnamed = true};
    struct wndl_location location = {0};
    bool fresh;
    return wndl_symbolized_text(w->s, name, &function.name) &&
           wndl_symbolized_function(
               w->s, function, &location.function, &fresh) &&
           wndl_symbolized_append(w->s, frame, &location);
}

/*
 * The start of a function that is not inlined. Its file, which distinguishes
 * functions of one name, is that of its first line, not that of the current
 * line, which may come from an included file.
 */
static void find_start(const struct work *w,
    const struct wndl_symbol_frame *from, const char **file, uint32_t *line)
{
    struct wndl_symbols start;
    *file = from->file;
    *line = 0;
    if (from->inlined || from->file[0] == '\0')
        return;
    if (wndl_symbolizer_lookup(w->symbols, from->function_rva, &start, NULL) !=
        WNDL_OK)
        return;
    const struct wndl_symbol_frame *outer = &start.frames[start.count - 1];
    if (outer->file[0] == '\0' || outer->function_rva != from->function_rva)
        return;
    *file = outer->file;
    *line = outer->line;
}

size_t wndl_name_without_clone(const char *name)
{
    static const char *const suffixes[] = {".cold", ".part", ".isra",
        ".constprop", ".lto_priv", ".llvm", " [clone "};
    size_t length = strlen(name);
    if (strpbrk(name, ".[") == NULL)
        return length;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        const char *found = strstr(name, suffixes[i]);
        if (found == NULL || found == name)
            continue;
        char after = found[strlen(suffixes[i])];
        bool whole = after == '\0' || after == '.' || suffixes[i][0] == ' ';
        if (whole && (size_t)(found - name) < length)
            length = (size_t)(found - name);
    }
    return length;
}

static bool append_named(
    struct work *w, uint32_t frame, const struct wndl_symbol_frame *from)
{
    struct wndl_function function = {.module = w->module};
    struct wndl_location location = {
        .line = from->line, .inlined = from->inlined};
    const char *file;
    bool fresh;
    find_start(w, from, &file, &function.line);
    struct wndl_bytes name = {(const uint8_t *)from->function,
        wndl_name_without_clone(from->function)};
    if (!wndl_intern_add(&w->s->strings, name, &function.name) ||
        !wndl_symbolized_text(w->s, file, &function.file) ||
        !wndl_symbolized_text(w->s, from->file, &location.file) ||
        !wndl_symbolized_function(w->s, function, &location.function, &fresh))
        return false;
    struct wndl_function *known =
        wndl_vec_at(&w->s->functions, location.function);
    /* Inlined code does not show the start; clones start on later lines. */
    if (known->line == 0 || (function.line != 0 && function.line < known->line))
        known->line = function.line;
    return wndl_symbolized_append(w->s, frame, &location);
}

/* The name that the recording has itself, of the kernel's code; or NULL. */
static const struct wndl_kernel_name *find_kernel_name(
    const struct work *w, uint32_t frame)
{
    const struct wndl_vec *names = &w->s->profile->kernel_names;
    const struct wndl_kernel_name *all = names->data;
    const uint64_t address = address_of_frame(w->s, frame);
    if (names->len == 0 || all[0].image != w->module)
        return NULL;
    const size_t after =
        wndl_search_up_to(&all[0].address, sizeof *all, names->len, address);
    return after != 0 && all[after - 1].address == address ? &all[after - 1]
                                                           : NULL;
}

static bool append_kernel(
    struct work *w, uint32_t frame, const struct wndl_kernel_name *kernel)
{
    struct wndl_module *module = wndl_vec_at(&w->s->modules, w->module);
    struct wndl_function function = {.module = w->module};
    struct wndl_location location = {0};
    bool fresh;
    module->state = WNDL_SYMBOLS_NAMES;
    return wndl_intern_add(&w->s->strings, kernel->name, &function.name) &&
           wndl_symbolized_function(
               w->s, function, &location.function, &fresh) &&
           wndl_symbolized_append(w->s, frame, &location);
}

/* An answer without a name, from line information alone, is ignored. */
static bool append_frame(struct work *w, uint32_t frame)
{
    const struct wndl_kernel_name *kernel = find_kernel_name(w, frame);
    if (kernel != NULL)
        return append_kernel(w, frame, kernel);
    struct wndl_symbols answer = {0};
    enum wndl_status status = WNDL_NOT_FOUND;
    if (w->symbols != NULL)
        status = wndl_symbolizer_lookup(
            w->symbols, address_of_frame(w->s, frame), &answer, NULL);
    if (status == WNDL_NOMEM)
        return false;
    if (status != WNDL_OK || answer.count == 0 ||
        answer.frames[answer.count - 1].function[0] == '\0')
        return append_unnamed(w, frame);
    for (size_t i = 0; i < answer.count; i++) {
        if (answer.frames[i].function[0] != '\0' &&
            !append_named(w, frame, &answer.frames[i]))
            return false;
    }
    return true;
}

static enum wndl_symbols_state state_of_failure(enum wndl_status status)
{
    switch (status) {
    case WNDL_NOT_FOUND:
        return WNDL_SYMBOLS_REPLACED;
    case WNDL_IO:
    case WNDL_DENIED:
        return WNDL_SYMBOLS_NO_FILE;
    default:
        return WNDL_SYMBOLS_UNREADABLE;
    }
}

/* A module shows why it has no names, but not that it could have some. */
static void note_lack(
    struct wndl_symbolized *s, const struct wndl_error *err, const char *path)
{
    if (s->lack.status != WNDL_OK || !wndl_error_is_lack(err))
        return;
    s->lack = *err;
    if (s->lack.file[0] == '\0')
        wndl_error_set_file(&s->lack, path);
}

/* Memory comes from wndl_mem_libc(), which any thread may use. */
enum wndl_status wndl_image_symbols_open(const struct wndl_image *image,
    const char *path, const struct wndl_symbol_sources *sources,
    struct wndl_symbolizer **symbols, struct wndl_error *err)
{
    const struct wndl_symbolizer_options options = {
        .size = sizeof options,
        .debug_dirs = sources->debug_dirs,
        .debuginfod = sources->debuginfod,
        .cache = sources->cache,
        .build_id = image->build_id.size == 0 ? NULL : image->build_id.data,
        .build_id_size = image->build_id.size,
    };
    return wndl_symbolizer_open_with(
        wndl_mem_libc(), path, &options, symbols, err);
}

/* Opens the symbols, or finds those that are kept. */
static enum wndl_status open_symbols(
    struct work *w, const struct wndl_symbol_sources *sources)
{
    const struct wndl_image *image =
        wndl_vec_at(&w->s->profile->images, w->module);
    if (sources->kept != NULL)
        w->symbols =
            wndl_kept_symbols_find(sources->kept, w->path, image->build_id);
    w->are_kept = w->symbols != NULL;
    if (w->are_kept)
        return WNDL_OK;
    enum wndl_status status = wndl_image_symbols_open(
        image, w->path, sources, &w->symbols, &w->refusal);
    w->are_kept = status == WNDL_OK && sources->kept != NULL &&
                  wndl_kept_symbols_add(
                      sources->kept, w->path, image->build_id, w->symbols);
    return status;
}

/* Says why the module has no symbols. False when memory is out. */
static bool note_refusal(struct work *w)
{
    struct wndl_module *module = wndl_vec_at(&w->s->modules, w->module);
    char text[320];
    note_lack(w->s, &w->refusal, w->path);
    module->state = state_of_failure(w->opened);
    w->refusal.file[0] = '\0'; /* the module says which */
    wndl_error_text(&w->refusal, text, sizeof text);
    wndl_log(w->log, WNDL_LOG_WARNING, "%s: no symbols: %s", w->path, text);
    return w->opened != WNDL_NOMEM &&
           wndl_symbolized_text(w->s, text, &module->detail);
}

static void log_source(const struct work *w, const char *debug_file)
{
    static const char *const sources[] = {
        [WNDL_SYMBOLS_LINES] = "names and lines from ",
        [WNDL_SYMBOLS_NAMES] = "names from its symbol table, no lines",
        [WNDL_SYMBOLS_EXPORTED] = "exported names only, no lines",
    };
    const struct wndl_module *module = wndl_vec_at(&w->s->modules, w->module);
    bool lines = module->state == WNDL_SYMBOLS_LINES;
    wndl_log(w->log, WNDL_LOG_INFO, "%s: %s%s", w->path, sources[module->state],
        lines ? debug_file : "");
}

static void warn_missing(
    const struct work *w, const struct wndl_symbolizer_info *info)
{
    char text[512];
    if (info->files_missing == 0)
        return;
    wndl_error_text(&info->first_missing, text, sizeof text);
    wndl_log(w->log, WNDL_LOG_WARNING,
        "%s: %u file%s of debug information missing: %s", w->path,
        info->files_missing, info->files_missing == 1 ? "" : "s", text);
}

/*
 * A debug file that is of another build, or that a server or the system
 * refused, is sound: it is only not used.
 */
static void warn_damage(const struct work *w,
    const struct wndl_symbolizer_info *info, const char *text)
{
    const enum wndl_status status = info->first_damage.status;
    const char *kind = status == WNDL_UNSUPPORTED ? "unsupported" : "damaged";
    if (info->units_damaged != 0)
        wndl_log(w->log, WNDL_LOG_WARNING, "%s: %s, %u units lost: %s", w->path,
            kind, info->units_damaged, text);
    else if (status == WNDL_NOT_FOUND || status == WNDL_IO)
        wndl_log(w->log, WNDL_LOG_WARNING, "%s: a debug file is not used: %s",
            w->path, text);
    else
        wndl_log(w->log, WNDL_LOG_WARNING, "%s: %s: %s", w->path, kind, text);
}

/* After its frames, because damage is met on the way. */
static bool close_image(struct work *w)
{
    if (w->extents_open)
        wndl_extents_close(&w->extents);
    if (w->symbols == NULL)
        return true;
    struct wndl_module *module = wndl_vec_at(&w->s->modules, w->module);
    struct wndl_symbolizer_info info;
    wndl_symbolizer_get_info(w->symbols, &info);
    module->state = info.has_dwarf    ? WNDL_SYMBOLS_LINES
                    : info.has_symtab ? WNDL_SYMBOLS_NAMES
                                      : WNDL_SYMBOLS_EXPORTED;
    module->units_damaged = info.units_damaged;
    log_source(w, info.debug_file);
    bool kept = true;
    warn_missing(w, &info);
    note_lack(w->s, &info.first_missing, w->path);
    note_lack(w->s, &info.first_damage, w->path);
    if (info.first_damage.status != WNDL_OK) {
        char text[512];
        wndl_error_text(&info.first_damage, text, sizeof text);
        warn_damage(w, &info, text);
        kept = wndl_symbolized_text(w->s, text, &module->detail);
    }
    if (!w->are_kept)
        wndl_symbolizer_close(w->symbols);
    w->symbols = NULL;
    return kept;
}

static bool append_frames(struct work *w, const uint32_t *frames, size_t count)
{
    bool kept = true;
    for (size_t i = 0; i < count && kept; i++)
        kept = append_frame(w, frames[i]);
    return kept;
}

/* Frames in no image: named by files of the code's generator. */
static bool append_generated(
    struct work *w, const uint32_t *frames, size_t count)
{
    bool kept = wndl_jit_symbolize(w->s, frames, count, w->log);
    for (size_t i = 0; i < count && kept; i++) {
        const struct wndl_span *span = wndl_vec_at(&w->s->spans, frames[i]);
        kept = span->count != 0 || append_unnamed(w, frames[i]);
    }
    return kept;
}

/* The frames in order of their module; *starts has one more than modules. */
static bool sort_by_module(
    struct wndl_symbolized *s, uint32_t **frames, size_t **starts)
{
    size_t modules = s->modules.len;
    size_t count = s->profile->frames.len;
    *starts = wndl_arena_calloc(&s->arena, modules + 1, sizeof **starts);
    *frames = wndl_arena_calloc(&s->arena, count + 1, sizeof **frames);
    if (*starts == NULL || *frames == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++)
        (*starts)[module_of_frame(s, i)]++;
    size_t end = 0;
    for (size_t m = 0; m <= modules; m++) {
        end += (*starts)[m];
        (*starts)[m] = end;
    }
    /* From the back, each start moves from its module's end to its start. */
    for (uint32_t i = (uint32_t)count; i-- > 0;)
        (*frames)[--(*starts)[module_of_frame(s, i)]] = i;
    return true;
}

/* ---- modules by several threads */

/*
 * Modules are asked by several workers. Their names are added in the order of
 * the modules, one module at a time, so that the result is always the same:
 * whoever holds `lock` and whose module is `turn` may change `s`.
 */
struct asking {
    struct wndl_symbolized *s;
    const struct wndl_symbol_sources *sources;
    const struct wndl_log *log;
    const uint32_t *frames; /* in order of their modules */
    const size_t *starts;   /* of modules in the frames */
    const char **paths;     /* of modules */
    bool ahead;             /* whether there are several workers */
    _Atomic uint32_t next;  /* the first module that nobody has */
    pthread_mutex_t lock;
    pthread_cond_t turned;
    uint32_t turn;
    bool failed; /* memory is out */
};

static struct work work_on(const struct asking *asking, uint32_t m)
{
    return (struct work){
        .s = asking->s,
        .module = m,
        .path = asking->paths[m],
        .log = asking->log,
    };
}

static size_t frames_of(
    const struct asking *asking, uint32_t m, const uint32_t **frames)
{
    *frames = asking->frames + asking->starts[m];
    return asking->starts[m + 1] - asking->starts[m];
}

static void ask_server(const struct asking *asking, uint32_t m)
{
    const uint32_t *frames;
    struct wndl_symbolizer *symbols;
    const struct work w = work_on(asking, m);
    const struct wndl_image *image =
        wndl_vec_at(&asking->s->profile->images, m);
    if (w.path[0] == '/' && frames_of(asking, m, &frames) != 0 &&
        wndl_image_symbols_open(
            image, w.path, asking->sources, &symbols, NULL) == WNDL_OK)
        wndl_symbolizer_close(symbols);
}

static void ask_servers_in_turn(void *context, unsigned index)
{
    struct asking *asking = context;
    const uint32_t images = (uint32_t)asking->s->profile->images.len;
    uint32_t m;
    (void)index;
    while ((m = atomic_fetch_add(&asking->next, 1)) < images)
        ask_server(asking, m);
}

/*
 * Servers are slow, not busy: they are asked for several files at a time. What
 * they have is in debuginfod's cache when the modules are opened.
 */
static void ask_servers(struct asking *asking)
{
    enum { AT_A_TIME = 8 };
    if (asking->sources->debuginfod)
        wndl_workers_run(AT_A_TIME, ask_servers_in_turn, asking);
    atomic_store(&asking->next, 0);
}

/* The symbolizer remembers the answers until the module's turn comes. */
static void look_ahead(
    const struct work *w, const uint32_t *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct wndl_symbols answer;
        const char *file;
        uint32_t line;
        if (wndl_symbolizer_lookup(w->symbols,
                address_of_frame(w->s, frames[i]), &answer, NULL) == WNDL_OK)
            find_start(w, &answer.frames[answer.count - 1], &file, &line);
    }
}

static void begin_module(const struct asking *asking, struct work *w)
{
    const uint32_t *frames;
    const size_t count = frames_of(asking, w->module, &frames);
    if (count == 0 || w->path[0] != '/')
        return;
    w->opened = open_symbols(w, asking->sources);
    if (w->opened == WNDL_OK && asking->ahead)
        look_ahead(w, frames, count);
}

/* False when memory is out. */
static bool add_names(const struct asking *asking, struct work *w)
{
    const uint32_t *frames;
    const size_t count = frames_of(asking, w->module, &frames);
    struct wndl_module *module = wndl_vec_at(&w->s->modules, w->module);
    module->state = WNDL_SYMBOLS_NOWHERE;
    bool added = (w->opened == WNDL_OK || note_refusal(w)) &&
                 append_frames(w, frames, count);
    return close_image(w) && added;
}

static void ask_in_turn(void *context, unsigned index)
{
    struct asking *asking = context;
    const uint32_t images = (uint32_t)asking->s->profile->images.len;
    uint32_t m;
    (void)index;
    while ((m = atomic_fetch_add(&asking->next, 1)) < images) {
        struct work w = work_on(asking, m);
        begin_module(asking, &w);
        pthread_mutex_lock(&asking->lock);
        while (asking->turn != m)
            pthread_cond_wait(&asking->turned, &asking->lock);
        asking->failed = !add_names(asking, &w) || asking->failed;
        asking->turn++;
        pthread_cond_broadcast(&asking->turned);
        pthread_mutex_unlock(&asking->lock);
    }
}

/*
 * Symbols that are kept are found by one thread, and only libc's memory is for
 * several. Each worker has one module open, so that there are few.
 */
static unsigned worker_count(const struct asking *asking)
{
    enum { MOST = 4 };
    const unsigned cores = wndl_workers_cores();
    if (asking->sources->kept != NULL ||
        asking->s->arena.mem != wndl_mem_libc() ||
        asking->s->profile->images.len < 2)
        return 1;
    return cores < MOST ? cores : MOST;
}

static bool list_paths(struct asking *asking)
{
    struct wndl_symbolized *s = asking->s;
    asking->paths =
        wndl_arena_calloc(&s->arena, s->modules.len, sizeof *asking->paths);
    for (size_t m = 0; m < s->modules.len && asking->paths != NULL; m++) {
        const struct wndl_module *module = wndl_vec_at(&s->modules, m);
        asking->paths[m] = wndl_intern_text(&s->strings, module->path);
    }
    return asking->paths != NULL;
}

static bool ask_modules(struct asking *asking)
{
    const unsigned workers = worker_count(asking);
    asking->ahead = workers > 1;
    pthread_mutex_init(&asking->lock, NULL);
    pthread_cond_init(&asking->turned, NULL);
    wndl_workers_run(workers, ask_in_turn, asking);
    pthread_cond_destroy(&asking->turned);
    pthread_mutex_destroy(&asking->lock);
    return !asking->failed;
}

static bool symbolize_modules(struct wndl_symbolized *s,
    const struct wndl_symbol_sources *sources, const struct wndl_log *log)
{
    uint32_t *frames;
    size_t *starts;
    struct asking asking = {.s = s, .sources = sources, .log = log};
    if (!sort_by_module(s, &frames, &starts) || !list_paths(&asking))
        return false;
    asking.frames = frames;
    asking.starts = starts;
    ask_servers(&asking);
    if (!ask_modules(&asking))
        return false;
    const uint32_t images = (uint32_t)s->profile->images.len;
    struct work w = work_on(&asking, images);
    struct wndl_module *nowhere = wndl_vec_at(&s->modules, images);
    nowhere->state = WNDL_SYMBOLS_NOWHERE;
    return append_generated(
        &w, frames + starts[images], starts[images + 1] - starts[images]);
}

enum wndl_status wndl_symbolize_profile(struct wndl_symbolized *s,
    const struct wndl_symbol_sources *sources, const struct wndl_log *log,
    struct wndl_error *err)
{
    if (!symbolize_modules(s, sources, log))
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    return WNDL_OK;
}
