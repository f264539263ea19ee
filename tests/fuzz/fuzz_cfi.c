/* SPDX-License-Identifier: MIT */
/*
 * fuzz_cfi: bytes as .eh_frame, .debug_frame, .eh_frame_hdr and a DWARF
 * expression. Byte 0 chooses width, byte order, section and machine; byte 1 is
 * the length of the .eh_frame_hdr that follows, in units of 4; the rest is the
 * section, which starts at 0x2000 as its header does at 0x1000.
 */
#include <stdlib.h>
#include <string.h>

#include "cfi/cfi.h"
#include "cfi/cfi_expr.h"
#include "plainrow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct run {
    const struct wndl_cfi_section *frame;
    const struct wndl_fde *fde;
    uint64_t at; /* where the next row must start */
};

/* Half of memory can be read: each byte is that of its address. */
static bool read_memory(void *context, uint64_t address, void *to, size_t size)
{
    (void)context;
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)to)[i] = (uint8_t)(address + i);
    return (address & 0x10000) == 0;
}

static const struct wndl_cfi_memory memory = {read_memory, NULL};

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* That of this machine's, cfi/cfi_plain.h must not take for another. */
static void check_plain(const struct run *run, uint64_t pc)
{
    bool is_plain;
    if (!run->frame->big_endian && !run->frame->debug_frame &&
        run->frame->family == WNDL_CFI_X86)
        require(plain_agrees(run->frame,
            run->frame->address_size == 8 ? &plain_abi_x86_64 : &plain_abi_i386,
            run->fde->offset, pc, &is_plain));
}

static bool check_row(void *context, const struct wndl_cfi_row *row)
{
    struct run *run = context;
    struct wndl_cfi_row again;
    struct wndl_cfi_regs callee = {.valid = 0xff5f};
    struct wndl_cfi_regs caller;
    const bool a64 = run->frame->family == WNDL_CFI_AARCH64;
    require(row->start == run->at && row->start < row->end);
    require(row->end <= run->fde->end);
    run->at = row->end;
    require(wndl_cfi_row_at(run->frame, run->fde, row->end - 1, &again, NULL) ==
            WNDL_OK);
    require(again.start == row->start && again.end == row->end);
    check_plain(run, row->end - 1);
    for (unsigned i = 0; i < WNDL_CFI_REGS; i++)
        callee.regs[i] = 0x4000 + 0x100 * i;
    if (wndl_cfi_step(run->frame, row, &callee, &memory, &caller) == WNDL_OK)
        require((caller.valid >> (a64 ? 32 : row->ra_reg) & 1) != 0);
    return true;
}

/* Rows are quadratic here: enough of them, not all. */
enum { MOST_FDES = 64, LONGEST_PROGRAM = 2048 };

static void check_records(const struct wndl_cfi_section *frame)
{
    uint64_t next = 0;
    unsigned fdes = 0;
    for (uint64_t at = 0; at < frame->bytes.size; at = next) {
        struct wndl_fde fde;
        struct wndl_error err;
        next = at;
        enum wndl_status status = wndl_fde_parse(frame, at, &fde, &next, &err);
        if (next == at || fdes == MOST_FDES)
            break;
        if (status != WNDL_OK || fde.program.size > LONGEST_PROGRAM)
            continue;
        fdes++;
        require(fde.start <= fde.end);
        struct run run = {frame, &fde, fde.start};
        if (wndl_cfi_rows(frame, &fde, check_row, &run, &err) == WNDL_OK)
            require(run.at == fde.end);
        check_plain(&run, fde.start);
        check_plain(&run, fde.end - 1);
    }
}

static void check_lookups(
    const struct wndl_cfi_section *hdr, const struct wndl_cfi_section *frame)
{
    static const uint64_t pcs[] = {0, 0x1000, 0x2000, 0x100000, UINT64_MAX};
    for (size_t i = 0; i < sizeof pcs / sizeof pcs[0]; i++) {
        struct wndl_fde fde;
        uint64_t offset = 0;
        if (wndl_eh_frame_hdr_find(hdr, frame, pcs[i], &offset) == WNDL_OK)
            require(offset < frame->bytes.size);
        if (wndl_fde_scan(frame, pcs[i], &fde, NULL) == WNDL_OK)
            require(fde.start <= pcs[i] && pcs[i] < fde.end);
    }
}

static void check_expression(
    const struct wndl_cfi_section *frame, struct wndl_bytes expr)
{
    struct wndl_cfi_regs regs = {.valid = 0xff5f};
    struct wndl_expr_view view = {frame, &regs, &memory};
    uint64_t cfa = 0x4000;
    uint64_t result = 0;
    if (wndl_expr_eval(expr, &view, &cfa, &result) == WNDL_OK)
        require(frame->address_size == 8 || result <= UINT32_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct wndl_bytes all = {data, size};
    size_t hdr_size = data[1] * 4u;
    hdr_size = hdr_size < size - 2 ? hdr_size : size - 2;
    struct wndl_cfi_section frame = {
        .bytes = wndl_bytes_slice(all, 2 + hdr_size, size - 2 - hdr_size),
        .addr = 0x2000,
        .text_base = data[0] & 8 ? 0x100000 : 0,
        .data_base = data[0] & 8 ? 0x200000 : 0,
        .address_size = data[0] & 1 ? 4 : 8,
        .big_endian = data[0] & 2,
        .debug_frame = data[0] & 4,
        .family = data[0] & 16 ? WNDL_CFI_AARCH64 : WNDL_CFI_X86,
    };
    struct wndl_cfi_section hdr = frame;
    hdr.bytes = wndl_bytes_slice(all, 2, hdr_size);
    hdr.addr = 0x1000;
    check_records(&frame);
    check_lookups(&hdr, &frame);
    check_expression(&frame, frame.bytes);
    return 0;
}
