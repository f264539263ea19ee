/* SPDX-License-Identifier: MIT */
/* Any bytes as a PDB file: functions listed, and looked up where they are said
 * to be. */
#include "dbg/pdb/pdb.h"

#include "base/arena.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 64 };

struct starts {
    uint64_t rva[MOST];
    size_t count;
};

static void check(struct wndl_bytes text)
{
    if (text.data != NULL && text.data[text.size] != '\0')
        abort();
}

static enum wndl_status note(
    void *context, const struct wndl_pdb_function *function)
{
    struct starts *starts = context;
    check(function->name);
    check(function->linkage_name);
    starts->rva[starts->count++] = function->rva;
    starts->rva[starts->count++] = function->rva + function->size / 2;
    return starts->count == MOST ? WNDL_LIMIT : WNDL_OK;
}

static enum wndl_status check_stack(
    void *context, const struct wndl_pdb_stack *stack)
{
    size_t *left = context;
    if (stack->size == 0 || stack->rva + stack->size < stack->rva ||
        (*left)-- == 0)
        abort();
    for (size_t i = 0; i < stack->program.size; i++)
        if (stack->program.data[i] < ' ')
            abort();
    return WNDL_OK;
}

static void look_up(struct wndl_pdb *pdb, uint64_t rva)
{
    struct wndl_pdb_frames frames;
    if (wndl_pdb_lookup(pdb, rva, &frames) != WNDL_OK)
        return;
    for (size_t i = 0; i < frames.count; i++) {
        const struct wndl_pdb_frame *f = &frames.frames[i];
        if (f->inlined != (i + 1 < frames.count))
            abort();
        check(f->name);
        check(f->linkage_name);
        check(f->file);
    }
    if (frames.count == 0)
        abort();
}

static void find_changes(struct wndl_pdb *pdb, uint64_t rva)
{
    struct wndl_arena arena;
    struct wndl_vec rvas;
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&rvas, &arena, sizeof(uint64_t));
    (void)!wndl_pdb_changes(pdb, rva, rva + 1000, &rvas);
    for (size_t i = 0; i < rvas.len; i++) {
        const uint64_t *place = wndl_vec_at(&rvas, i);
        if (*place < rva || *place >= rva + 1000)
            abort();
    }
    wndl_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct starts starts = {.count = 0};
    struct wndl_pdb *pdb;
    const struct wndl_pdb_source source = {.file = {data, size}};
    if (wndl_pdb_open(&source, wndl_mem_libc(), &pdb, NULL) != WNDL_OK)
        return 0;
    (void)!wndl_pdb_visit_functions(pdb, note, &starts);
    if (starts.count < MOST)
        (void)!wndl_pdb_visit_publics(pdb, note, &starts);
    for (size_t i = 0; i < starts.count; i++) {
        look_up(pdb, starts.rva[i]);
        if (i % 8 == 0)
            find_changes(pdb, starts.rva[i]);
    }
    (void)!wndl_pdb_visit_stacks(pdb, check_stack, &size);
    wndl_pdb_close(pdb);
    return 0;
}
