/* SPDX-License-Identifier: MIT */
/*
 * frames: call frame information from the code itself, for the code of x86-64,
 * i386 and AArch64 that has none. It becomes a section of the object, which
 * elf/frames.h reads after .eh_frame and .debug_frame.
 */
#ifndef WNDL_CFI_IMPORT_CODE_FRAMES_H
#define WNDL_CFI_IMPORT_CODE_FRAMES_H

#include "obj/core/object.h"

/* Bytes of code, but for padding, that had no rules. */
struct wndl_code_rules {
    uint64_t bytes;
    uint64_t made;      /* have rules from their code now */
    uint64_t disagree;  /* ways meet there with different stack pointers */
    uint64_t lost;      /* nothing known leads to the caller */
    uint64_t unreached; /* no way leads there, or none that makes sense */
    bool is_cut;        /* time or memory was too much for the rest */
};

/*
 * Adds the rules of all code that has none to an ELF program or library of
 * x86-64, i386 or AArch64 (little-endian); nothing to others, or where nothing
 * is found. Time is linear in the size of the code, memory about five times
 * that. NOMEM.
 */
enum wndl_status wndl_code_rules_add(struct wndl_object *object,
    struct wndl_code_rules *rules, struct wndl_mem *mem) WNDL_MUST_USE;

/* Code without rules for which the above would look for some. */
struct wndl_code_missing {
    uint64_t bytes; /* counted without decoding */
    bool has_end;   /* where the process starts or handlers return is in it */
};

/* None if memory is out. */
struct wndl_code_missing wndl_code_rules_missing(
    struct wndl_object *object, struct wndl_mem *mem);

#endif
