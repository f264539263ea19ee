/* SPDX-License-Identifier: MIT */
/*
 * symbolized: the names for a profile's frames, as plain data: functions, files
 * and lines by number, and the state of each module's symbols. It must not know
 * where names come from; analyze does.
 */
#ifndef WNDL_MODEL_SYMBOLIZED_H
#define WNDL_MODEL_SYMBOLIZED_H

#include "base/status.h"
#include "model/profile.h"

/* The best source of names for a module's addresses, best first. */
enum wndl_symbols_state {
    WNDL_SYMBOLS_LINES,      /* debug information */
    WNDL_SYMBOLS_NAMES,      /* a full symbol table */
    WNDL_SYMBOLS_EXPORTED,   /* exported names alone */
    WNDL_SYMBOLS_REPLACED,   /* the file is not the one that was recorded */
    WNDL_SYMBOLS_UNREADABLE, /* the file is damaged or of another kind */
    WNDL_SYMBOLS_NO_FILE,    /* the file cannot be opened */
    WNDL_SYMBOLS_NOWHERE,    /* never in a file: vDSO, generated code */
    WNDL_SYMBOLS_GENERATED,  /* generated, named by its generator */
};

/* "id" means the id of a string. */
struct wndl_module {
    uint32_t name;   /* id: last part of the path */
    uint32_t path;   /* id */
    uint32_t detail; /* id: the error that prevented a lookup, or 0 */
    uint32_t units_damaged;
    enum wndl_symbols_state state;
};

/*
 * A function, distinct by module, name and file. A function without a name is
 * called module+0xrva, after its start, or after an address in it if the start
 * is not known.
 */
struct wndl_function {
    uint32_t name; /* id */
    uint32_t file; /* id, 0: not known */
    uint32_t line; /* of its start, 0: not known */
    uint32_t module;
    bool unnamed;
};

/* A place in the code, distinct by all its fields. */
struct wndl_location {
    uint32_t function;
    uint32_t file; /* id, 0: not known */
    uint32_t line; /* 0: not known */
    bool inlined;  /* into the next location of its frame */
};

/*
 * The locations of a frame: frame_locations[first, first + count), innermost
 * first.
 */
struct wndl_span {
    uint32_t first;
    uint32_t count; /* >= 1 */
};

/*
 * Invariants: spans.len == profile->frames.len. For i < profile->images.len,
 * modules[i] is that image; the next module is for code in no image; further
 * ones are for generated code that has names.
 */
struct wndl_symbolized {
    const struct wndl_profile *profile;
    struct wndl_arena arena;
    struct wndl_intern strings;
    struct wndl_error lack;    /* the first wndl_error_is_lack(); else none */
    struct wndl_vec modules;   /* struct wndl_module */
    struct wndl_vec functions; /* struct wndl_function */
    struct wndl_vec locations; /* struct wndl_location */
    struct wndl_vec frame_locations; /* uint32_t into locations */
    struct wndl_vec spans;           /* struct wndl_span, by frame */
    struct wndl_map function_index, location_index;
};

/*
 * Makes modules for the profile's images, named but without a state, and an
 * empty span for each frame. `s` must not move; `profile` outlives it. False
 * when memory is out. Ends with wndl_symbolized_free.
 */
bool wndl_symbolized_init(struct wndl_symbolized *s,
    const struct wndl_profile *profile, struct wndl_mem *mem);
void wndl_symbolized_free(struct wndl_symbolized *s);

/*
 * The index of `function`, added if no other has its module, name and file;
 * *fresh says whether it was added. False when memory is out.
 */
bool wndl_symbolized_function(struct wndl_symbolized *s,
    struct wndl_function function, uint32_t *index, bool *fresh);

/* The index of `location`, added if new. False when memory is out. */
bool wndl_symbolized_place(struct wndl_symbolized *s,
    const struct wndl_location *location, uint32_t *index);

/*
 * Appends a location to the span of `frame`: the frame of the last call, or one
 * without locations. False when memory is out.
 */
bool wndl_symbolized_append(struct wndl_symbolized *s, uint32_t frame,
    const struct wndl_location *location);

/* The id of a C string, which is copied. False when memory is out. */
bool wndl_symbolized_text(
    struct wndl_symbolized *s, const char *text, uint32_t *id);

/* Location `i` of a frame's span, i < count; 0 is the innermost. */
static inline const struct wndl_location *wndl_symbolized_location(
    const struct wndl_symbolized *s, const struct wndl_span *span, uint32_t i)
{
    const uint32_t *at =
        (const uint32_t *)wndl_vec_at(&s->frame_locations, span->first + i);
    return (const struct wndl_location *)wndl_vec_at(&s->locations, *at);
}

/* The state of a module's symbols, for people. Static string. */
const char *wndl_symbols_state_text(enum wndl_symbols_state state);

#endif
