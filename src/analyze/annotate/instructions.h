/* SPDX-License-Identifier: MIT */
/*
 * instructions: x86 code as text, one instruction after the other. It must not
 * know functions, costs or files.
 */
#ifndef WNDL_ANALYZE_ANNOTATE_INSTRUCTIONS_H
#define WNDL_ANALYZE_ANNOTATE_INSTRUCTIONS_H

#include "base/bytes.h"

#include <Zydis/Zydis.h>

struct wndl_instructions {
    ZydisDecoder decoder;
    ZydisFormatter formatter;
};

enum { WNDL_INSTRUCTION_TEXT = 160 };

struct wndl_instruction {
    uint32_t size;   /* bytes, at least 1 */
    bool has_target; /* it jumps to or calls `target` */
    uint64_t target;
    char text[WNDL_INSTRUCTION_TEXT];
};

/*
 * For code of `machine`, an EM_* of ELF; in Intel's syntax or AT&T's. False if
 * it is another processor's.
 */
bool wndl_instructions_init(
    struct wndl_instructions *in, uint16_t machine, bool intel);

/*
 * Decodes the first of `code`, which is not empty and lies at `address`. A byte
 * that begins no instruction is "(bad)".
 */
void wndl_instructions_decode(const struct wndl_instructions *in,
    struct wndl_bytes code, uint64_t address, struct wndl_instruction *to);

#endif
