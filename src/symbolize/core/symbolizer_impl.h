/* SPDX-License-Identifier: MIT */
/*
 * symbolizer_impl: the inside of a symbolizer, for the files of src/symbolize
 * only.
 *
 * Public functions take the lock; all others are called with it held.
 */
#ifndef WNDL_SYMBOLIZE_CORE_SYMBOLIZER_IMPL_H
#define WNDL_SYMBOLIZE_CORE_SYMBOLIZER_IMPL_H

#include "base/map.h"
#include "base/vec.h"
#include "dbg/breakpad/breakpad.h"
#include "dbg/dwarf/dwarf.h"
#include "obj/core/object.h"
#include "obj/find/debugfile.h"
#include "os/file.h"
#include "symbolize/debug_map/debug_map.h"
#include "symbolize/demangle/demangle.h"
#include "symbolize/files/cache_file.h"
#include "symbolize/files/debug_files.h"
#include "symbolize/files/pdb_find.h"
#include "symbolize/go/go_table.h"

#include <windlass/symbolize.h>

#include <pthread.h>

/* Sorted by name, then address: names[i] begins at ranges[i]. */
struct wndl_name_table {
    const char **names;
    struct wndl_symbol_range *ranges;
    size_t count;
    bool is_made;
};

/* In the order of the lookups. */
enum { WNDL_NAMES_MANGLED, WNDL_NAMES_OTHER, WNDL_NAME_TABLES };

/* `path` is NULL when answers are not kept; `answers` are those in `file`. */
struct wndl_symbol_cache {
    struct wndl_symbolizer_cache options;
    struct wndl_cache_key key;
    const char *folder;
    char *path;
    struct wndl_file file;
    struct wndl_cache_file answers;
};

/* A list of functions in the making. */
struct wndl_listing {
    struct wndl_symbolizer *s;
    struct wndl_vec functions; /* struct wndl_symbol_function */
    /* struct wndl_symbol_range: the ranges of these functions */
    struct wndl_vec taken;
};

/*
 * A source of names: a Breakpad symbol file, a PDB file, or a binary with its
 * debug file, symbol tables and DWARF. A symbolizer has one source, or a PDB
 * file and a binary; `sources` has them in the order of the lookups. Functions
 * that are marked so may be NULL. All but `begin` are called after the
 * symbolizer has the source; they return OK or NOMEM.
 */
struct wndl_name_source {
    /* Takes the file with these bytes, and defers the work that it can. */
    enum wndl_status (*begin)(struct wndl_symbolizer *s,
        struct wndl_bytes bytes, const char *path,
        const struct wndl_symbolizer_options *options, struct wndl_error *err);
    /* Does the deferred work. NULL: nothing is deferred. */
    enum wndl_status (*open)(struct wndl_symbolizer *s);
    /* Fills the empty answer with the frames of `rva`, in `arena`. */
    enum wndl_status (*resolve)(struct wndl_symbolizer *s,
        struct wndl_arena *arena, uint64_t rva, struct wndl_symbols *answer);
    /*
     * The number of the unit that is read as a whole for an address. NULL:
     * there is one unit.
     */
    uint32_t (*unit_of)(const struct wndl_symbolizer *s, uint64_t rva);
    /* Lists the functions whose ranges are known, and takes these ranges. */
    enum wndl_status (*list)(struct wndl_listing *l);
    /* Lists the symbols outside of taken ranges. NULL: there are none. */
    enum wndl_status (*list_rest)(struct wndl_listing *l);
    /*
     * Adds the places in `range` where answers change (uint64_t). NULL: none.
     */
    enum wndl_status (*changes)(struct wndl_symbolizer *s,
        struct wndl_dwarf_range range, struct wndl_vec *places);
    /* Adds to the info that the next source, if any, has filled in. */
    void (*add_info)(
        const struct wndl_symbolizer *s, struct wndl_symbolizer_info *info);
};

enum { WNDL_MOST_SOURCES = 2 };

/* The largest size of a linkage table, in bytes. */
enum { WNDL_MOST_STUBS = 16 << 20 };

/*
 * A symbolizer. DWARF is read from `debug`, the symbol table from `symbols`:
 * each is `binary` or debugfile.object. `dwarf` is NULL without DWARF, and as
 * long as `is_deferred`: kept answers suffice so far. `map` replaces both where
 * DWARF was left in object files, `go` where a Go program has none. `answers`
 * maps an rva to a struct wndl_symbols of the arena; a count of 0 means that
 * nothing is known there. The binary's bytes are in `file`, in `read`, or the
 * caller's. Instead of a binary they may be a Breakpad symbol file: then
 * `binary` is NULL and breakpad_text is not empty, and `breakpad` is NULL as
 * long as `is_deferred`. `pdb` is pdb_file's, or, if `binary` is NULL, the file
 * that the caller opened.
 */
struct wndl_symbolizer {
    pthread_mutex_t lock;
    struct wndl_mem *mem;
    struct wndl_arena arena;
    const struct wndl_name_source *sources[WNDL_MOST_SOURCES];
    size_t source_count;
    struct wndl_file file;
    uint8_t *read; /* of mem, or NULL */
    struct wndl_object *binary;
    struct wndl_debugfile debugfile;
    struct wndl_object *debug;
    struct wndl_object *symbols;
    struct wndl_debug_files *files; /* NULL without DWARF */
    struct wndl_dwarf *dwarf;
    struct wndl_debug_map *map;        /* or NULL */
    struct wndl_go_table *go;          /* or NULL */
    struct wndl_dwarf_workers workers; /* they read the units of a batch */
    struct wndl_breakpad *breakpad;
    struct wndl_bytes breakpad_text;
    struct wndl_bytes breakpad_id; /* of its MODULE record */
    const char *breakpad_path;
    struct wndl_pdb *pdb; /* NULL: none */
    struct wndl_pdb_file pdb_file;
    const char *pdb_path;
    struct wndl_error pdb_missing; /* why the binary's PDB file was not found */
    struct wndl_demangler demangler;
    struct wndl_map answers;
    struct wndl_symbol_cache cache;
    struct wndl_symbol_function *functions; /* valid if has_functions */
    size_t function_count;
    struct wndl_name_table names[WNDL_NAME_TABLES];
    struct wndl_error damage; /* the first damage outside of DWARF units */
    bool is_deferred;
    bool is_narrow; /* a Breakpad file for a 32-bit machine */
    bool has_functions;
    bool has_symtab;
    bool no_demangle;
};

/* The lock is not part of the symbolizer's value, so `s` is const. */
static inline void wndl_symbolizer_lock(const struct wndl_symbolizer *s)
{
    pthread_mutex_lock((pthread_mutex_t *)&s->lock);
}

static inline void wndl_symbolizer_unlock(const struct wndl_symbolizer *s)
{
    pthread_mutex_unlock((pthread_mutex_t *)&s->lock);
}

/* error */

/* Clears a caller's `err`, which may hold an earlier call's failure. */
static inline void wndl_symbolizer_forget(struct wndl_error *err)
{
    if (err != NULL)
        *err = (struct wndl_error){0};
}

/* Fails `err` with NOMEM, whatever it held. */
enum wndl_status wndl_symbolizer_no_memory(struct wndl_error *err);

/* Fails with NOT_FOUND: the file is not of the build that options ask for. */
enum wndl_status wndl_symbolizer_other_build(struct wndl_error *err);

/* Notes damage outside of DWARF units. The first is kept. */
void wndl_symbolizer_note_damage(
    struct wndl_symbolizer *s, const struct wndl_error *damage);

/* source */

/* Adds a source, which is asked after those added before. */
void wndl_symbolizer_add_source(
    struct wndl_symbolizer *s, const struct wndl_name_source *source);

/* Does the deferred work of all sources. OK or NOMEM. */
enum wndl_status wndl_symbolizer_need_open(
    struct wndl_symbolizer *s) WNDL_MUST_USE;

/*
 * Adds `address` to `places` if it is in the range. False when memory is out.
 */
bool wndl_symbolizer_add_place(
    struct wndl_vec *places, struct wndl_dwarf_range within, uint64_t address);

/* listing */

/*
 * Adds a function with `count` ranges, which the caller fills in. NULL when
 * memory is out.
 */
struct wndl_symbol_function *wndl_listing_push(
    struct wndl_listing *l, size_t count, struct wndl_symbol_range **ranges);

/* Sorts the taken ranges, and joins those that touch or overlap. */
void wndl_listing_merge(struct wndl_listing *l);

/* Whether `rva` is in a taken range; they must be merged. */
bool wndl_listing_is_taken(const struct wndl_listing *l, uint64_t rva);

/* cache */

/*
 * Reads the kept answers for the binary, if `options` (may be NULL: no) ask for
 * it. A cache file that cannot be used is noted and left alone. OK or NOMEM.
 */
enum wndl_status wndl_symbolizer_open_cache(struct wndl_symbolizer *s,
    const struct wndl_symbolizer_cache *options) WNDL_MUST_USE;

/*
 * Keeps the new answers, unless something was damaged or missing. Called only
 * if there is a cache (path).
 */
void wndl_symbolizer_close_cache(struct wndl_symbolizer *s, bool is_whole);

/* Whether the cache file has an answer for `rva`. */
bool wndl_symbolizer_is_cached(const struct wndl_symbolizer *s, uint64_t rva);

/*
 * The kept answer; frames in `arena`, strings valid until close. NOT_FOUND,
 * NOMEM.
 */
enum wndl_status wndl_symbolizer_recall(const struct wndl_symbolizer *s,
    struct wndl_arena *arena, uint64_t rva,
    struct wndl_symbols *answer) WNDL_MUST_USE;

/* Whether a Breakpad symbol file was opened instead of a binary. */
static inline bool wndl_symbolizer_is_breakpad(const struct wndl_symbolizer *s)
{
    return s->breakpad_text.size != 0;
}

/* name */

/* `name` with `mark` after it, in the arena; NULL when memory is out. */
const char *wndl_symbolizer_mark(
    struct wndl_symbolizer *s, const char *name, const char *mark);

/* The svma of rva 0. */
static inline wndl_svma wndl_symbolizer_base(const struct wndl_symbolizer *s)
{
    return s->binary == NULL ? (wndl_svma){0}
                             : wndl_object_image_base(s->binary);
}

/* Between a linked address and an offset from the image base. */
static inline wndl_rva wndl_symbolizer_rva(
    const struct wndl_symbolizer *s, wndl_svma addr)
{
    return wndl_rva_of_svma(addr, wndl_symbolizer_base(s));
}

static inline wndl_svma wndl_symbolizer_svma(
    const struct wndl_symbolizer *s, uint64_t rva)
{
    return wndl_svma_of_rva((wndl_rva){rva}, wndl_symbolizer_base(s));
}

/* `name` in a unit of `language`, DW_LANG_* or 0, demangled if the options ask
 * for it. NULL when memory is out. */
const char *wndl_symbolizer_name(
    struct wndl_symbolizer *s, struct wndl_bytes name, uint16_t language);

/* answer */

/*
 * Finds the frames of `rva`, in memory of `arena`. OK, also if there are none;
 * NOMEM.
 */
enum wndl_status wndl_symbolizer_resolve(struct wndl_symbolizer *s,
    struct wndl_arena *arena, uint64_t rva,
    struct wndl_symbols *answer) WNDL_MUST_USE;

/* batch */

/* An address to look up; `place` is for the caller's use. */
struct wndl_symbolize_job {
    uint64_t rva;
    size_t place;
    uint32_t unit;
    struct wndl_symbols answer;
};

/*
 * Sorts the jobs by unit and address and fills in their answers; new ones are
 * in `arena`. OK or NOMEM.
 */
enum wndl_status wndl_symbolize_jobs(struct wndl_symbolizer *s,
    struct wndl_arena *arena, struct wndl_symbolize_job *jobs,
    size_t count) WNDL_MUST_USE;

/* functions */

/* Fills in `functions`, once. OK or NOMEM. */
enum wndl_status wndl_symbolizer_need_functions(
    struct wndl_symbolizer *s) WNDL_MUST_USE;

#endif
