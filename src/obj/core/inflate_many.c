/* SPDX-License-Identifier: MIT */
/*
 * inflate_many: several compressed sections at once, each in one thread, for a
 * file whose debug information will be read. Sections that fail are left to
 * wndl_object_section_bytes, which reports the reason.
 */
#include "base/workers.h"
#include "obj/core/object_impl.h"

#include <stdatomic.h>

enum { MOST = 16 };

/* Below this, inflating takes no longer than starting threads. */
static const uint64_t WORTH_A_THREAD = UINT64_C(1) << 20;

struct job {
    struct wndl_object_section *section;
    struct wndl_packed packed;
    enum wndl_status status;
};

/* Largest first, so that none is left over at the end. */
struct workers {
    struct job jobs[MOST];
    size_t count;
    atomic_size_t next;
};

static void add_job(
    struct workers *workers, struct wndl_object_section *section, uint64_t size)
{
    size_t at = workers->count++;
    for (; at > 0 && workers->jobs[at - 1].section->view.size < size; at--)
        workers->jobs[at] = workers->jobs[at - 1];
    workers->jobs[at] = (struct job){.section = section};
}

static void collect_jobs(struct workers *workers, struct wndl_object *object,
    const char *const *names, size_t count)
{
    for (size_t i = 0; i < count && workers->count < MOST; i++) {
        struct wndl_object_section *section =
            wndl_object_find_section(object, names[i]);
        if (section == NULL || section->packing == WNDL_PACKING_NONE ||
            section->own != NULL || section->view.size < WORTH_A_THREAD ||
            wndl_object_needs_relocation(object, section))
            continue;
        add_job(workers, section, section->view.size);
    }
}

/*
 * The object's memory is not for several threads: zlib's state comes from the C
 * library.
 */
static void work(void *context, unsigned member)
{
    struct workers *workers = context;
    (void)member;
    for (;;) {
        size_t at = atomic_fetch_add(&workers->next, 1);
        if (at >= workers->count)
            return;
        struct job *job = &workers->jobs[at];
        if (job->status == WNDL_OK)
            job->status = wndl_object_inflate_run(
                wndl_mem_libc(), job->section, &job->packed, NULL);
    }
}

void wndl_object_load_sections(
    struct wndl_object *object, const char *const *names, size_t count)
{
    struct workers workers = {.count = 0};
    collect_jobs(&workers, object, names, count);
    if (workers.count < 2)
        return;
    for (size_t i = 0; i < workers.count; i++)
        workers.jobs[i].status = wndl_object_inflate_begin(
            object, workers.jobs[i].section, &workers.jobs[i].packed, NULL);
    unsigned cores = wndl_workers_cores();
    wndl_workers_run(cores < workers.count ? cores : (unsigned)workers.count,
        work, &workers);
    for (size_t i = 0; i < workers.count; i++)
        if (workers.jobs[i].status != WNDL_OK)
            wndl_object_disown(object, workers.jobs[i].section);
}
