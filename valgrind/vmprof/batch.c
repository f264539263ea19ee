/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "batch.h"

#include "pages.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

struct batch *batch_add(struct batch **list, const struct at *at,
    const struct batch_event *events, UInt count)
{
    SizeT size = count * sizeof *events;
    struct batch *batch = VG_(malloc)("vmprof.batch", sizeof *batch + size);
    batch->next = *list;
    batch->at = *at;
    batch->count = count;
    VG_(memcpy)(batch->events, events, size);
    *list = batch;
    return batch;
}

void batch_free_all(struct batch *list)
{
    for (struct batch *next; list != NULL; list = next) {
        next = list->next;
        VG_(free)(list);
    }
}

static void fetch(const struct batch *batch, Addr ip, Addr first, SizeT size)
{
    const struct access access = {ip, batch->at, ACCESS_FETCH, False, 0};
    pages_access(&access, first, size);
}

/*
 * The fetches of later instructions of a page are checked only once. Where an
 * access to data takes the page's mark, the next one is fetched here. If it
 * comes after another access of the same instruction, every access has to be
 * simulated until then.
 */
static void access_data(const struct batch *batch, UInt index, Addr address)
{
    const struct batch_event *e = &batch->events[index];
    const struct access access = {
        e->ip, batch->at, ACCESS_DATA, e->is_write, 0};
    pages_access(&access, address, e->size);
    if (pages_is_referenced(e->code))
        return;
    if (e->has_more && index + 1 == batch->count)
        pages_forget_tags();
    else if (e->next_ip != 0)
        fetch(batch, e->next_ip, e->next_ip, 1);
}

static void simulate(const struct batch *batch, const Addr *addresses)
{
    for (UInt i = 0; i < batch->count; i++) {
        const struct batch_event *e = &batch->events[i];
        if (e->kind == ACCESS_FETCH)
            fetch(batch, e->ip, e->code, e->size);
        else
            access_data(batch, i, *addresses++);
    }
}

/* ---- helpers, called by the program's code */

static VG_REGPARM(1) void on_fetch(const struct batch *batch)
{
    simulate(batch, NULL);
}

static VG_REGPARM(2) void on_data_1(const struct batch *batch, Addr a)
{
    simulate(batch, &a);
}

static VG_REGPARM(3) void on_data_2(const struct batch *batch, Addr a, Addr b)
{
    const Addr addresses[] = {a, b};
    simulate(batch, addresses);
}

static VG_REGPARM(3) void on_data_3(
    const struct batch *batch, Addr a, Addr b, Addr c)
{
    const Addr addresses[] = {a, b, c};
    simulate(batch, addresses);
}

void *batch_helper(UInt data, const HChar **name)
{
    static const struct {
        void *function;
        const HChar *name;
    } helpers[BATCH_DATA + 1] = {
        {&on_fetch, "on_fetch"},
        {&on_data_1, "on_data_1"},
        {&on_data_2, "on_data_2"},
        {&on_data_3, "on_data_3"},
    };
    *name = helpers[data].name;
    return helpers[data].function;
}
