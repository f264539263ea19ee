/* SPDX-License-Identifier: MIT */
/*
 * reloc_kinds: what the relocations of debug sections do, by machine. It knows
 * neither objects nor bytes.
 */
#ifndef WNDL_OBJ_ELF_RELOC_KINDS_H
#define WNDL_OBJ_ELF_RELOC_KINDS_H

#include <stddef.h>
#include <stdint.h>

/* S is the symbol, A the addend, P the place, L what is at the place. */
enum wndl_reloc_action {
    WNDL_RELOC_NOTHING,  /* also offsets of thread-local variables */
    WNDL_RELOC_SET,      /* S + A */
    WNDL_RELOC_RELATIVE, /* S + A - P */
    WNDL_RELOC_ADD,      /* L + S + A */
    WNDL_RELOC_SUBTRACT, /* L - S - A */
};

/* A LEB128 number keeps its length. */
enum { WNDL_RELOC_LEB = 0xff };

struct wndl_reloc_kind {
    uint16_t machine; /* EM_* */
    uint16_t type;
    uint8_t bits; /* of the place, the lowest of its bytes; or LEB */
    uint8_t action;
};

/* The kinds of a machine; none for a machine that is not known. */
struct wndl_reloc_kinds {
    const struct wndl_reloc_kind *list;
    size_t count;
};

struct wndl_reloc_kinds wndl_reloc_kinds_of(uint16_t machine);

/* The kind of a type, or NULL. */
const struct wndl_reloc_kind *wndl_reloc_kind_find(
    struct wndl_reloc_kinds kinds, uint32_t type);

#endif
