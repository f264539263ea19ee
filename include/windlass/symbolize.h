/* SPDX-License-Identifier: MIT */
/*
 * windlass/symbolize.h: from an address in a binary to functions and lines.
 *
 * An answer has the function, those that were inlined into it, files and lines.
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
 * Addresses are offsets from the image base ("rva"), which is the lowest
 * PT_LOAD, rounded down to 4 KiB. An address as it was linked is its rva plus
 * the image_base of wndl_symbolizer_get_info.
 *
 * Thread rule: any thread may use an open symbolizer at any time. Calls for the
 * same symbolizer may wait for each other. Answers stay as they are until
 * wndl_symbolizer_close, during which no other call for that symbolizer may
 * run. A stream is for one thread at a time.
 *
 * Signal rule: none of this may be called from a signal handler.
 *
 * Pointer parameters may be NULL only where it says so; `err` always may. It
 * receives the detail of a failure.
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

/* An open binary, and a stream of answers from it. Contents are private. */
struct wndl_symbolizer;
struct wndl_symbol_stream;

/*
 * A cache of answers that lasts from one process to the next. It has a file in
 * `folder` for each binary that has a build-id, which open reads and close
 * writes. The folder is made if its parent exists.
 *
 * A file that is damaged, or of another version of windlass, is reported
 * through `note` and written anew. A file that cannot be written is reported in
 * the same way. Neither is an error. The `err` of `note` is valid during the
 * call.
 *
 * Whoever can write to the folder can forge answers. Answers that lack
 * something, because of damage or a missing file, are not kept.
 */
struct wndl_symbolizer_cache {
    const char *folder; /* borrowed during open only */
    /* NULL: nothing is reported. */
    void (*note)(void *context, const struct wndl_error *err);
    void *context; /* for `note`; valid until close returns */
};

/*
 * Options. The size comes first so that the struct can grow: set `size` to
 * sizeof, and members that are not needed to 0. All pointers are borrowed
 * during the call only.
 */
struct wndl_symbolizer_options {
    size_t size;
    /* A NULL-terminated list of folders with .build-id/ trees and debuglink
     * files; NULL means /usr/lib/debug alone. */
    const char *const *debug_dirs;
    /* If not NULL, a file with another build-id is refused (NOT_FOUND): the
     * binary was replaced since it was recorded. */
    const uint8_t *build_id;
    size_t build_id_size;
    bool no_demangle; /* names as in the symbol table */
    /* The path of a binary that is opened without one. It is used in errors,
     * and to find the debug file beside it; NULL for none. */
    const char *name;
    /* If no debug file is found, ask the servers of $DEBUGINFOD_URLS for it,
     * through libdebuginfod. That may take long, and reveals the build-id to
     * them. Their errors are in first_damage of struct wndl_symbolizer_info. */
    bool debuginfod;
    const struct wndl_symbolizer_cache *cache; /* NULL: nothing is kept */
    /* The architecture to read from a Mach-O file for several of them ("arm64",
     * "x86_64"). NULL: that of this build, else the only one. A file without it
     * is refused (NOT_FOUND). Other files are not affected. */
    const char *arch;
};

/*
 * A binary that is read through a function. It has `size` bytes. `read_at`
 * copies `size` bytes from `offset` on to `to`, and returns 0 or an errno.
 * `context` is its first argument.
 */
struct wndl_symbolizer_reader {
    uint64_t size;
    int (*read_at)(void *context, uint64_t offset, void *to, size_t size);
    void *context;
};

/*
 * One frame. Strings are NUL-terminated, never NULL, and "" if not known. The
 * symbolizer owns them until wndl_symbolizer_close. Lines and columns count
 * from 1; 0 means not known. A stub of the procedure linkage table is called
 * "memcmp@plt"; the first stub, which calls the loader, is called "[plt]".
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

/*
 * The frames of one address, the innermost first. Only the last is not inlined.
 */
struct wndl_symbols {
    const struct wndl_symbol_frame *frames; /* valid until close */
    size_t count;
};

/* Bytes [rva, rva + size). With size 0 the end is not known. */
struct wndl_symbol_range {
    uint64_t rva;
    uint64_t size;
};

/*
 * A function of its own in the binary, not an inlined copy. Strings are as in
 * struct wndl_symbol_frame. A function that the compiler split, for example
 * into hot and cold parts, has several ranges.
 */
struct wndl_symbol_function {
    const char *function;
    const char *mangled;
    const struct wndl_symbol_range *ranges; /* ascending, at least one */
    size_t range_count;
    uint16_t language; /* as in struct wndl_symbol_frame */
};

/*
 * The symbol sources read so far, for messages like "no debug info for
 * libx.so". Pointers are valid until close.
 */
struct wndl_symbolizer_info {
    bool has_dwarf;         /* or, in a Go program, its table of lines */
    bool has_symtab;        /* .symtab, not only .dynsym */
    const char *debug_file; /* the file with the DWARF; "" if none */
    uint32_t units_damaged; /* DWARF units lost to damage so far */
    struct wndl_error first_damage;
    const uint8_t *build_id; /* the binary's */
    size_t build_id_size;    /* 0: the binary has none */
    uint64_t image_base;     /* where rva 0 was linked to be; in an object
                              * file 0, where its first code is */
    unsigned address_size;   /* bytes of its addresses: 4 or 8 */
    /* The number of files that debug information refers to (.dwo, dwz's) and
     * that were needed so far but are missing or unusable: their functions and
     * inlined frames are missing. */
    uint32_t files_missing;
    struct wndl_error first_missing;
};

/*
 * Opens a binary, and its separate debug file if one is found by build-id or
 * debuglink. A missing or damaged debug file is not an error; see
 * wndl_symbolizer_get_info.
 *
 * `path` names the binary. It may be of these kinds:
 *
 * ELF. "ARCHIVE!/MEMBER" is a binary that is stored without compression in a
 * zip archive or an APK. A file compressed by xz or zstd (.ko.xz, .ko.zst) is
 * unpacked into memory.
 *
 * Mach-O. The build-id is the UUID, and the image begins at the __TEXT
 * segment. Debug information comes from a dSYM bundle beside the binary or in
 * a debug folder, else from the object files that the binary was linked from.
 * Those are opened when they are needed; one that is missing or was built
 * anew counts as a missing file.
 *
 * PE. The build-id is the GUID of its PDB file. That file is looked for
 * beside the binary, where it was written, and in the debug folders, also in
 * the layout of symbol stores. If it is not found, it counts as a missing
 * file.
 *
 * PDB. It stands for its binary, and its image base is 0. If STEM.exe or
 * STEM.dll is missing, STEM.pdb is opened instead, if it is found in the
 * places above.
 *
 * A Breakpad symbol file (.sym). It has no image base, build-id or sections,
 * and has_dwarf is false. Damaged records in it count as units.
 *
 * `options` may be NULL for the defaults.
 *
 * `out` receives the symbolizer, which must be given to wndl_symbolizer_close.
 * It is set on success only.
 *
 * Errors: IO, MALFORMED, TRUNCATED, NOMEM; NOT_FOUND if the build-id or the
 * architecture is another; UNSUPPORTED also for options that this version does
 * not know.
 */
WNDL_API enum wndl_status wndl_symbolizer_open(const char *path,
    const struct wndl_symbolizer_options *options, struct wndl_symbolizer **out,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Opens a binary that is in memory. `bytes` are its `size` bytes, borrowed
 * until wndl_symbolizer_close. All else is as for wndl_symbolizer_open.
 */
WNDL_API enum wndl_status wndl_symbolizer_open_memory(const void *bytes,
    size_t size, const struct wndl_symbolizer_options *options,
    struct wndl_symbolizer **out, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Opens a binary that is read through a function. All of it is read, piece by
 * piece and before this returns, into memory that wndl_symbolizer_close frees.
 * `reader` is used during the call only. If its read_at fails, the status is
 * IO. All else is as for wndl_symbolizer_open.
 */
WNDL_API enum wndl_status wndl_symbolizer_open_reader(
    const struct wndl_symbolizer_reader *reader,
    const struct wndl_symbolizer_options *options, struct wndl_symbolizer **out,
    struct wndl_error *err) WNDL_MUST_USE;

/* Frees `s` and every string of its answers. NULL is ignored. */
WNDL_API void wndl_symbolizer_close(struct wndl_symbolizer *s);

/*
 * Finds the frames of one address.
 *
 * `rva` is an offset from the image base. For a return address pass it minus
 * one.
 *
 * `answer` receives the frames, which are valid until wndl_symbolizer_close.
 *
 * NOT_FOUND if neither symbols nor DWARF know the address, NOMEM; `answer` is
 * empty then. Answers are remembered, so memory grows with the distinct
 * addresses until wndl_symbolizer_close.
 */
WNDL_API enum wndl_status wndl_symbolizer_lookup(struct wndl_symbolizer *s,
    uint64_t rva, struct wndl_symbols *answer,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Finds the frames of many addresses. This costs less than one by one, because
 * neighbours are answered together.
 *
 * `rvas` are `count` addresses, in any order.
 *
 * `answers` has room for `count`: answers[i] is that of rvas[i], and empty
 * where wndl_symbolizer_lookup would return NOT_FOUND. NOMEM: all of them are
 * empty.
 */
WNDL_API enum wndl_status wndl_symbolizer_lookup_batch(
    struct wndl_symbolizer *s, const uint64_t *rvas, size_t count,
    struct wndl_symbols *answers, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Begins to answer addresses one after the other without remembering the
 * answers. Memory grows with the names in them only.
 *
 * `next` sets *rva and returns true, or returns false at the end. It is called
 * by wndl_symbol_stream_next only, some thousand addresses ahead, and may use
 * `s`. Ascending addresses are cheapest.
 *
 * `context` is the first argument of `next`.
 *
 * `out` receives the stream, on success only. It must be given to
 * wndl_symbol_stream_close before `s` is closed. NOMEM.
 */
WNDL_API enum wndl_status wndl_symbol_stream_open(struct wndl_symbolizer *s,
    bool (*next)(void *context, uint64_t *rva), void *context,
    struct wndl_symbol_stream **out, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Gives the next address and its frames, in the order in which they came.
 *
 * `rva` receives the address. `answer` receives its frames, none if nothing is
 * known. The frames are valid until the next call, their strings until the
 * symbolizer is closed.
 *
 * NOT_FOUND at the end. NOMEM, which ends the stream.
 */
WNDL_API enum wndl_status wndl_symbol_stream_next(
    struct wndl_symbol_stream *stream, uint64_t *rva,
    struct wndl_symbols *answer, struct wndl_error *err) WNDL_MUST_USE;

/* Frees `stream`. NULL is ignored. */
WNDL_API void wndl_symbol_stream_close(struct wndl_symbol_stream *stream);

/*
 * Lists all functions, by their lowest address. They are those of the debug
 * information, and those that only the symbol table has.
 *
 * `functions` receives the array, which is valid until wndl_symbolizer_close,
 * and `count` its length. It is made at the first call.
 *
 * Functions of units that were lost to damage are missing; see
 * wndl_symbolizer_get_info. NOMEM.
 */
WNDL_API enum wndl_status wndl_symbolizer_functions(struct wndl_symbolizer *s,
    const struct wndl_symbol_function **functions, size_t *count,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Finds functions by name.
 *
 * `name` is compared with the names in the symbol table. If none is equal, it
 * is compared with demangled names and those of the debug information.
 *
 * `found` receives the functions' ranges, by ascending address. The array is
 * valid until wndl_symbolizer_close. `count` receives its length, at least 1.
 *
 * NOT_FOUND, NOMEM.
 */
WNDL_API enum wndl_status wndl_symbolizer_find(struct wndl_symbolizer *s,
    const char *name, const struct wndl_symbol_range **found, size_t *count,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Finds the start of a section, as an rva.
 *
 * `name` is the section's, such as ".text". `rva` receives the address.
 *
 * All sections of an object file (.o, .ko) begin at 0. They are given places
 * that do not overlap: first those with code, in their order, from rva 0 on.
 * NOT_FOUND.
 */
WNDL_API enum wndl_status wndl_symbolizer_section(
    const struct wndl_symbolizer *s, const char *name, uint64_t *rva,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Reports what the symbolizer has read so far. `info` receives it; its strings
 * are valid until wndl_symbolizer_close.
 */
WNDL_API void wndl_symbolizer_get_info(
    const struct wndl_symbolizer *s, struct wndl_symbolizer_info *info);

/*
 * The name of a language, such as "C11". `language` is a DW_LANG_* of a frame
 * or function; 0 and unknown values give "". The string is static. Any thread,
 * any signal handler.
 */
WNDL_API const char *wndl_symbol_language_name(uint16_t language);

#ifdef __cplusplus
}
#endif

#endif
