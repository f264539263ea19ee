/* SPDX-License-Identifier: MIT */
/*
 * windlass/symbolize.h: from an address in a binary to functions, inlined
 * frames, files and lines.
 *
 *     struct wndl_symbolizer *s;
 *     if (wndl_symbolizer_open("/usr/bin/xz", NULL, &s, &err) == WNDL_OK) {
 *         struct wndl_symbols answer;
 *         if (wndl_symbolizer_lookup(s, rva, &answer, &err) == WNDL_OK)
 *             for (size_t i = 0; i < answer.count; i++)
 *                 use(&answer.frames[i]);
 *         wndl_symbolizer_close(s);
 *     }
 *
 * Addresses are offsets from the image base ("rva"): the lowest PT_LOAD,
 * rounded down to 4 KiB. An address as it was linked is that plus the
 * image_base of wndl_symbolizer_get_info.
 *
 * Thread rule: any thread may use an open symbolizer at any time; calls for
 * the same one may wait for each other, and what they gave stays as it is
 * until wndl_symbolizer_close, which nobody may be beside. A stream is for
 * one thread at a time. Signal rule: none of this may be called from a signal
 * handler.
 */
#ifndef WINDLASS_SYMBOLIZE_H
#define WINDLASS_SYMBOLIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <windlass/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wndl_symbolizer;
struct wndl_symbol_stream;

/*
 * Where answers are kept from one process to the next: in a file in `folder`
 * for each binary that has a build-id, read by open and written by close. The
 * folder is made if its parent is there. A file that is damaged or of another
 * version of windlass is told of by `note` (NULL: nobody hears) and written
 * anew, and so is that one cannot be written; neither is an error. `err` is
 * for the time of the call. Whoever can write to the folder can make answers
 * up. Answers that lack something, for damage or a missing file, are not kept.
 */
struct wndl_symbolizer_cache {
    const char *folder; /* borrowed for the call of open only */
    void (*note)(void *context, const struct wndl_error *err);
    void *context; /* of note's, until close has returned */
};

/*
 * Options, size first so that the struct can grow: set `size` to sizeof.
 * All pointers are borrowed for the call only.
 */
struct wndl_symbolizer_options {
    size_t size;
    /* NULL-terminated list of folders with .build-id/ trees and debuglink
     * files; NULL means /usr/lib/debug alone. */
    const char *const *debug_dirs;
    /* When not NULL, a file whose build-id differs is refused (NOT_FOUND):
     * the binary was replaced since it was recorded. */
    const uint8_t *build_id;
    size_t build_id_size;
    bool no_demangle; /* names as in the symbol table */
    /* What to call a binary that is opened without a path, in errors and to
     * find its debug file beside it; NULL for nothing. */
    const char *name;
    /* Where no debug file is found, ask the servers of $DEBUGINFOD_URLS for
     * it, by libdebuginfod; that may take long, and tells them which. What
     * goes wrong there is in wndl_symbolizer_info's first_damage. */
    bool debuginfod;
    const struct wndl_symbolizer_cache *cache; /* NULL: nothing is kept */
    /* Of a Mach-O file for several architectures, the one called so ("arm64",
     * "x86_64"); NULL: that of this build, else the only one. Without any
     * such the file is refused (NOT_FOUND). Other files are as they are. */
    const char *arch;
};

/*
 * A binary that is read through a function: `size` bytes, of which read_at
 * copies [offset, offset + size) to `to` and returns 0, or an errno.
 */
struct wndl_symbolizer_reader {
    uint64_t size;
    int (*read_at)(void *context, uint64_t offset, void *to, size_t size);
    void *context;
};

/*
 * One frame. Strings are NUL-terminated, never NULL, owned by the symbolizer
 * and valid until wndl_symbolizer_close; "" means not known. Lines and
 * columns count from 1; 0 means not known. A stub of the procedure linkage
 * table is called "memcmp@plt", the first of them, which calls the loader,
 * "[plt]".
 */
struct wndl_symbol_frame {
    const char *function; /* demangled unless no_demangle */
    const char *mangled;  /* as in the symbol table or DWARF */
    const char *file;
    uint32_t line;
    uint32_t column;
    bool inlined;          /* inlined into the next frame */
    uint64_t function_rva; /* start of the function */
    uint16_t language;     /* of its unit: DW_LANG_* (DWARF 5, 7.12), or 0 */
};

/* Innermost first; only the last is not inlined. */
struct wndl_symbols {
    const struct wndl_symbol_frame *frames; /* until close */
    size_t count;
};

/* Bytes [rva, rva + size); size 0: where it ends is not known. */
struct wndl_symbol_range {
    uint64_t rva;
    uint64_t size;
};

/*
 * A function that is in the binary as such, not inlined. Strings as in struct
 * wndl_symbol_frame. A function that the compiler split, into hot and cold
 * parts for one, has several ranges.
 */
struct wndl_symbol_function {
    const char *function;
    const char *mangled;
    const struct wndl_symbol_range *ranges; /* ascending, at least one */
    size_t range_count;
    uint16_t language; /* as in struct wndl_symbol_frame */
};

/* What there was to read, for messages like "no debug info for libx.so". */
struct wndl_symbolizer_info {
    bool has_dwarf;
    bool has_symtab;        /* .symtab, not only .dynsym */
    const char *debug_file; /* where DWARF came from, "" if none */
    uint32_t units_damaged; /* DWARF units lost to damage so far */
    struct wndl_error first_damage;
    const uint8_t *build_id; /* the binary's, until close */
    size_t build_id_size;    /* 0: it has none */
    uint64_t image_base;     /* where rva 0 was linked to be; of an object
                              * file 0, where its first code is */
    unsigned address_size;   /* bytes of an address in it: 4 or 8 */
    /* Files that debug information refers to (.dwo, dwz's) and that are
     * needed so far, but not there or of no use: functions and inlined frames
     * are missing. */
    uint32_t files_missing;
    struct wndl_error first_missing;
};

/*
 * Opens the binary at `path`, and its separate debug file if one is found by
 * build-id or debuglink. "ARCHIVE!/MEMBER" opens a binary that is stored in a
 * zip archive or an APK without compression; a file compressed by xz or zstd
 * (.ko.xz, .ko.zst) is unpacked into memory. Of Mach-O, the build-id is the
 * UUID, the image begins at the __TEXT segment, and debug information comes
 * from a dSYM bundle beside the binary or in a debug folder, else from the
 * object files that it was linked from, which are opened when they are needed:
 * one that is missing or was built anew counts as a missing file. Of PE, the
 * build-id is the GUID of its PDB file, which is looked for beside the binary,
 * where it was written and in the debug folders, also as symbol stores have
 * it; if it is not there, that is a missing file. A PDB file may also take the
 * place of a binary, and does of STEM.exe or STEM.dll that is not there if
 * STEM.pdb is found so: its image base is 0. So may a Breakpad symbol file
 * (.sym): it has neither image base, build-id nor sections,
 * and its DWARF is said not to be there; records of it that are
 * damaged count as units. `options` may be NULL. Errors:
 * IO, MALFORMED, TRUNCATED, UNSUPPORTED (also for options that this version
 * does not know),
 * NOMEM, NOT_FOUND (build-id differs). A missing or damaged debug file is not
 * an error; see wndl_symbolizer_get_info. On success *out must be given to
 * wndl_symbolizer_close.
 */
WNDL_API enum wndl_status wndl_symbolizer_open(const char *path,
    const struct wndl_symbolizer_options *options, struct wndl_symbolizer **out,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Opens a binary that is in memory. The bytes are borrowed until
 * wndl_symbolizer_close. All else is as for wndl_symbolizer_open.
 */
WNDL_API enum wndl_status wndl_symbolizer_open_memory(const void *bytes,
    size_t size, const struct wndl_symbolizer_options *options,
    struct wndl_symbolizer **out, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Opens a binary that is read through a function. All of it is read, piece by
 * piece and before this returns, into memory that wndl_symbolizer_close gives
 * back. An errno of read_at makes it IO; all else is as for
 * wndl_symbolizer_open.
 */
WNDL_API enum wndl_status wndl_symbolizer_open_reader(
    const struct wndl_symbolizer_reader *reader,
    const struct wndl_symbolizer_options *options, struct wndl_symbolizer **out,
    struct wndl_error *err) WNDL_MUST_USE;

/* Frees `s` and every string it gave out. NULL is left alone. */
WNDL_API void wndl_symbolizer_close(struct wndl_symbolizer *s);

/*
 * Frames of `rva`, an offset from the image base. For a return address pass
 * it minus one. NOT_FOUND when neither symbols nor DWARF know the address,
 * NOMEM; *answer is empty then. Repeated addresses are answered from memory,
 * which grows with the distinct ones and is given back by close alone.
 */
WNDL_API enum wndl_status wndl_symbolizer_lookup(struct wndl_symbolizer *s,
    uint64_t rva, struct wndl_symbols *answer,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Frames of many addresses, in any order: answers[i] is that of rvas[i],
 * without frames where wndl_symbolizer_lookup would say NOT_FOUND. Costs less
 * than one by one, because neighbours are worked out together. NOMEM: all
 * answers are empty.
 */
WNDL_API enum wndl_status wndl_symbolizer_lookup_batch(
    struct wndl_symbolizer *s, const uint64_t *rvas, size_t count,
    struct wndl_symbols *answers, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Begins to answer addresses one after the other without remembering the
 * answers, so that memory grows with the names in them alone. `next` sets
 * *rva and returns true, or false at the end; it is called some thousand
 * addresses ahead, by wndl_symbol_stream_next only, and with `s` free to be
 * used. Made for ascending addresses; others are answered too, but cost more.
 * NOMEM. On success *out must be given to wndl_symbol_stream_close, before
 * `s` is closed.
 */
WNDL_API enum wndl_status wndl_symbol_stream_open(struct wndl_symbolizer *s,
    bool (*next)(void *context, uint64_t *rva), void *context,
    struct wndl_symbol_stream **out, struct wndl_error *err) WNDL_MUST_USE;

/*
 * The next address, in the order they came, and its frames, none if nothing
 * is known. The frames are valid until the next call, their strings until the
 * symbolizer is closed. NOT_FOUND at the end; NOMEM, after which it ends.
 */
WNDL_API enum wndl_status wndl_symbol_stream_next(
    struct wndl_symbol_stream *stream, uint64_t *rva,
    struct wndl_symbols *answer, struct wndl_error *err) WNDL_MUST_USE;

/* Frees `stream`. NULL is left alone. */
WNDL_API void wndl_symbol_stream_close(struct wndl_symbol_stream *stream);

/*
 * All functions, by their lowest address: those of the debug information, and
 * of the symbol table those that it lacks. Worked out at the first call; the
 * array is valid until wndl_symbolizer_close. Units lost to damage lack
 * theirs, see wndl_symbolizer_get_info. NOMEM.
 */
WNDL_API enum wndl_status wndl_symbolizer_functions(struct wndl_symbolizer *s,
    const struct wndl_symbol_function **functions, size_t *count,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Where the functions called `name` begin, ascending: by their names in the
 * symbol table, or else by demangled names and those of the debug
 * information. *count > 0; the array is valid until wndl_symbolizer_close.
 * NOT_FOUND, NOMEM.
 */
WNDL_API enum wndl_status wndl_symbolizer_find(struct wndl_symbolizer *s,
    const char *name, const struct wndl_symbol_range **found, size_t *count,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Where section `name` begins, as an rva. The sections of an object file (.o,
 * .ko), which all begin at 0, are given places that do not overlap: first
 * those with code, in their order, from rva 0 on. NOT_FOUND.
 */
WNDL_API enum wndl_status wndl_symbolizer_section(
    const struct wndl_symbolizer *s, const char *name, uint64_t *rva,
    struct wndl_error *err) WNDL_MUST_USE;

/* Fills *info with what is known so far; its strings live until close. */
WNDL_API void wndl_symbolizer_get_info(
    const struct wndl_symbolizer *s, struct wndl_symbolizer_info *info);

/* What DW_LANG_* of a frame or function means, "C11" for one; "" for 0 and
 * what is not known. Static string. Any thread, any signal handler. */
WNDL_API const char *wndl_symbol_language_name(uint16_t language);

#ifdef __cplusplus
}
#endif

#endif
