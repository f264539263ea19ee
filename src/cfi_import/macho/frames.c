/* SPDX-License-Identifier: MIT */
/*
 * frames: the format is documented in mach-o/compact_unwind_encoding.h (Apple)
 * only. An encoding says how a function's body finds its caller. The rules of
 * the prologue come from its code, if it consists of pushes and their usual
 * companions, or of arm64's stores, and ends in the state that the encoding
 * describes.
 */
#include "cfi_import/macho/frames.h"
#include "cfi_import/core/source_impl.h"
#include "cfi_import/macho/a64_rows.h"
#include "cfi_import/pe/x64_rows.h"
#include "unwind/core/arch.h"

#include <elf.h>
#include <string.h>

enum {
    HEADER_VERSION = 1,
    INDEX_ENTRY = 12, /* bytes */
    PAGE_REGULAR = 2,
    PAGE_COMPRESSED = 3,
    WORD = 8,
    /* Bytes of programs to run, for each byte of __eh_frame. */
    WORK_PER_BYTE = 16,
    WORK_AT_LEAST = 16 * 1024 * 1024,
};

/* Bits 24 to 27 of an encoding of x86-64. */
enum mode {
    NONE = 0,
    RBP_FRAME = 1,
    STACK_IMMD = 2,
    STACK_IND = 3,
    DWARF = 4,
    UNKNOWN
};

struct reading {
    struct wndl_cfi_source *cfi;
    struct wndl_object *object;
    struct wndl_bytes info;
    struct wndl_cfi_section eh_frame;
    struct wndl_bytes text;
    uint64_t text_addr; /* svma */
    struct wndl_frame_writer writer;
    struct wndl_pe_unwind *unwind;
    const struct wndl_arch *arch;
    const struct wndl_symbol *symbols; /* by address */
    size_t symbol_count, symbol;       /* the next to be examined */
    uint32_t common_at, common_count;
    uint64_t entries; /* so far */
    uint64_t done;    /* svma; functions before it are done */
    uint64_t work;
};

/* One function. */
struct entry {
    uint64_t start, end; /* svma */
    uint32_t encoding;
    uint64_t at; /* offset of its entry */
};

static void lose(
    struct reading *r, enum wndl_status status, uint64_t at, const char *why)
{
    struct wndl_error err = {0};
    wndl_fail_at(&err, status, "__unwind_info", at, why);
    wndl_cfi_source_lose(r->cfi, &err);
}

static uint32_t u32_at(struct wndl_bytes bytes, uint64_t at)
{
    struct wndl_cursor c = wndl_cursor_at(bytes, at, false);
    return wndl_cursor_u32(&c);
}

/* ---- encodings */

static void set_offset(struct wndl_cfi_row *row, uint8_t reg, int64_t offset)
{
    row->regs[reg] =
        (struct wndl_cfi_rule){.kind = WNDL_RULE_OFFSET, .offset = offset};
}

/* The DWARF number of an encoding's register; 0: none. */
static uint8_t register_of(uint32_t number)
{
    static const uint8_t numbers[8] = {0, 3, 12, 13, 14, 15, 6, 0};
    return numbers[number & 7];
}

static void set_cfa(struct wndl_cfi_row *row, uint8_t reg, int64_t offset)
{
    row->cfa = (struct wndl_cfi_rule){
        .kind = WNDL_RULE_REGISTER, .reg = reg, .offset = offset};
}

static void start_row(const struct entry *e, uint8_t reg, int64_t offset,
    struct wndl_cfi_row *row)
{
    const uint8_t ra = wndl_arch_x86_64.ra;
    *row = (struct wndl_cfi_row){.start = e->start, .ra_reg = ra};
    set_cfa(row, reg, offset);
    set_offset(row, ra, -WORD);
}

/*
 * RBP is saved below the return address, five registers somewhere below that.
 */
static void read_rbp_frame(const struct entry *e, struct wndl_cfi_row *row)
{
    const uint8_t fp = wndl_arch_x86_64.fp;
    const int64_t at = -(int64_t)(e->encoding >> 16 & 0xff) * WORD - 2 * WORD;
    start_row(e, fp, 2 * WORD, row);
    set_offset(row, fp, -2 * WORD);
    for (unsigned i = 0; i < 5; i++) {
        const uint8_t reg = register_of(e->encoding >> 3 * i & 7);
        if (reg != 0)
            set_offset(row, reg, at + (int64_t)i * WORD);
    }
}

/*
 * Unpacks a permutation: one number that stands for `count` of six registers in
 * some order. Each digit is an index among the registers that are left. False
 * for a number too large.
 */
static bool unpack(uint32_t packed, unsigned count, uint8_t regs[6])
{
    bool used[7] = {false};
    uint32_t digits[6];
    for (unsigned i = count; i-- > 0;) {
        /* The last of six registers has no choice left. */
        const unsigned choices = 6 - i;
        digits[i] = packed % choices;
        packed /= choices;
    }
    for (unsigned i = 0; i < count; i++) {
        unsigned reg = 0;
        for (uint32_t left = digits[i] + 1; left > 0; left -= !used[reg])
            reg++;
        used[reg] = true;
        regs[i] = (uint8_t)reg;
    }
    return packed == 0;
}

/* Registers are saved right below the return address. */
static bool read_frameless(
    const struct entry *e, uint64_t stack_size, struct wndl_cfi_row *row)
{
    uint8_t regs[6];
    const unsigned count = e->encoding >> 10 & 7;
    if (count > 6 || !unpack(e->encoding & 0x3ff, count, regs) ||
        stack_size < (count + UINT64_C(1)) * WORD)
        return false;
    start_row(e, wndl_arch_x86_64.sp, (int64_t)stack_size, row);
    for (unsigned i = 0; i < count; i++)
        set_offset(row, register_of(regs[i]), -(int64_t)(count + 1 - i) * WORD);
    return true;
}

static struct wndl_bytes code_of(const struct reading *r, const struct entry *e)
{
    if (e->start < r->text_addr)
        return (struct wndl_bytes){0};
    return wndl_bytes_slice(
        r->text, e->start - r->text_addr, e->end - e->start);
}

/* Reads the operand of "sub rsp, N", and the pushes before it. */
static bool read_indirect(
    const struct reading *r, const struct entry *e, struct wndl_cfi_row *row)
{
    const struct wndl_bytes code = code_of(r, e);
    struct wndl_cursor c =
        wndl_cursor_at(code, e->encoding >> 16 & 0xff, false);
    const uint64_t subtracted = wndl_cursor_u32(&c);
    const uint64_t adjust = (e->encoding >> 13 & 7) * UINT64_C(8);
    return !c.failed && read_frameless(e, subtracted + adjust, row);
}

/* ---- prologues */

/* The bytes of a prologue's instruction, and its step; 0 for any other. */
static size_t read_step(
    struct wndl_bytes code, size_t at, struct wndl_pe_step *step)
{
    struct wndl_cursor c = wndl_cursor_at(code, at, false);
    const uint8_t first = wndl_cursor_u8(&c);
    const uint8_t second = wndl_cursor_u8(&c);
    const uint8_t third = wndl_cursor_u8(&c);
    if (c.failed)
        return 0;
    if ((first & 0xf8) == 0x50) {
        *step = (struct wndl_pe_step){WNDL_PE_PUSH, first & 7, 0, 0};
        return 1;
    }
    if (first == 0x41 && (second & 0xf8) == 0x50) {
        *step = (struct wndl_pe_step){
            WNDL_PE_PUSH, (uint8_t)(8 | (second & 7)), 0, 0};
        return 2;
    }
    if (first == 0x48 && second == 0x89 && third == 0xe5) {
        *step = (struct wndl_pe_step){WNDL_PE_FRAME, 5, 0, 0};
        return 3;
    }
    if (first != 0x48 || (second != 0x83 && second != 0x81) || third != 0xec)
        return 0;
    const bool wide = second == 0x81;
    const uint32_t by = wide ? wndl_cursor_u32(&c) : wndl_cursor_u8(&c);
    *step = (struct wndl_pe_step){WNDL_PE_ALLOC, 0, 0, by};
    return c.failed || by >= (wide ? 0x80000000 : 0x80) ? 0 : wide ? 7 : 4;
}

static bool same_rules(
    const struct wndl_cfi_row *a, const struct wndl_cfi_row *b)
{
    if (a->cfa.reg != b->cfa.reg || a->cfa.offset != b->cfa.offset)
        return false;
    for (unsigned i = 0; i < WNDL_CFI_REGS; i++)
        if (a->regs[i].kind != b->regs[i].kind ||
            (a->regs[i].kind == WNDL_RULE_OFFSET &&
                a->regs[i].offset != b->regs[i].offset))
            return false;
    return true;
}

/* Pushes of registers that need not be preserved only make room. */
static bool is_saved(const struct wndl_pe_step *step)
{
    static const uint16_t saved = 1u << 3 | 1u << 5 | 0xf000;
    return (saved >> step->reg & 1) != 0;
}

/*
 * Whether the prologue ends in the body's rules. If so, its steps are in
 * r->unwind.
 */
static bool follow_prologue(
    struct reading *r, struct wndl_bytes code, const struct wndl_cfi_row *body)
{
    struct wndl_pe_unwind *u = r->unwind;
    struct wndl_pe_state state = wndl_pe_state_at_entry(0);
    struct wndl_pe_step step;
    size_t at = 0, size;
    u->count = u->own = u->epilogue_count = 0;
    u->base = 0;
    u->version = 1;
    while (!same_rules(&state.row, body)) {
        size = read_step(code, at, &step);
        at += size;
        if (size == 0 || at > UINT8_MAX)
            return false;
        if (step.kind == WNDL_PE_PUSH && !is_saved(&step))
            step = (struct wndl_pe_step){WNDL_PE_ALLOC, 0, 0, WORD};
        step.at = (uint8_t)at;
        u->steps[u->count++] = step;
        wndl_pe_state_step(&state, &step);
    }
    u->prologue = (uint8_t)at;
    return true;
}

/* ---- functions */

static void lose_more(struct reading *r, const struct entry *e)
{
    lose(r, WNDL_LIMIT, e->at, "more rules than a file of this size has");
}

static bool begin_function(struct reading *r, const struct entry *e)
{
    const struct wndl_frame_function function = {
        e->start, e->end, e->at, false};
    if (wndl_frame_writer_begin(&r->writer, &function))
        return true;
    lose_more(r, e);
    return false;
}

static void end_function(struct reading *r, const struct entry *e)
{
    if (!wndl_frame_writer_end(&r->writer))
        lose_more(r, e);
}

/* Writes a function by its code; false if that contradicts its body. */
static bool write_followed(
    struct reading *r, const struct entry *e, const struct wndl_cfi_row *body)
{
    const struct wndl_bytes code = code_of(r, e);
    if (r->arch != &wndl_arch_x86_64) {
        const struct wndl_a64_function function = {
            e->start, e->end, code, body};
        return wndl_a64_write_rows(&r->writer, &function);
    }
    const struct wndl_x64_function function = {
        .unwind = r->unwind, .start = e->start, .end = e->end, .code = code};
    if (code.size == 0 || !follow_prologue(r, code, body))
        return false;
    (void)wndl_x64_write_rows(&r->writer, &function);
    return true;
}

static void write_function(
    struct reading *r, const struct entry *e, const struct wndl_cfi_row *body)
{
    if (!begin_function(r, e))
        return;
    if (!write_followed(r, e, body))
        wndl_frame_writer_row(&r->writer, body);
    end_function(r, e);
}

/* Neighbouring functions with one encoding are one entry. */
static void write_functions(
    struct reading *r, const struct entry *e, struct wndl_cfi_row *body)
{
    struct entry part = *e;
    while (part.start < e->end) {
        while (r->symbol < r->symbol_count &&
               r->symbols[r->symbol].addr.v <= part.start)
            r->symbol++;
        part.end = e->end;
        if (r->symbol < r->symbol_count &&
            r->symbols[r->symbol].addr.v < e->end)
            part.end = r->symbols[r->symbol].addr.v;
        body->start = part.start;
        write_function(r, &part, body);
        part.start = part.end;
    }
}

static bool copy_row(void *context, const struct wndl_cfi_row *row)
{
    struct reading *r = context;
    if (row->cfa.kind == WNDL_RULE_UNSET)
        return false;
    wndl_frame_writer_row(&r->writer, row);
    return true;
}

/* Copies the function's FDE from __eh_frame. */
static void copy_function(struct reading *r, const struct entry *e)
{
    struct wndl_fde fde;
    enum wndl_status status =
        wndl_fde_parse(&r->eh_frame, e->encoding & 0xffffff, &fde, NULL, NULL);
    if (status != WNDL_OK || fde.start != e->start) {
        lose(r, WNDL_MALFORMED, e->at,
            "a function without its record in __eh_frame");
        return;
    }
    r->work += fde.cie.program.size + fde.program.size;
    if (r->work > r->eh_frame.bytes.size * WORK_PER_BYTE + WORK_AT_LEAST) {
        lose(r, WNDL_LIMIT, e->at, "programs that take too long");
        return;
    }
    if (!begin_function(r, e))
        return;
    if (wndl_cfi_rows(&r->eh_frame, &fde, copy_row, r, NULL) != WNDL_OK)
        lose(r, WNDL_MALFORMED, e->at,
            "a function whose record in __eh_frame is damaged");
    end_function(r, e);
}

/* *good: whether `body` has a function's rules. */
static enum mode read_x86_64(const struct reading *r, const struct entry *e,
    struct wndl_cfi_row *body, bool *good)
{
    const enum mode mode = (enum mode)(e->encoding >> 24 & 15);
    *good = true;
    if (mode == RBP_FRAME)
        read_rbp_frame(e, body);
    else if (mode == STACK_IMMD)
        *good =
            read_frameless(e, (e->encoding >> 16 & 0xff) * UINT64_C(8), body);
    else if (mode == STACK_IND)
        *good = read_indirect(r, e, body);
    return mode;
}

/*
 * The same for arm64, whose modes have other numbers. Registers are saved in
 * pairs, the first of each at the higher address.
 */
static enum mode read_arm64(const struct entry *e, struct wndl_cfi_row *body)
{
    enum { FRAMELESS = 2, ARM64_DWARF = 3, FRAME = 4, PAIRS = 5 };
    enum { X19 = 19, FP = 29, LR = 30, SP = 31 };
    const uint32_t mode = e->encoding >> 24 & 15;
    int64_t at = -WORD;
    *body = (struct wndl_cfi_row){.start = e->start, .ra_reg = LR};
    if (mode == FRAME) {
        set_cfa(body, FP, 2 * WORD);
        set_offset(body, LR, -WORD);
        set_offset(body, FP, -2 * WORD);
        at = -3 * WORD;
    } else if (mode == FRAMELESS) {
        set_cfa(body, SP, (int64_t)(e->encoding >> 12 & 0xfff) * 16);
    } else {
        return mode == ARM64_DWARF ? DWARF : mode == 0 ? NONE : UNKNOWN;
    }
    for (unsigned i = 0; i < PAIRS; i++) {
        if ((e->encoding >> i & 1) == 0)
            continue;
        set_offset(body, (uint8_t)(X19 + 2 * i), at);
        set_offset(body, (uint8_t)(X19 + 2 * i + 1), at - WORD);
        at -= 2 * WORD;
    }
    return STACK_IMMD;
}

static void read_function(struct reading *r, const struct entry *e)
{
    struct wndl_cfi_row body;
    bool good = true;
    if (e->start < r->done || e->start >= e->end) {
        lose(r, WNDL_MALFORMED, e->at, "functions that are not in order");
        return;
    }
    r->done = e->end;
    const enum mode mode = r->arch == &wndl_arch_x86_64
                               ? read_x86_64(r, e, &body, &good)
                               : read_arm64(e, &body);
    if (mode == DWARF)
        copy_function(r, e);
    else if (mode >= UNKNOWN)
        lose(r, WNDL_UNSUPPORTED, e->at, "an encoding that is not known");
    else if (!good)
        lose(r, WNDL_MALFORMED, e->at, "an encoding that makes no sense");
    else if (mode != NONE)
        write_functions(r, e, &body);
}

/* ---- pages */

/* The second-level page of the functions in [start, end). */
struct page {
    uint64_t at;
    uint64_t start, end; /* from the image base */
    uint32_t kind;
    uint32_t entries_at, count; /* offset in the section */
    uint32_t encodings_at, encodings;
};

static uint32_t encoding_at(
    const struct reading *r, const struct page *p, uint32_t index)
{
    if (index < r->common_count)
        return u32_at(r->info, r->common_at + UINT64_C(4) * index);
    index -= r->common_count;
    return index < p->encodings
               ? u32_at(r->info, p->encodings_at + UINT64_C(4) * index)
               : UINT32_MAX;
}

/* The start of an entry's function, from the image base. */
static uint64_t start_at(
    const struct reading *r, const struct page *p, uint32_t i, uint64_t *at)
{
    if (i == p->count)
        return p->end;
    *at = p->entries_at + (uint64_t)i * (p->kind == PAGE_REGULAR ? 8 : 4);
    const uint32_t word = u32_at(r->info, *at);
    return p->kind == PAGE_REGULAR ? word : p->start + (word & 0xffffff);
}

static void read_entries(struct reading *r, const struct page *p)
{
    const uint64_t base = wndl_object_image_base(r->object).v;
    for (uint32_t i = 0; i < p->count; i++) {
        struct entry e = {0};
        uint64_t ignored;
        e.start = base + start_at(r, p, i, &e.at);
        e.end = base + start_at(r, p, i + 1, &ignored);
        if (e.end > base + p->end) {
            lose(r, WNDL_MALFORMED, e.at, "a function that leaves its page");
            continue;
        }
        e.encoding = p->kind == PAGE_REGULAR
                         ? u32_at(r->info, e.at + 4)
                         : encoding_at(r, p, u32_at(r->info, e.at) >> 24);
        read_function(r, &e);
    }
}

/* An entry has at least 4 bytes, which bounds their number. */
static void read_page(struct reading *r, struct page *p)
{
    struct wndl_cursor c = wndl_cursor_at(r->info, p->at, false);
    p->kind = wndl_cursor_u32(&c);
    p->entries_at = (uint32_t)p->at + wndl_cursor_u16(&c);
    p->count = wndl_cursor_u16(&c);
    if (p->kind == PAGE_COMPRESSED) {
        p->encodings_at = (uint32_t)p->at + wndl_cursor_u16(&c);
        p->encodings = wndl_cursor_u16(&c);
    }
    r->entries += p->count;
    const uint64_t size =
        (uint64_t)p->count * (p->kind == PAGE_REGULAR ? 8 : 4);
    if (c.failed || p->entries_at + size > r->info.size)
        lose(r, WNDL_TRUNCATED, p->at, "a page that is cut short");
    else if (p->kind != PAGE_REGULAR && p->kind != PAGE_COMPRESSED)
        lose(r, WNDL_UNSUPPORTED, p->at, "a page of a kind that is not known");
    else if (r->entries > r->info.size / 4)
        lose(r, WNDL_LIMIT, p->at, "more functions than there is room for");
    else
        read_entries(r, p);
}

static void read_pages(struct reading *r)
{
    struct wndl_cursor c = wndl_cursor_at(r->info, 0, false);
    const uint32_t version = wndl_cursor_u32(&c);
    r->common_at = wndl_cursor_u32(&c);
    r->common_count = wndl_cursor_u32(&c);
    wndl_cursor_skip(&c, 8);
    const uint32_t index_at = wndl_cursor_u32(&c);
    const uint32_t count = wndl_cursor_u32(&c);
    if (c.failed || version != HEADER_VERSION) {
        lose(r, c.failed ? WNDL_TRUNCATED : WNDL_UNSUPPORTED, 0,
            c.failed ? "its header is cut short"
                     : "a version of it that is not known");
        return;
    }
    c = wndl_cursor_at(r->info, index_at, false);
    for (uint32_t i = 0; i + 1 < count; i++) {
        const uint64_t at = index_at + (uint64_t)i * INDEX_ENTRY;
        if (wndl_cursor_left(&c) < 2 * INDEX_ENTRY) {
            lose(r, WNDL_TRUNCATED, at, "its index is cut short");
            return;
        }
        struct page page = {.start = wndl_cursor_u32(&c)};
        page.at = wndl_cursor_u32(&c);
        wndl_cursor_skip(&c, 4);
        page.end = u32_at(r->info, at + INDEX_ENTRY);
        if (page.at != 0)
            read_page(r, &page);
    }
}

/* ---- the file */

static bool find_sections(struct reading *r)
{
    struct wndl_section section;
    if (!wndl_object_has_section(r->object, "__unwind_info") ||
        wndl_object_section_bytes(
            r->object, "__unwind_info", &r->info, &section, NULL) != WNDL_OK)
        return false;
    if (wndl_object_section_bytes(
            r->object, "__text", &r->text, &section, NULL) == WNDL_OK)
        r->text_addr = section.addr.v;
    if (wndl_object_section_bytes(r->object, ".eh_frame", &r->eh_frame.bytes,
            &section, NULL) == WNDL_OK)
        r->eh_frame.addr = section.addr.v;
    r->eh_frame.address_size = WORD;
    return r->info.size != 0;
}

enum wndl_status wndl_macho_cfi_open(struct wndl_cfi_source *cfi,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err)
{
    struct reading r = {.cfi = cfi, .object = object};
    const uint16_t machine = wndl_object_machine(object);
    if ((machine != EM_X86_64 && machine != EM_AARCH64) ||
        wndl_object_address_size(object) != WORD || !find_sections(&r))
        return WNDL_NOT_FOUND;
    r.arch = wndl_arch_of(machine);
    if (wndl_object_functions(object, &r.symbols, &r.symbol_count, NULL) !=
        WNDL_OK)
        r.symbol_count = 0;
    r.unwind = wndl_arena_alloc(arena, sizeof *r.unwind);
    if (r.unwind == NULL)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    const bool is_arm64 = machine == EM_AARCH64;
    r.eh_frame.family = is_arm64 ? WNDL_CFI_AARCH64 : WNDL_CFI_X86;
    wndl_frame_writer_init(&r.writer, arena, WORD, is_arm64 ? 30 : r.arch->ra);
    wndl_frame_writer_bound(&r.writer, r.info.size + r.eh_frame.bytes.size);
    read_pages(&r);
    cfi->name = "__unwind_info";
    cfi->size = r.info.size + r.eh_frame.bytes.size;
    const enum wndl_status status =
        wndl_cfi_source_finish(cfi, &r.writer, arena, err);
    cfi->frame.family = r.eh_frame.family;
    return status;
}
