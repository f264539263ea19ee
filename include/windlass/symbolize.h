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
 * Thread rule: a symbolizer is for one thread at a time; several symbolizers
 * may be used by several threads. Signal rule: none of this may be called
 * from a signal handler.
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
};

/* Innermost first; only the last is not inlined. */
struct wndl_symbols {
    const struct wndl_symbol_frame *frames; /* until close */
    size_t count;
};

/* What there was to read, for messages like "no debug info for libx.so". */
struct wndl_symbolizer_info {
    bool has_dwarf;
    bool has_symtab;        /* .symtab, not only .dynsym */
    const char *debug_file; /* where DWARF came from, "" if none */
    uint32_t units_damaged; /* DWARF units lost to damage so far */
    struct wndl_error first_damage;
};

/*
 * Opens the binary at `path` and its separate debug file, if one is found by
 * build-id or debuglink. `options` may be NULL. Errors: IO, MALFORMED,
 * TRUNCATED, UNSUPPORTED, NOMEM, NOT_FOUND (build-id differs). A missing or
 * damaged debug file is not an error; see wndl_symbolizer_get_info.
 * On success *out must be given to wndl_symbolizer_close.
 */
WNDL_API enum wndl_status wndl_symbolizer_open(const char *path,
    const struct wndl_symbolizer_options *options, struct wndl_symbolizer **out,
    struct wndl_error *err) WNDL_MUST_USE;

/* Frees `s` and every string it gave out. NULL is left alone. */
WNDL_API void wndl_symbolizer_close(struct wndl_symbolizer *s);

/*
 * Frames of `rva`, an offset from the image base (the lowest PT_LOAD, rounded
 * down to 4 KiB). For a return address pass it minus one. NOT_FOUND when
 * neither symbols nor DWARF know the address, NOMEM; *answer is empty then.
 * Repeated addresses are answered from memory, which grows with the distinct
 * ones and is given back by close alone.
 */
WNDL_API enum wndl_status wndl_symbolizer_lookup(struct wndl_symbolizer *s,
    uint64_t rva, struct wndl_symbols *answer,
    struct wndl_error *err) WNDL_MUST_USE;

/* Fills *info with what is known so far; its strings live until close. */
WNDL_API void wndl_symbolizer_get_info(
    const struct wndl_symbolizer *s, struct wndl_symbolizer_info *info);

#ifdef __cplusplus
}
#endif

#endif
