/* SPDX-License-Identifier: MIT */
/*
 * fuzz_code_flow: any bytes as code of x86-64, i386 or AArch64, of which rules
 * are made. Byte 0 is the number of entries; it is i386 if bit 7 is set, else
 * AArch64 if bit 6 is; as many 16-bit offsets of entries follow, those with the
 * highest bit are only named; then the code, which is also the memory of its
 * tables.
 */
#include "cfi_import/code/flow.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CODE = 0x1000, NAMED = 0x8000, I386 = 0x80, A64 = 0x40 };

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* Every state has rules that can be read, or none. */
static void read_rows(const struct wndl_code_flow *flow)
{
    for (size_t at = 0; at < flow->text->code.bytes.size; at++) {
        struct wndl_code_state state;
        struct wndl_cfi_row row;
        uint8_t room[WNDL_CODE_ROOM];
        if (!wndl_code_flow_state(flow, at, &state))
            continue;
        require(state.slots <= WNDL_CODE_SLOTS);
        if (!wndl_code_state_row(&state, &row, room))
            continue;
        require(row.cfa.kind != WNDL_RULE_UNSET);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_cursor c =
        wndl_cursor_at((struct wndl_bytes){data, size}, 0, false);
    const unsigned first = wndl_cursor_u8(&c);
    const unsigned entries = first & (A64 - 1);
    struct wndl_cursor list = wndl_cursor_sub(&c, 2 * (uint64_t)entries);
    struct wndl_arena arena;
    struct wndl_code_flow flow;
    struct wndl_code_text text = {.part_count = 1};
    if (c.failed)
        return 0;
    text.code = (struct wndl_code_part){CODE, {c.next, wndl_cursor_left(&c)}};
    text.parts = &text.code;
    if ((first & I386) != 0) {
        text.mode = WNDL_INSN_32;
        text.got = CODE + wndl_cursor_left(&c) / 2;
        text.is_fixed = true;
    } else if ((first & A64) != 0) {
        text.mode = WNDL_INSN_A64;
    }
    wndl_arena_init(&arena, wndl_mem_libc());
    require(wndl_code_flow_init(&flow, &text, &arena));
    while (wndl_cursor_left(&list) != 0) {
        const unsigned entry = wndl_cursor_u16(&list);
        wndl_code_flow_enter(&flow, CODE + (uint64_t)(entry & (NAMED - 1)),
            (entry & NAMED) != 0 ? WNDL_CODE_NAMED : WNDL_CODE_CALLED);
    }
    wndl_code_flow_scan(&flow, CODE, CODE + text.code.bytes.size, false);
    require(wndl_code_flow_run(&flow));
    read_rows(&flow);
    wndl_arena_free(&arena);
    return 0;
}
