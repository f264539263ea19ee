/* SPDX-License-Identifier: MIT */
/*
 * symbolizer_impl: what a symbolizer is made of, for the files of this folder
 * only.
 *
 *   symbolizer.c  opening and closing
 *   debug_files.c sections for the DWARF reader
 *   debug_map.c   several DWARF readers, for the object files of Mach-O
 *   breakpad.c    a Breakpad symbol file instead of all that
 *   pdb.c         a PDB file, with an image or instead; pdb_find.c: where;
 *                 pdb_alone.c: where when the image is not there
 *   cache.c       answers kept in files; cache_file.c: what such a file is
 *   answer.c      one address
 *   batch.c       many; which answers are remembered
 *   stream.c      many, none of them remembered
 *   functions.c   all functions; changes.c: all there is to know in one
 *   find.c        from names to addresses
 *   language.c    names of languages
 *   demangle.c    names as people write them
 *
 * Public functions take the lock; all others are called with it held.
 */
#ifndef WNDL_SYMBOLIZE_SYMBOLIZER_IMPL_H
#define WNDL_SYMBOLIZE_SYMBOLIZER_IMPL_H

#include "base/map.h"
#include "base/vec.h"
#include "dbg/breakpad/breakpad.h"
#include "dbg/dwarf/dwarf.h"
#include "obj/core/object.h"
#include "obj/find/debugfile.h"
#include "os/file.h"
#include "symbolize/cache_file.h"
#include "symbolize/debug_files.h"
#include "symbolize/debug_map.h"
#include "symbolize/demangle.h"
#include "symbolize/pdb_find.h"
#include "symbolize/symbolizer.h"

#include <pthread.h>

/* Sorted by name, then address: names[i] begins at ranges[i]. */
struct wndl_name_table {
    const char **names;
    struct wndl_symbol_range *ranges;
    size_t count;
    bool is_made;
};

/* In the order they are asked. */
enum { WNDL_NAMES_MANGLED, WNDL_NAMES_OTHER, WNDL_NAME_TABLES };

/* `path` is NULL when answers are not kept; `answers` are those of `file`. */
struct wndl_symbol_cache {
    struct wndl_symbolizer_cache options;
    struct wndl_cache_key key;
    const char *folder;
    char *path;
    struct wndl_file file;
    struct wndl_cache_file answers;
};

/*
 * `debug` is the file that DWARF is read from and `symbols` the one whose
 * symbol table is: each is `binary` or debugfile.object. `dwarf` is NULL
 * without DWARF, and as long as `is_deferred`: what is kept answers all.
 * `map` takes the place of both where DWARF was left in object files.
 * `answers` maps an rva to a struct wndl_symbols of the arena;
 * one of count 0 says that nothing is known there. The binary's bytes are
 * those of `file`, of `read`, or the caller's. Instead of a binary they may be
 * a Breakpad symbol file: then `binary` is NULL and breakpad_text is not empty,
 * and `breakpad` is NULL as long as `is_deferred`. `pdb` is that of pdb_file,
 * or `binary` is NULL and it is what was to be opened.
 */
struct wndl_symbolizer {
    pthread_mutex_t lock;
    struct wndl_mem *mem;
    struct wndl_arena arena;
    struct wndl_file file;
    uint8_t *read; /* of mem, or NULL */
    struct wndl_object *binary;
    struct wndl_debugfile debugfile;
    struct wndl_object *debug;
    struct wndl_object *symbols;
    struct wndl_debug_files *files; /* NULL without DWARF */
    struct wndl_dwarf *dwarf;
    struct wndl_debug_map *map;        /* or NULL */
    struct wndl_dwarf_workers workers; /* that reads units of a batch */
    struct wndl_breakpad *breakpad;
    struct wndl_bytes breakpad_text;
    struct wndl_bytes breakpad_id; /* of its MODULE record */
    const char *breakpad_path;
    struct wndl_pdb *pdb; /* NULL: none */
    struct wndl_pdb_file pdb_file;
    const char *pdb_path;
    struct wndl_error pdb_missing; /* of one that belongs to the binary */
    struct wndl_demangler demangler;
    struct wndl_map answers;
    struct wndl_symbol_cache cache;
    struct wndl_symbol_function *functions; /* once has_functions */
    size_t function_count;
    struct wndl_name_table names[WNDL_NAME_TABLES];
    struct wndl_error damage; /* the first outside of DWARF units */
    bool is_deferred;
    bool is_narrow; /* a Breakpad file of a machine of 32 bits */
    bool has_functions;
    bool has_symtab;
    bool no_demangle;
};

static inline void wndl_symbolizer_lock(const struct wndl_symbolizer *s)
{
    pthread_mutex_lock((pthread_mutex_t *)&s->lock);
}

static inline void wndl_symbolizer_unlock(const struct wndl_symbolizer *s)
{
    pthread_mutex_unlock((pthread_mutex_t *)&s->lock);
}

/* symbolizer */

/* A caller's may hold anything, an earlier call's trouble for one. */
static inline void wndl_symbolizer_forget(struct wndl_error *err)
{
    if (err != NULL)
        *err = (struct wndl_error){0};
}

/* Fails `err` with NOMEM, whatever it held. */
enum wndl_status wndl_symbolizer_no_memory(struct wndl_error *err);

/* NOT_FOUND: what was opened is not of the build that options ask for. */
enum wndl_status wndl_symbolizer_other_build(struct wndl_error *err);

void wndl_symbolizer_note_damage(
    struct wndl_symbolizer *s, const struct wndl_error *damage);

/* Opens DWARF or the Breakpad file, if that was put off. OK or NOMEM. */
enum wndl_status wndl_symbolizer_need_dwarf(
    struct wndl_symbolizer *s) WNDL_MUST_USE;

/* cache */

/* Reads what is kept of the binary, if `options` (NULL: no) asks for it; what
 * is of no use is noted and left alone. OK or NOMEM. */
enum wndl_status wndl_symbolizer_open_cache(struct wndl_symbolizer *s,
    const struct wndl_symbolizer_cache *options) WNDL_MUST_USE;

/* Keeps what is new, unless something was damaged or missing. */
void wndl_symbolizer_close_cache(struct wndl_symbolizer *s);

bool wndl_symbolizer_is_cached(const struct wndl_symbolizer *s, uint64_t rva);

/* The kept answer, frames in memory of `arena`, strings until close.
 * NOT_FOUND, NOMEM. */
enum wndl_status wndl_symbolizer_recall(const struct wndl_symbolizer *s,
    struct wndl_arena *arena, uint64_t rva,
    struct wndl_symbols *answer) WNDL_MUST_USE;

/* breakpad */

static inline bool wndl_symbolizer_is_breakpad(const struct wndl_symbolizer *s)
{
    return s->breakpad_text.size != 0;
}

/* Reads the MODULE record of `text`; all else is put off. */
enum wndl_status wndl_symbolizer_begin_breakpad(struct wndl_symbolizer *s,
    struct wndl_bytes text, const char *path,
    const struct wndl_symbolizer_options *options,
    struct wndl_error *err) WNDL_MUST_USE;

/* Sets breakpad. OK or NOMEM. */
enum wndl_status wndl_symbolizer_open_breakpad(
    struct wndl_symbolizer *s) WNDL_MUST_USE;

/* wndl_symbolizer_resolve for one. */
enum wndl_status wndl_symbolizer_resolve_breakpad(struct wndl_symbolizer *s,
    struct wndl_arena *arena, uint64_t rva,
    struct wndl_symbols *answer) WNDL_MUST_USE;

/* Adds its functions, struct wndl_symbol_function. OK, also when it is none,
 * or NOMEM. */
enum wndl_status wndl_symbolizer_list_breakpad(
    struct wndl_symbolizer *s, struct wndl_vec *functions) WNDL_MUST_USE;

/* pdb */

/* A PDB file in the place of a binary. */
enum wndl_status wndl_symbolizer_begin_pdb(struct wndl_symbolizer *s,
    struct wndl_bytes bytes, const char *path,
    const struct wndl_symbolizer_options *options,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * One for the image at `path`, which is not there, as `err` tells: STEM.pdb, or
 * the only STEM.pdb/ID/STEM.pdb, beside it and in the debug folders. Without
 * one, `err` is as it was, or tells of the first that was no good; its status
 * is returned.
 */
enum wndl_status wndl_symbolizer_open_pdb_alone(struct wndl_symbolizer *s,
    const char *path, const struct wndl_symbolizer_options *options,
    struct wndl_error *err) WNDL_MUST_USE;

/* Looks for the one that goes with a PE image. OK or NOMEM. */
enum wndl_status wndl_symbolizer_find_pdb(struct wndl_symbolizer *s,
    const struct wndl_symbolizer_options *options) WNDL_MUST_USE;

/* wndl_symbolizer_resolve for one. */
enum wndl_status wndl_symbolizer_resolve_pdb(struct wndl_symbolizer *s,
    struct wndl_arena *arena, uint64_t rva,
    struct wndl_symbols *answer) WNDL_MUST_USE;

/* Add functions (struct wndl_symbol_function), with their ranges; and public
 * symbols that are in none of `known`. OK, also without a PDB file, NOMEM. */
enum wndl_status wndl_symbolizer_list_pdb(struct wndl_symbolizer *s,
    struct wndl_vec *functions, struct wndl_vec *taken) WNDL_MUST_USE;
enum wndl_status wndl_symbolizer_list_publics(struct wndl_symbolizer *s,
    struct wndl_vec *functions, const struct wndl_vec *known) WNDL_MUST_USE;

void wndl_symbolizer_add_pdb_info(
    const struct wndl_symbolizer *s, struct wndl_symbolizer_info *info);

/* answer */

/* `name` with `mark` after it, in the arena; NULL when memory is out. */
const char *wndl_symbolizer_mark(
    struct wndl_symbolizer *s, const char *name, const char *mark);

/* What rva 0 was linked to be. */
static inline wndl_svma wndl_symbolizer_base(const struct wndl_symbolizer *s)
{
    return s->binary == NULL ? (wndl_svma){0}
                             : wndl_object_image_base(s->binary);
}

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

/* `name` demangled, if names are. NULL when memory is out. */
const char *wndl_symbolizer_name(
    struct wndl_symbolizer *s, struct wndl_bytes name);

/* The function symbol at `addr`. NOT_FOUND, also for damage; NOMEM. */
enum wndl_status wndl_symbolizer_symbol(struct wndl_symbolizer *s,
    wndl_svma addr, struct wndl_symbol *symbol) WNDL_MUST_USE;

/* Whether a symbol's name is to be preferred to DWARF's. */
bool wndl_symbolizer_symbol_is_sure(const struct wndl_symbol *symbol);

/* Works out the frames of `rva`, in memory of `arena`. OK, also for none, or
 * NOMEM. */
enum wndl_status wndl_symbolizer_resolve(struct wndl_symbolizer *s,
    struct wndl_arena *arena, uint64_t rva,
    struct wndl_symbols *answer) WNDL_MUST_USE;

/* batch */

/* An address to work out; `place` is the caller's, to know it by. */
struct wndl_symbolize_job {
    uint64_t rva;
    size_t place;
    uint32_t unit;
    struct wndl_symbols answer;
};

/* Sorts the jobs, by unit and address, and fills their answers, in memory of
 * `arena` those that are not remembered. OK or NOMEM. */
enum wndl_status wndl_symbolize_jobs(struct wndl_symbolizer *s,
    struct wndl_arena *arena, struct wndl_symbolize_job *jobs,
    size_t count) WNDL_MUST_USE;

/* functions */

/* Whether `rva` is in one of these struct wndl_symbol_range: sorted, and none
 * of them touch. */
bool wndl_symbolizer_is_taken(const struct wndl_vec *taken, uint64_t rva);

/* Sets functions. OK or NOMEM. */
enum wndl_status wndl_symbolizer_need_functions(
    struct wndl_symbolizer *s) WNDL_MUST_USE;

#endif
