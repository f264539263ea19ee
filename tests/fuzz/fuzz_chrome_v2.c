/* SPDX-License-Identifier: MIT */
/*
 * fuzz_chrome_v2: any bytes as Chromium's unwind info v2: counted, looked up
 * in, and what is found run. What runs through stays on its stack.
 */
#include "unwind/table/chrome.h"
#include "unwind_tables/chrome/chrome_v2.h"

#include <elf.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LOOKUPS = 200, STACK_ADDR = 0x1000 };

static void look_up(const struct wndl_chrome_v2 *t, uint64_t at)
{
    static const uint8_t stack[256];
    struct wndl_chrome_v2_place place;
    struct wndl_chrome_v2_frame frame = {
        .stack = {stack, sizeof stack}, .stack_addr = STACK_ADDR};
    if (wndl_chrome_v2_find(t, at, &place) != WNDL_OK)
        return;
    if (place.instruction >= t->instructions.size ||
        place.start + (uint64_t)place.offset > at)
        abort();
    for (unsigned reg = 0; reg < WNDL_ARM_REGS; reg++)
        frame.regs[reg] = STACK_ADDR + 8 * reg;
    frame.regs[WNDL_ARM_SP] = STACK_ADDR + 16;
    const struct wndl_bytes code = wndl_bytes_slice(t->instructions,
        place.instruction, t->instructions.size - place.instruction);
    if (wndl_chrome_v2_run(code, &frame) == WNDL_OK &&
        (frame.regs[WNDL_ARM_SP] < STACK_ADDR + 16 ||
            frame.regs[WNDL_ARM_SP] > STACK_ADDR + sizeof stack))
        abort();
}

/* As walks do. */
static void take_rows(struct wndl_bytes bytes)
{
    const struct wndl_table_chrome_of of = {EM_ARM, STACK_ADDR, UINT32_MAX};
    struct wndl_table table;
    struct wndl_cfi_row row;
    if (wndl_table_open_chrome(bytes, &of, &table, NULL) != WNDL_OK)
        return;
    const uint64_t span = (uint64_t)table.chrome.page_count
                          << WNDL_CHROME_V2_PAGE_SHIFT;
    for (uint64_t at = 0; at <= span; at += span / LOOKUPS + 1) {
        const uint32_t rule = wndl_table_find(&table, STACK_ADDR + at);
        if (wndl_table_row(&table, wndl_arch_of(EM_ARM), rule, &row) ==
                WNDL_OK &&
            row.cfa.kind != WNDL_RULE_REGISTER)
            abort();
    }
}

/* A file as a binary, too: where its .text is. */
static void find_text(struct wndl_bytes bytes)
{
    struct wndl_table_chrome_of of;
    (void)wndl_table_chrome_of_file(bytes, &of);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_chrome_v2 t;
    struct wndl_chrome_v2_counts counts;
    find_text((struct wndl_bytes){data, size});
    take_rows((struct wndl_bytes){data, size});
    if (wndl_chrome_v2_open((struct wndl_bytes){data, size}, &t, NULL) !=
        WNDL_OK)
        return 0;
    const uint64_t span = (uint64_t)t.page_count << WNDL_CHROME_V2_PAGE_SHIFT;
    for (uint64_t at = 0; at <= span; at += span / LOOKUPS + 1)
        look_up(&t, at);
    for (uint64_t at = 0; at < 64; at++)
        look_up(&t, at);
    if (wndl_chrome_v2_count(&t, &counts, wndl_mem_libc(), NULL) == WNDL_OK &&
        counts.functions != t.function_count)
        abort();
    return 0;
}
