/* SPDX-License-Identifier: MIT */
/* flow_impl: what flow.c, ways.c and scan.c share. */
#ifndef WNDL_CFI_IMPORT_CODE_FLOW_IMPL_H
#define WNDL_CFI_IMPORT_CODE_FLOW_IMPL_H

#include "base/search.h"
#include "cfi_import/code/flow.h"

/* Marks, above the size of an instruction. */
enum {
    IS_TARGET = 0x10, /* of a branch */
    IS_NAMED = 0x20,
    IS_CALLED = 0x40,
    IS_START = 0x80, /* of a known function */
    IS_NEW = 0x100,  /* reached since the entry */
    IS_PADDING = 0x200,
    IS_COVERED = 0x400, /* is not followed */
    IS_PLAIN = 0x800,   /* was scanned: it changes nothing that is followed */
};

static inline bool has_offset(const struct wndl_code_flow *f, uint64_t svma)
{
    return svma - f->text->code.svma < f->text->code.bytes.size;
}

static inline uint32_t offset_of(const struct wndl_code_flow *f, uint64_t svma)
{
    return (uint32_t)(svma - f->text->code.svma);
}

static inline struct wndl_bytes code_at(
    const struct wndl_code_flow *f, uint64_t at)
{
    const struct wndl_bytes all = f->text->code.bytes;
    return wndl_bytes_slice(all, at, all.size - at);
}

static inline const struct wndl_code_range *range_at(
    struct wndl_code_ranges ranges, uint64_t svma)
{
    const size_t n = ranges.count == 0
                         ? 0
                         : wndl_search_up_to(&ranges.all->start,
                               sizeof *ranges.all, ranges.count, svma);
    return n != 0 && svma < ranges.all[n - 1].end ? &ranges.all[n - 1] : NULL;
}

static inline uint32_t id_at(const struct wndl_code_flow *f, uint64_t at)
{
    return wndl_code_flow_id(f, at);
}

static inline void set_id(struct wndl_code_flow *f, uint32_t at, uint32_t id)
{
    const uint32_t marks = f->marks[at] & ((1u << WNDL_CODE_MARKS) - 1);
    f->marks[at] = id << WNDL_CODE_MARKS | marks;
}

/* Whether this code is followed. */
static inline bool is_ours(const struct wndl_code_flow *f, uint64_t svma)
{
    return has_offset(f, svma) &&
           (f->marks[offset_of(f, svma)] & IS_COVERED) == 0;
}

/* A way into an instruction: its offset, and the id of the state there. */
struct wndl_code_way {
    uint32_t at, id;
};

/* The last way that was added is taken first. False: there is none. */
void wndl_code_add_way(
    struct wndl_code_flow *f, struct wndl_vec *ways, uint32_t at, uint32_t id);
bool wndl_code_take_way(struct wndl_vec *ways, struct wndl_code_way *way);

/* Of `later`, a heap, the way with the lowest address is taken first. */
void wndl_code_add_later(struct wndl_code_flow *f, uint32_t at, uint32_t id);
bool wndl_code_take_later(struct wndl_code_flow *f, struct wndl_code_way *way);

/*
 * The registers that the function at `svma` does not write, a bit each, as far
 * as that is known: it calls nothing (AArch64: only such functions), and all of
 * its code is from there to a return. Counts as work.
 */
uint32_t wndl_code_callee_keeps(struct wndl_code_flow *f, uint64_t svma);

/*
 * The bytes that the function at `svma` frees as it returns, above its return
 * address: where it ends by "ret $4", as those of i386 do that return a struct.
 * 0 where that is not known. Counts as work, each function once.
 */
uint16_t wndl_code_callee_frees(struct wndl_code_flow *f, uint64_t svma);

#endif
