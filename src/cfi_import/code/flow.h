/* SPDX-License-Identifier: MIT */
/*
 * flow: follows the code of one section through all branches from its entries,
 * and keeps the state before each instruction that it reaches. Where two ways
 * disagree, what they disagree about is not known.
 *
 * Time and memory are bounded by the size of the code, whatever it does.
 */
#ifndef WNDL_CFI_IMPORT_CODE_FLOW_H
#define WNDL_CFI_IMPORT_CODE_FLOW_H

#include "base/intern.h"
#include "base/map.h"
#include "cfi_import/code/state.h"

/* Code or data of a binary, as its file has it. */
struct wndl_code_part {
    uint64_t svma;
    struct wndl_bytes bytes;
};

/* Sorted and disjoint ranges of code, svma. */
struct wndl_code_range {
    uint64_t start, end;
};

struct wndl_code_ranges {
    const struct wndl_code_range *all;
    size_t count;
};

/* Borrowed. */
struct wndl_code_text {
    enum wndl_insn_mode mode;
    struct wndl_code_part code;
    const struct wndl_code_part *parts; /* for tables of jumps */
    size_t part_count;
    uint64_t start; /* where the process starts; 0: not here */
    uint64_t got;   /* i386: from where code counts addresses of data, svma */
    bool is_fixed;  /* i386: a constant may be an address */
    struct wndl_code_ranges covered;   /* is not followed */
    struct wndl_code_ranges functions; /* known extents, or none */
    /* Whether a call of `svma` does not return. */
    bool (*ends)(void *context, uint64_t svma);
    void *context;
};

/* How certainly code starts a function. */
enum wndl_code_entry {
    WNDL_CODE_CALLED = 1, /* or a symbol: it does */
    WNDL_CODE_NAMED,      /* something has its address */
    WNDL_CODE_FIRST,      /* it does, and has addresses of functions alone */
};

/* The data at `svma` up to the end of its part; empty: there is none. */
struct wndl_bytes wndl_code_text_bytes(
    const struct wndl_code_text *text, uint64_t svma);

enum { WNDL_CODE_MARKS = 12 };

struct wndl_code_flow {
    const struct wndl_code_text *text;
    struct wndl_arena *arena;
    /* For each byte of code, the size of the instruction that starts there,
     * flow.c's marks and, above WNDL_CODE_MARKS bits, the id of the state
     * before it; 0: none starts there. One word: it is most of the memory. */
    uint32_t *marks;
    struct wndl_intern states;
    struct wndl_vec todo;  /* ways to be followed */
    struct wndl_vec later; /* those after calls that may not return; a heap */
    struct wndl_vec last;  /* those that lead into other functions */
    struct wndl_vec jumps; /* by what is not known */
    struct wndl_vec meetings; /* of called entries with ways from others */
    struct wndl_vec changed;  /* since the entry: ids as they were before */
    size_t sorted;            /* so many jumps at the front are, by offset */
    uint32_t function; /* the last known start up to the gap that is tried */
    struct wndl_vec trail;     /* offsets first reached since the entry */
    struct wndl_vec returns;   /* offsets of returns since the entry */
    struct wndl_vec called;    /* offsets of entries found on the way */
    struct wndl_vec addresses; /* uint64_t, of data: sorted by the run */
    struct wndl_map
        frees;        /* i386: svma of a function -> its bytes freed, + 1 */
    uint64_t first;   /* svma of the entry of kind FIRST; 0: none */
    uint64_t scanned; /* bytes of code that were scanned, but for padding */
    uint32_t entry;   /* id of the state at entries */
    uint64_t work, most_work;
    /* Since the entry: returns with another SP, ways that meet with different
     * SPs, and ways to the end. */
    uint32_t odd, conflicts, ends;
    bool lenient; /* conflicts are settled, not only counted */
    bool meets;   /* meetings are joined, not only kept */
    bool named;   /* the entry is named: it need not be seen to return */
    bool failed;  /* memory is out */
    bool full;    /* too much work, or too many states */
};

/* False if memory is out. Memory is the arena's. */
bool wndl_code_flow_init(struct wndl_code_flow *flow,
    const struct wndl_code_text *text, struct wndl_arena *arena);

/* Adds an entry. Those outside of the code are ignored. */
void wndl_code_flow_enter(
    struct wndl_code_flow *flow, uint64_t svma, enum wndl_code_entry kind);

/* Finds more entries in [start, end), whose first byte starts an instruction:
 * what it calls, or has the address of. */
void wndl_code_flow_scan(
    struct wndl_code_flow *flow, uint64_t start, uint64_t end, bool is_sure);

/* Follows everything. False if memory is out. */
bool wndl_code_flow_run(struct wndl_code_flow *flow);

/* The id of the state before the instruction at `offset`; 0: not reached. */
static inline uint32_t wndl_code_flow_id(
    const struct wndl_code_flow *flow, uint64_t offset)
{
    return flow->marks[offset] >> WNDL_CODE_MARKS;
}

/* The state before the instruction at `offset`; false: not reached. */
static inline bool wndl_code_flow_state(const struct wndl_code_flow *flow,
    uint64_t offset, struct wndl_code_state *state)
{
    const uint32_t id = wndl_code_flow_id(flow, offset);
    if (id == 0)
        return false;
    wndl_code_state_load(state, wndl_intern_get(&flow->states, id));
    return true;
}

/* Whether it starts a function. */
bool wndl_code_flow_is_entry(
    const struct wndl_code_flow *flow, uint64_t offset);

/* Whether a reached instruction is padding (insn.h). */
bool wndl_code_flow_is_padding(
    const struct wndl_code_flow *flow, uint64_t offset);

/* The size of a reached instruction. */
static inline unsigned wndl_code_flow_size(
    const struct wndl_code_flow *flow, uint64_t offset)
{
    return flow->marks[offset] & WNDL_INSN_LONGEST;
}

#endif
