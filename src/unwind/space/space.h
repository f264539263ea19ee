/* SPDX-License-Identifier: MIT */
/*
 * space: an address space for the slow paths: how memory is read, and which CFI
 * covers a pc. The hot loop does not use it.
 */
#ifndef WNDL_UNWIND_SPACE_SPACE_H
#define WNDL_UNWIND_SPACE_SPACE_H

#include "cfi/cfi_expr.h"
#include "cfi/cfi_plain.h"
#include "unwind/core/arch.h"
#include "unwind/core/code.h"

#include <windlass/unwind.h>

struct wndl_full;

struct wndl_space {
    struct wndl_cfi_memory memory;
    const struct wndl_remote *remote; /* NULL: this process */
    const struct wndl_arch *arch;
    struct wndl_jit *jit;         /* NULL: none; always for other processes */
    enum wndl_walk_method method; /* with SCAN or-ed, or without */
    /* NULL, or the function that finds an unknown RBP: find_fp.h. */
    bool (*find_fp)(const struct wndl_space *space,
        const struct wndl_code *code, struct wndl_full *full,
        enum wndl_frame_how *how);
};

/*
 * Finds the rules of `pc`. `code` is set for WNDL_CODE_ROW. `remote` NULL: this
 * process; else its machine must be known.
 */
enum wndl_code_kind wndl_code_find(
    const struct wndl_remote *remote, uint64_t pc, struct wndl_code *code);

/* A fast look-up for most pcs of this process. False: nothing is known. */
bool wndl_code_find_plain(uint64_t pc, struct wndl_cfi_plain *row);

/*
 * Copies `size` bytes of code. False if they are in no module or cannot be
 * read.
 */
bool wndl_code_read(
    const struct wndl_space *space, uint64_t address, void *to, size_t size);

/* Whether a module covers `pc`. */
bool wndl_code_is_mapped(const struct wndl_remote *remote, uint64_t pc);

/*
 * Whether an address can be code's. User addresses are below 2^47, or 2^32, or
 * on AArch64 2^48; the first page is never mapped.
 */
static inline bool wndl_code_is_possible(uint64_t pc)
{
    const unsigned bits = WNDL_DWARF_PC != WNDL_DWARF_RA ? 48 : 47;
    return pc >= 4096 && pc < UINT64_C(1) << bits;
}

/* The method without SCAN. */
static inline enum wndl_walk_method wndl_space_method(
    const struct wndl_space *space)
{
    return (enum wndl_walk_method)(space->method & 3);
}

/* Reads a word. False if not all of it can be read. */
static inline bool wndl_space_word(
    const struct wndl_space *space, uint64_t address, uint64_t *value)
{
    *value = 0;
    return space->memory.read(
        space->memory.context, address, value, space->arch->word);
}

#endif
