/* SPDX-License-Identifier: MIT */
/* mvp_view: a memory value profile with names, as writers take it. */
#ifndef WNDL_MODEL_MVP_VIEW_H
#define WNDL_MODEL_MVP_VIEW_H

#include "model/callgraph.h"
#include "model/mvp.h"

/* The graph's events, in this order. */
enum wndl_mvp_event {
    WNDL_MVP_WASTED,  /* constant bits of sectors */
    WNDL_MVP_SECTORS, /* of loads that are not wide */
    WNDL_MVP_LOADS,
    WNDL_MVP_WIDE, /* loads of vectors */
    WNDL_MVP_EVENTS,
};

/* Why a field could be smaller, the first that is true. */
enum wndl_mvp_waste {
    WNDL_MVP_CONSTANT, /* it always had one value */
    WNDL_MVP_EQUAL,    /* it equals an earlier field */
    WNDL_MVP_POINTER,  /* of a pointer, the constant bits */
    WNDL_MVP_FEW,      /* it had 2 to 8 values */
    WNDL_MVP_NARROW,   /* a smaller type holds all values */
    WNDL_MVP_FULL,     /* nothing */
};

/* Bytes [offset, offset + size) of a block, or of an array's element. */
struct wndl_mvp_field {
    uint64_t offset;
    uint32_t size;
    uint32_t needed; /* bytes that a smaller type would take; 0: none */
    enum wndl_mvp_waste waste;
    bool is_signed;  /* of NARROW: the smaller type needs a sign */
    bool is_pointer; /* all values were addresses of memory, or 0 */
    uint64_t same;   /* of EQUAL: offset of the other field */
    uint64_t loads;
    uint64_t first, varying, signs; /* as of struct wndl_mvp_site */
    uint64_t values[WNDL_MVP_VALUES];
    uint32_t value_count; /* of `values`; WNDL_MVP_VALUES + 1: too many */
    const char *name;     /* of the member, or "" */
};

/* Bytes [start, end) that nothing read, or that nothing wrote. */
struct wndl_mvp_gap {
    uint64_t start, end;
    bool is_unread, is_unwritten;
    const char *name; /* of the members there, "padding", or "" */
};

/* The blocks that a line of the program allocated. */
struct wndl_mvp_data {
    const char *text;      /* "function (file:line)" */
    const char *type;      /* of an element, or "" */
    bool type_is_inferred; /* by debug information; the user did not give it */
    uint64_t blocks, bytes;
    uint64_t size;         /* of an element; 0: blocks have several sizes, and
                           * no element is known */
    uint64_t count;        /* elements in all blocks */
    bool is_array;         /* blocks have several elements */
    uint64_t loads;        /* with a value */
    uint64_t needed;       /* bytes that an element would take */
    uint64_t saved;        /* bytes of all blocks */
    uint64_t pointer_bits; /* constant ones of pointers, in all blocks */
    uint64_t ordered;      /* bytes of an element whose members are in the order
                            * of `order`, without another change; 0: no order is
                            * known to save any */
    const char *order;     /* names of members, or "" */
    const struct wndl_mvp_field *fields; /* by offset */
    uint32_t field_count;
    const struct wndl_mvp_gap *gaps; /* by offset */
    uint32_t gap_count;
};

/* Blocks that are always born and freed with the one that points to them. */
struct wndl_mvp_twins {
    const char *text, *child; /* the lines that allocate them */
    const char *name;         /* of the member, or "" */
    uint64_t offset;          /* of the pointer */
    uint64_t size, child_size;
    uint64_t blocks;
    uint64_t saved; /* bytes, were they one block each */
};

/* All that is known of blocks; 0: --blocks was not given. */
struct wndl_mvp_heap_view {
    const struct wndl_vec *data;  /* struct wndl_mvp_data: most saved first */
    const struct wndl_vec *twins; /* struct wndl_mvp_twins: the same */
    uint64_t loads, loads_in_blocks;
    uint64_t saved;
    uint64_t pointer_bits;
};

struct wndl_mvp_view {
    const struct wndl_mvp *mvp;
    const struct wndl_callgraph *graph;
    const struct wndl_vec *rows; /* struct wndl_mvp_row: most wasted first,
                                  * then the wide ones, most sectors first */
    struct wndl_mvp_totals totals;
    struct wndl_mvp_heap_view heap;
};

#endif
