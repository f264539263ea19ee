/* SPDX-License-Identifier: MIT */
/*
 * heapdump FILE: the heaps of a recording as lines of words, for test scripts.
 *
 *   heap PROCESS CUMULATIVE LEAKS_WANTED SAMPLE_BELOW
 *   snapshot PROCESS NUMBER WHY TEXT TOTAL... / MISSED...
 *   live PROCESS BYTES BLOCKS                  in the order of their times
 *   site PROCESS ALLOCS FREES AT_PEAK TEMPORARY LIFETIME END REQUESTED SLOP
 *       FRAME...                               of the last snapshot
 *   leak PROCESS DEFINITE INDIRECT POSSIBLE REQUESTED SLOP FRAME...
 *   growth PROCESS BY_COPY CHAINS STEPS ALLOCATED FINAL DOUBLING LEAST MOST
 *       FRAME...
 *   wrong PROCESS KIND COUNT ADDRESS FRAME... [taken BY FREED-BY FRAME...]
 *   together PROCESS BLOCKS REQUESTED REQUESTED
 *
 * Frames are leaf first, IMAGE+RVA or an address. Of the totals, the peak's
 * time is left out.
 */
#include "model/heap.h"
#include "os/file.h"
#include "wndl/read.h"

#include <inttypes.h>
#include <stdio.h>

static void say_numbers(const uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        printf(" %" PRIu64, numbers[i]);
}

static void put_stack(const struct wndl_profile *p, size_t leaf)
{
    for (size_t n = leaf; n != 0;) {
        const struct wndl_node *node = wndl_vec_at(&p->nodes, n);
        const struct wndl_frame_key *f = wndl_vec_at(&p->frames, node->frame);
        if (f->image == WNDL_NO_INDEX)
            printf(" 0x%" PRIx64, f->address);
        else
            printf(" %" PRIu32 "+0x%" PRIx64, f->image, f->address);
        n = node->parent;
    }
}

static void say_stack(const struct wndl_profile *p, size_t leaf)
{
    put_stack(p, leaf);
    putchar('\n');
}

static const struct wndl_alloc_site *site_at(
    const struct wndl_process_heap *h, uint32_t site)
{
    return wndl_vec_at(&h->sites, site);
}

static void say_snapshots(const struct wndl_process_heap *h)
{
    for (size_t i = 0; i < h->snapshots.len; i++) {
        const struct wndl_heap_snapshot *s = wndl_vec_at(&h->snapshots, i);
        printf("snapshot %" PRIu32 " %" PRIu64 " %d '%.*s'", h->process,
            s->number, s->why, (int)s->text.size, (const char *)s->text.data);
        say_numbers(s->totals, WNDL_HEAP_TOTAL_PEAK_TIME);
        say_numbers(&s->totals[WNDL_HEAP_TOTAL_INHERITED], 1);
        printf(" /");
        say_numbers(s->missed, WNDL_HEAP_MISSED_REASONS);
        putchar('\n');
    }
}

static void say_moments(const struct wndl_process_heap *h)
{
    for (size_t i = 0; i < h->moments.len; i++) {
        const struct wndl_heap_moment *m = wndl_vec_at(&h->moments, i);
        printf("live %" PRIu32 " %" PRIu64 " %" PRIu64 "\n", h->process,
            m->bytes, m->blocks);
    }
}

static void say_memory(const struct wndl_process_heap *h)
{
    for (size_t i = 0; i < h->memory.len; i++) {
        const struct wndl_heap_memory *m = wndl_vec_at(&h->memory, i);
        const uint64_t numbers[] = {
            m->live, m->live_mapped, m->sum.proportional, m->sum.mapped};
        printf("memory %" PRIu32, h->process);
        say_numbers(numbers, sizeof numbers / sizeof numbers[0]);
        say_numbers(m->sum.resident, WNDL_MEMORY_KINDS);
        putchar('\n');
    }
}

static void say_places(
    const struct wndl_profile *p, const struct wndl_process_heap *h)
{
    for (size_t i = 0; i < h->places.len; i++) {
        const struct wndl_heap_place *at = wndl_vec_at(&h->places, i);
        const uint64_t numbers[] = {at->kind, at->bytes, at->start, at->live};
        printf("place %" PRIu32, h->process);
        say_numbers(numbers, sizeof numbers / sizeof numbers[0]);
        printf(" %.*s", (int)at->name.size, (const char *)at->name.data);
        say_stack(p, at->node);
    }
}

static void say_sites(
    const struct wndl_profile *p, const struct wndl_process_heap *h)
{
    for (size_t i = 0; i < h->counts.len; i++) {
        const struct wndl_alloc_counts *c = wndl_vec_at(&h->counts, i);
        const struct wndl_alloc_site *site = site_at(h, c->site);
        const uint64_t numbers[] = {c->allocs, c->frees, c->at_peak,
            c->temporary, c->lifetime, site->end, site->requested, site->slop};
        printf("site %" PRIu32, h->process);
        say_numbers(numbers, sizeof numbers / sizeof numbers[0]);
        say_stack(p, site->node);
    }
}

static void say_leaks(
    const struct wndl_profile *p, const struct wndl_process_heap *h)
{
    for (size_t i = 0; i < h->leaks.len; i++) {
        const struct wndl_alloc_leaks *l = wndl_vec_at(&h->leaks, i);
        const struct wndl_alloc_site *site = site_at(h, l->site);
        const uint64_t numbers[] = {
            l->definite, l->indirect, l->possible, site->requested, site->slop};
        printf("leak %" PRIu32, h->process);
        say_numbers(numbers, sizeof numbers / sizeof numbers[0]);
        say_stack(p, site->node);
    }
}

static void say_wrong_stacks(
    const struct wndl_profile *p, const struct wndl_alloc_wrong *w)
{
    put_stack(p, w->node);
    if (w->taken_at != 0) {
        printf(" taken %d %d", w->taken_by, w->freed_by);
        put_stack(p, w->taken_at);
    }
    putchar('\n');
}

static void say_findings(
    const struct wndl_profile *p, const struct wndl_process_heap *h)
{
    for (size_t i = 0; i < h->growths.len; i++) {
        const struct wndl_alloc_growth *g = wndl_vec_at(&h->growths, i);
        const uint64_t numbers[] = {g->by_copy, g->chains, g->steps,
            g->allocated, g->final, g->doubling, g->least_step, g->most_step};
        printf("growth %" PRIu32, h->process);
        say_numbers(numbers, sizeof numbers / sizeof numbers[0]);
        say_stack(p, g->node);
    }
    for (size_t i = 0; i < h->wrongs.len; i++) {
        const struct wndl_alloc_wrong *w = wndl_vec_at(&h->wrongs, i);
        const uint64_t numbers[] = {w->kind, w->count, w->address};
        printf("wrong %" PRIu32, h->process);
        say_numbers(numbers, sizeof numbers / sizeof numbers[0]);
        say_wrong_stacks(p, w);
    }
    for (size_t i = 0; i < h->together.len; i++) {
        const struct wndl_alloc_together *t = wndl_vec_at(&h->together, i);
        printf("together %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
            h->process, t->blocks, site_at(h, t->site)->requested,
            site_at(h, t->other)->requested);
    }
}

static void say_reported(
    const struct wndl_profile *p, const struct wndl_process_heap *h)
{
    for (size_t i = 0; i < h->reported.len; i++) {
        const struct wndl_alloc_reported *r = wndl_vec_at(&h->reported, i);
        const struct wndl_alloc_site *site = site_at(h, r->site);
        const uint64_t numbers[] = {
            r->reports, r->blocks, site->requested, site->slop};
        printf("reported %" PRIu32, h->process);
        say_numbers(numbers, sizeof numbers / sizeof numbers[0]);
        put_stack(p, site->node);
        for (unsigned k = 0; k < r->reports; k++) {
            printf(" by");
            put_stack(p, r->by[k].node);
        }
        putchar('\n');
    }
}

static void say_heap(
    const struct wndl_profile *p, const struct wndl_process_heap *h)
{
    printf("heap %" PRIu32 " %d %d %" PRIu64 "\n", h->process, h->cumulative,
        h->leaks_wanted, h->sample_below);
    say_snapshots(h);
    say_moments(h);
    say_memory(h);
    say_places(p, h);
    say_sites(p, h);
    say_leaks(p, h);
    say_findings(p, h);
    say_reported(p, h);
}

int main(int argc, char **argv)
{
    struct wndl_file file;
    struct wndl_profile p;
    struct wndl_error err = {0};
    char text[512];
    if (argc != 2)
        return 2;
    if (!wndl_profile_init(&p, wndl_mem_libc()) ||
        wndl_file_open(argv[1], &file, &err) != WNDL_OK ||
        wndl_reader_read(&p, file.bytes, &err) != WNDL_OK) {
        fprintf(
            stderr, "heapdump: %s\n", wndl_error_text(&err, text, sizeof text));
        return 1;
    }
    for (size_t i = 0; i < p.heaps.len; i++)
        say_heap(&p, wndl_vec_at(&p.heaps, i));
    wndl_profile_free(&p);
    wndl_file_close(&file);
    return 0;
}
