/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pages.h"

#include "costs.h"
#include "system.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

/*
 * What one size of memory knows of a page: the number of its frame above
 * FRAME_SHIFT, 0 when the page is not present, and marks below it.
 */
enum {
    REFERENCED = 1,
    DIRTY = 2,
    SWAPPED = 4, /* not present; was dirty and anonymous when it left */
    FRAME_SHIFT = 3,
};
typedef UInt page_state;

/* Pages in order of their first access. `states` of page i are those from
 * i * opt.size_count on. */
static UWord *numbers;
static page_state *states;
static UChar *flags; /* PRIVATE: anonymous, or becomes so when written;
                      * UNMAPPED: gone since its last access */
enum { PRIVATE = 1, UNMAPPED = 2 };
static UInt page_count;
static UInt page_room;

/* Open addressing: index of a page + 1, or 0. At most half of it is taken. */
static UInt *slots;
static UInt slot_count;

struct memory {
    UInt *frames; /* index of the page in each frame + 1, or 0 */
    UInt room;    /* frames in all */
    UInt used;    /* frames that were ever taken */
    UInt hand;
    UInt *free; /* frames that were given back */
    UInt free_count;
    ULong swapped;
    ULong swapped_peak;
};
static struct memory memories[MAX_SIZES];

UWord read_tags[TAGS];
UWord write_tags[TAGS];
struct fault_counts total_faults[MAX_SIZES];

void pages_forget_tags(void)
{
    VG_(memset)(read_tags, 0xff, sizeof read_tags);
    VG_(memset)(write_tags, 0xff, sizeof write_tags);
}

void pages_init(void)
{
    pages_forget_tags();
    slot_count = 1 << 12;
    slots = VG_(calloc)("vmprof.slots", slot_count, sizeof *slots);
    for (UInt s = 0; s < opt.size_count; s++) {
        struct memory *m = &memories[s];
        m->room = opt.memory[s] >> opt.page_shift;
    }
}

/* ---- pages by number */

static UInt slot_of(UWord number)
{
    ULong hash = (ULong)number * 0x9e3779b97f4a7c15ULL;
    return (UInt)(hash >> 32) & (slot_count - 1);
}

/* The slot that holds `number`, or the empty one where it belongs. */
static UInt find_slot(UWord number)
{
    UInt i = slot_of(number);
    while (slots[i] != 0 && numbers[slots[i] - 1] != number)
        i = (i + 1) & (slot_count - 1);
    return i;
}

static void grow_slots(void)
{
    VG_(free)(slots);
    slot_count *= 2;
    slots = VG_(calloc)("vmprof.slots", slot_count, sizeof *slots);
    for (UInt page = 0; page < page_count; page++)
        slots[find_slot(numbers[page])] = page + 1;
}

static void grow_pages(void)
{
    UInt old = page_room;
    page_room = page_room == 0 ? 1024 : page_room + page_room / 2;
    numbers =
        VG_(realloc)("vmprof.pages", numbers, page_room * sizeof *numbers);
    flags = VG_(realloc)("vmprof.pages", flags, page_room);
    SizeT row = opt.size_count * sizeof *states;
    states = VG_(realloc)("vmprof.states", states, page_room * row);
    VG_(memset)((UChar *)states + old * row, 0, (page_room - old) * row);
}

static UInt add_page(UInt slot, UWord number)
{
    if (page_count == page_room)
        grow_pages();
    UInt page = page_count++;
    numbers[page] = number;
    flags[page] = UNMAPPED;
    slots[slot] = page + 1;
    if (page_count > slot_count / 2)
        grow_slots();
    return page;
}

/* The index of the page `number`; `is_new` if it was never touched since it
 * was mapped. */
static UInt page_at(UWord number, Bool *is_new)
{
    UInt slot = find_slot(number);
    UInt page = slots[slot] == 0 ? add_page(slot, number) : slots[slot] - 1;
    *is_new = (flags[page] & UNMAPPED) != 0;
    if (*is_new)
        flags[page] = system_is_private(number << opt.page_shift) ? PRIVATE : 0;
    return page;
}

static page_state *state_of(UInt page, UInt size)
{
    return &states[page * opt.size_count + size];
}

/* ---- the clock */

static void forget_tag(UWord number)
{
    UWord tag = number << opt.page_shift;
    UWord i = number % TAGS;
    if (read_tags[i] == tag)
        read_tags[i] = NO_TAG;
    if (write_tags[i] == tag)
        write_tags[i] = NO_TAG;
}

static UInt next_frame(const struct memory *m, UInt frame)
{
    return frame + 1 == m->room ? 0 : frame + 1;
}

/* Empties the frame that the hand finds. `was_dirty` is of its page. */
static UInt evict(UInt size, Bool *was_dirty)
{
    struct memory *m = &memories[size];
    page_state *state;
    UInt page;
    for (;; m->hand = next_frame(m, m->hand)) {
        page = m->frames[m->hand] - 1;
        state = state_of(page, size);
        if ((*state & REFERENCED) == 0)
            break;
        *state &= ~REFERENCED;
        forget_tag(numbers[page]);
    }
    *was_dirty = (*state & DIRTY) != 0;
    Bool is_swapped = *was_dirty && (flags[page] & PRIVATE) != 0;
    *state = is_swapped ? SWAPPED : 0;
    m->swapped += is_swapped;
    if (m->swapped > m->swapped_peak)
        m->swapped_peak = m->swapped;
    UInt frame = m->hand;
    m->hand = next_frame(m, frame);
    return frame;
}

/* Frames are made as they are needed: a size may be larger than all pages. */
static UInt new_frame(struct memory *m)
{
    UInt n = m->used++;
    if ((n & (n - 1)) == 0)
        m->frames = VG_(realloc)("vmprof.frames", m->frames,
            (n == 0 ? 1 : 2 * n) * sizeof *m->frames);
    return n;
}

static UInt take_frame(UInt size, Bool *was_dirty)
{
    struct memory *m = &memories[size];
    *was_dirty = False;
    if (m->free_count > 0)
        return m->free[--m->free_count];
    if (m->used < m->room)
        return new_frame(m);
    return evict(size, was_dirty);
}

static void bring_in(
    const struct access *access, UInt page, UInt size, Bool is_first)
{
    Bool was_dirty;
    UInt frame = take_frame(size, &was_dirty);
    page_state *state = state_of(page, size);
    if (*state & SWAPPED)
        memories[size].swapped--;
    *state = (frame + 1) << FRAME_SHIFT;
    memories[size].frames[frame] = page + 1;
    enum fault_kind kind = is_first    ? FAULT_FIRST
                           : was_dirty ? FAULT_DIRTY
                                       : FAULT_CLEAN;
    total_faults[size].n[access->kind][kind]++;
    costs_fault(access, size, kind);
}

static void access_page(const struct access *access, UWord number)
{
    Bool is_first;
    UInt page = page_at(number, &is_first);
    Bool all_dirty = True;
    for (UInt size = 0; size < opt.size_count; size++) {
        page_state *state = state_of(page, size);
        if (*state >> FRAME_SHIFT == 0)
            bring_in(access, page, size, is_first);
        *state |= access->is_write ? REFERENCED | DIRTY : REFERENCED;
        all_dirty = all_dirty && (*state & DIRTY) != 0;
    }
    UWord i = number % TAGS;
    read_tags[i] = number << opt.page_shift;
    write_tags[i] = all_dirty ? read_tags[i] : NO_TAG;
}

/* The part of an access that lies in the page `number`. */
static void access_page_at(struct access *access, UWord number, Addr address)
{
    Addr start = number << opt.page_shift;
    access->address = address > start ? address : start;
    access_page(access, number);
}

void pages_access(const struct access *access, Addr address, SizeT size)
{
    struct access here = *access;
    UWord last = (address + size - 1) >> opt.page_shift;
    for (UWord number = address >> opt.page_shift; number <= last; number++) {
        UWord tag = number << opt.page_shift;
        const UWord *tags = access->is_write ? write_tags : read_tags;
        if (tags[number % TAGS] != tag)
            access_page_at(&here, number, address);
    }
}

Bool pages_is_referenced(Addr address)
{
    UWord number = address >> opt.page_shift;
    return read_tags[number % TAGS] == number << opt.page_shift;
}

/* ---- unmapping */

static void release(UInt page, UInt size)
{
    struct memory *m = &memories[size];
    page_state *state = state_of(page, size);
    UInt frame = *state >> FRAME_SHIFT;
    if (*state & SWAPPED)
        m->swapped--;
    *state = 0;
    if (frame == 0)
        return;
    m->frames[frame - 1] = 0;
    UInt n = m->free_count++;
    if ((n & (n - 1)) == 0)
        m->free = VG_(realloc)(
            "vmprof.free", m->free, (n == 0 ? 1 : 2 * n) * sizeof *m->free);
    m->free[n] = frame - 1;
}

static void unmap_page(UInt page)
{
    forget_tag(numbers[page]);
    flags[page] = UNMAPPED;
    for (UInt size = 0; size < opt.size_count; size++)
        release(page, size);
}

void pages_unmap(Addr start, SizeT size)
{
    UWord first = (start + ((UWord)1 << opt.page_shift) - 1) >> opt.page_shift;
    UWord end = (start + size) >> opt.page_shift;
    if (end <= first)
        return;
    if (end - first > page_count) {
        for (UInt page = 0; page < page_count; page++)
            if (numbers[page] >= first && numbers[page] < end)
                unmap_page(page);
        return;
    }
    for (UWord number = first; number < end; number++) {
        UInt slot = find_slot(number);
        if (slots[slot] != 0)
            unmap_page(slots[slot] - 1);
    }
}

void pages_forget_counts(void)
{
    VG_(memset)(total_faults, 0, sizeof total_faults);
    for (UInt size = 0; size < opt.size_count; size++)
        memories[size].swapped_peak = memories[size].swapped;
}

void pages_summarize(struct pages_summary *summary)
{
    summary->distinct = page_count;
    summary->peak_mapped = system_peak_mapped();
    for (UInt size = 0; size < opt.size_count; size++)
        summary->swapped[size] = memories[size].swapped_peak;
}
