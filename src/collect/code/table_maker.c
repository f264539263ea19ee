/* SPDX-License-Identifier: MIT */
#include "collect/code/table_maker.h"

#include "cfi_import/code/frames.h"
#include "cfi_import/elf/frames.h"
#include "obj/core/object.h"
#include "os/clock.h"
#include "rec/shm.h"
#include "unwind_tables/table/table.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

enum {
    /* Bytes of code: the C startup files have some hundred. So few in a large
     * library are not worth its table. */
    LEAST = 512,
    FEW = 16 * 1024,
    FEW_PART = 256,
    BIG_TEXT = 16 * 1024 * 1024, /* bytes: not for less than a 16th of it */
    BIG_PART = 16,
    LARGE = 2 * 1024 * 1024,      /* bytes of code: takes a while */
    MOST_TEXT = 64 * 1024 * 1024, /* bytes: needs seven times that of memory */
};

struct job {
    struct job *next;
    void *owner;
    const char *path;
    struct wndl_file file;
    struct wndl_buf table;
    bool is_large;
    struct wndl_kept_table kept;
    enum wndl_status status; /* of keeping it */
    struct wndl_error err;
};

struct list {
    struct job *first, **end;
};

struct wndl_table_maker {
    struct wndl_mem mem; /* first: a wndl_mem is cast back */
    const char *const *debug_dirs;
    atomic_bool stops; /* `mem` gives nothing any more, which ends the work */
    bool runs;         /* there is a thread */
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    struct list quick, large, done;
    struct job *now; /* the one that the thread works on */
};

/* ---- lists */

static void clear(struct list *list)
{
    *list = (struct list){NULL, &list->first};
}

static void put(struct list *list, struct job *job)
{
    job->next = NULL;
    *list->end = job;
    list->end = &job->next;
}

static struct job *take(struct list *list)
{
    struct job *job = list->first;
    if (job == NULL)
        return NULL;
    list->first = job->next;
    if (list->first == NULL)
        list->end = &list->first;
    return job;
}

static void free_job(struct job *job)
{
    wndl_file_close(&job->file);
    wndl_buf_free(&job->table);
    wndl_mem_free(wndl_mem_libc(), job);
}

static void free_list(struct list *list)
{
    for (struct job *job; (job = take(list)) != NULL;)
        free_job(job);
}

/* ---- work */

/* Any thread. */
static void *resize(struct wndl_mem *mem, void *old, size_t size)
{
    struct wndl_table_maker *maker = (struct wndl_table_maker *)mem;
    struct wndl_mem *real = wndl_mem_libc();
    if (size != 0 && atomic_load_explicit(&maker->stops, memory_order_relaxed))
        return NULL;
    return real->resize(real, old, size);
}

static uint64_t code_size(const struct wndl_object *object)
{
    uint64_t size = 0;
    for (size_t i = 0; i < wndl_object_segment_count(object); i++) {
        const struct wndl_segment s = wndl_object_segment(object, i);
        size += s.executable ? s.file_size : 0;
    }
    return size;
}

/* Many stacks go through the little code where they begin. */
static bool is_worth_it(struct wndl_code_missing missing, uint64_t code)
{
    const uint64_t bytes = missing.bytes;
    return (code <= BIG_TEXT || bytes >= code / BIG_PART) &&
           (missing.has_end ||
               (bytes >= LEAST && (bytes >= FEW || bytes >= code / FEW_PART)));
}

static void make(
    struct wndl_table_maker *maker, struct wndl_object *object, struct job *job)
{
    struct wndl_code_rules rules;
    struct wndl_table_stats stats;
    if (wndl_code_rules_add(object, &rules, &maker->mem) != WNDL_OK ||
        rules.made == 0 ||
        wndl_table_build(object, &job->table, &stats, NULL) != WNDL_OK ||
        job->table.size > WNDL_SHM_MADE_BYTES)
        wndl_buf_free(&job->table);
}

/*
 * The bytes of code that are to get rules. A debug file is only searched for
 * where .eh_frame leaves code uncovered.
 */
static uint64_t missing_in(
    struct wndl_table_maker *maker, struct wndl_object *object)
{
    const uint64_t code = code_size(object);
    struct wndl_code_missing missing = {0};
    if (code <= MOST_TEXT)
        missing = wndl_code_rules_missing(object, &maker->mem);
    if (!is_worth_it(missing, code) ||
        wndl_elf_cfi_add_debug_file(object, maker->debug_dirs, &maker->mem) !=
            WNDL_OK)
        return 0;
    if (!wndl_object_has_section(object, ".debug_frame"))
        return missing.bytes;
    missing = wndl_code_rules_missing(object, &maker->mem);
    return is_worth_it(missing, code) ? missing.bytes : 0;
}

/* That there is no table is worth as much. */
static void keep(struct wndl_table_maker *maker, struct job *job)
{
    if (!atomic_load(&maker->stops))
        job->status = wndl_kept_table_write(&job->kept,
            (struct wndl_bytes){job->table.data, job->table.size}, &job->err);
}

/* Makes the table, unless the work is found to be large now. Whether it is. */
static bool work(struct wndl_table_maker *maker, struct job *job)
{
    struct wndl_object *object;
    if (wndl_object_open(
            job->file.bytes, job->path, &maker->mem, &object, NULL) != WNDL_OK)
        return job->is_large;
    const uint64_t missing = missing_in(maker, object);
    const bool is_large = missing > LARGE;
    const bool is_final = is_large == job->is_large;
    if (missing != 0 && is_final)
        make(maker, object, job);
    wndl_object_close(object);
    if (is_final)
        keep(maker, job);
    return is_large;
}

static struct job *take_next(struct wndl_table_maker *maker)
{
    struct job *job = take(&maker->quick);
    return job != NULL ? job : take(&maker->large);
}

/* Work that was ended is begun anew. */
static void put_away(
    struct wndl_table_maker *maker, struct job *job, bool is_large)
{
    const bool is_ended = atomic_load(&maker->stops);
    const bool is_done = !is_ended && is_large == job->is_large;
    if (is_ended)
        wndl_buf_free(&job->table);
    job->is_large = is_large;
    put(is_done ? &maker->done : is_large ? &maker->large : &maker->quick, job);
    maker->now = NULL;
    pthread_cond_broadcast(&maker->changed);
}

static void *run(void *context)
{
    struct wndl_table_maker *maker = context;
    pthread_mutex_lock(&maker->lock);
    while (!atomic_load(&maker->stops)) {
        struct job *job = maker->now = take_next(maker);
        if (job == NULL) {
            pthread_cond_wait(&maker->changed, &maker->lock);
            continue;
        }
        pthread_mutex_unlock(&maker->lock);
        const bool is_large = work(maker, job);
        pthread_mutex_lock(&maker->lock);
        put_away(maker, job, is_large);
    }
    pthread_mutex_unlock(&maker->lock);
    return NULL;
}

/* ---- the thread */

/* Takes no signal but SIGBUS, which reads of cut files raise. */
static void start_thread(struct wndl_table_maker *maker)
{
    sigset_t all, before;
    if (maker->runs)
        return;
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    maker->runs = pthread_create(&maker->thread, NULL, run, maker) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void wndl_table_maker_rest(struct wndl_table_maker *maker)
{
    if (!maker->runs)
        return;
    atomic_store(&maker->stops, true);
    pthread_mutex_lock(&maker->lock);
    pthread_cond_broadcast(&maker->changed);
    pthread_mutex_unlock(&maker->lock);
    pthread_join(maker->thread, NULL);
    maker->runs = false;
    atomic_store(&maker->stops, false);
}

/* ---- public */

struct wndl_table_maker *wndl_table_maker_new(const char *const *debug_dirs)
{
    pthread_condattr_t attributes;
    struct wndl_table_maker *maker =
        wndl_mem_zalloc(wndl_mem_libc(), sizeof *maker);
    if (maker == NULL)
        return NULL;
    maker->mem.resize = resize;
    maker->debug_dirs = debug_dirs;
    pthread_mutex_init(&maker->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&maker->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    clear(&maker->quick);
    clear(&maker->large);
    clear(&maker->done);
    return maker;
}

void wndl_table_maker_free(struct wndl_table_maker *maker)
{
    if (maker == NULL)
        return;
    wndl_table_maker_rest(maker);
    free_list(&maker->quick);
    free_list(&maker->large);
    free_list(&maker->done);
    pthread_cond_destroy(&maker->changed);
    pthread_mutex_destroy(&maker->lock);
    wndl_mem_free(wndl_mem_libc(), maker);
}

static struct job *new_job(
    struct wndl_table_maker *maker, const struct wndl_table_order *order)
{
    struct job *job = wndl_mem_zalloc(wndl_mem_libc(), sizeof *job);
    if (job == NULL)
        return NULL;
    job->owner = order->owner;
    job->path = order->path;
    job->file = *order->file;
    if (order->kept != NULL)
        job->kept = *order->kept;
    wndl_buf_init(&job->table, &maker->mem);
    *order->file = (struct wndl_file){0};
    return job;
}

void wndl_table_maker_add(
    struct wndl_table_maker *maker, const struct wndl_table_order *order)
{
    struct job *job = new_job(maker, order);
    if (job == NULL) {
        wndl_file_close(order->file);
        return;
    }
    pthread_mutex_lock(&maker->lock);
    put(&maker->quick, job);
    pthread_cond_broadcast(&maker->changed);
    pthread_mutex_unlock(&maker->lock);
    start_thread(maker);
}

bool wndl_table_maker_next(
    struct wndl_table_maker *maker, struct wndl_table_made *made)
{
    pthread_mutex_lock(&maker->lock);
    const bool waits = maker->quick.first != NULL || maker->large.first != NULL;
    struct job *job = take(&maker->done);
    pthread_mutex_unlock(&maker->lock);
    if (waits)
        start_thread(maker);
    if (job == NULL)
        return false;
    *made =
        (struct wndl_table_made){job->owner, job->table, job->status, job->err};
    wndl_buf_init(&job->table, &maker->mem);
    free_job(job);
    return true;
}

/* Under the lock. */
static bool is_working(const struct wndl_table_maker *maker)
{
    return maker->quick.first != NULL || maker->large.first != NULL ||
           maker->now != NULL;
}

bool wndl_table_maker_is_idle(struct wndl_table_maker *maker)
{
    pthread_mutex_lock(&maker->lock);
    const bool is_idle = !is_working(maker) && maker->done.first == NULL;
    pthread_mutex_unlock(&maker->lock);
    return is_idle;
}

bool wndl_table_maker_wait(struct wndl_table_maker *maker, uint64_t ns)
{
    const uint64_t end = wndl_clock_monotonic_ns() + ns;
    const struct timespec until = {
        (time_t)(end / NS_PER_S), (long)(end % NS_PER_S)};
    int why = 0;
    pthread_mutex_lock(&maker->lock);
    while (why == 0 && maker->runs && maker->done.first == NULL &&
           is_working(maker))
        why = pthread_cond_timedwait(&maker->changed, &maker->lock, &until);
    const bool may_come = maker->runs || maker->done.first != NULL;
    pthread_mutex_unlock(&maker->lock);
    return may_come;
}
