/* SPDX-License-Identifier: MIT */
#include "unwind/space/arm_find.h"

#include "unwind/arm/rows.h"

#include <sys/auxv.h>

enum {
    WORD = 4,
    /* Code that is read for one address, at most. */
    REACH = 32768,
    /* After the address: the longest epilogue. */
    AHEAD = 128,
};

/* A pc may be anywhere in a module, even in data: sanitizers must not check. */
__attribute__((no_sanitize("address", "thread"))) static uint32_t load(
    const struct wndl_bytes *code, uint64_t at, unsigned size)
{
    const volatile uint8_t *bytes = code->data + at;
    uint32_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint32_t)bytes[i] << 8 * i;
    return value;
}

/* The code: a segment of this process, or the reader of another. */
struct text {
    struct wndl_bytes segment;
    const struct wndl_remote *remote; /* NULL: this process */
};

/* The code at `addr`; 0 if there is none. */
static uint32_t code_at(const struct text *text, uint64_t addr, unsigned size)
{
    uint32_t value = 0;
    if (text->remote != NULL) {
        const bool is_read =
            text->remote->read(text->remote->context, addr, &value, size);
        return is_read ? value : 0;
    }
    const uint64_t at = addr - (uintptr_t)text->segment.data;
    if (wndl_bytes_slice(text->segment, at, size).data == NULL)
        return 0;
    return load(&text->segment, at, size);
}

/* ---- the code to which signal handlers return */

enum { SYS_SIGRETURN = 119, SYS_RT_SIGRETURN = 173, SYS_EXIT = 1 };

/*
 * The number that code at `addr` puts into r7 before a system call; 0: it does
 * not. `is_second`: the address is of the second of these two instructions.
 */
static uint32_t call_number(
    const struct text *text, uint64_t addr, bool is_second)
{
    const uint32_t arm = code_at(text, addr - (is_second ? WORD : 0), WORD);
    const uint32_t svc = code_at(text, addr + (is_second ? 0 : WORD), WORD);
    if (addr % WORD == 0 && (arm & 0xffffff00) == 0xe3a07000 &&
        svc >> 24 == 0xef)
        return arm & 0xff;
    /* Thumb: mov of 2 or 4 bytes. */
    const uint32_t wide = is_second ? arm : code_at(text, addr, WORD);
    const uint32_t after = is_second ? addr : addr + WORD;
    if ((wide & 0xff00ffff) == 0x0700f04f &&
        code_at(text, after, 2) >> 8 == 0xdf)
        return wide >> 16 & 0xff;
    const uint32_t both = code_at(text, addr - (is_second ? 2 : 0), WORD);
    return (both & 0xff00ff00) == 0xdf002700 ? both & 0xff : 0;
}

/* All registers are in a sigcontext, `at` above sp. */
static void sigreturn_row(int64_t at, struct wndl_cfi_row *row)
{
    *row = (struct wndl_cfi_row){
        .cfa = {.kind = WNDL_RULE_REGISTER, .reg = WNDL_ARM_SP},
        .ra_reg = WNDL_ARM_PC,
        .signal_frame = true,
    };
    for (unsigned reg = 0; reg < WNDL_ARM_REGS; reg++) {
        row->regs[reg].kind = WNDL_RULE_OFFSET;
        row->regs[reg].offset = at + (int64_t)reg * WORD;
    }
}

static enum wndl_code_kind find_sigreturn(
    const struct text *text, uint64_t pc, struct wndl_code *code)
{
    /* In struct sigframe and, after siginfo_t, in struct rt_sigframe. */
    enum { AT = 32, RT_AT = 160 };
    const uint64_t addr = pc + (pc & 1);
    uint32_t number = call_number(text, addr, false);
    if (number == 0 && addr == pc)
        number = call_number(text, addr, true);
    if (number != SYS_SIGRETURN && number != SYS_RT_SIGRETURN)
        return WNDL_CODE_NO_FDE;
    *code = (struct wndl_code){
        .frame = {.address_size = WORD, .family = WNDL_CFI_ARM}};
    sigreturn_row(number == SYS_SIGRETURN ? AT : RT_AT, &code->row);
    return WNDL_CODE_ROW;
}

static uint64_t thread_pointer(void)
{
#ifdef __arm__
    return (uintptr_t)__builtin_thread_pointer();
#else
    return 0;
#endif
}

bool wndl_arm_ends_thread(const struct wndl_remote *remote, uint64_t ra)
{
    struct wndl_dlmodule module;
    struct text text = {.remote = remote};
    if (remote == NULL) {
        if (!wndl_dlfind(ra, &module))
            return false;
        text.segment = wndl_dlmodule_around(&module, ra);
    }
    return call_number(&text, ra, false) == SYS_EXIT;
}

bool wndl_arm_starts_thread(
    const struct wndl_remote *remote, uint64_t ra, uint64_t sp)
{
    enum { THREAD_STRUCT = 4096 };
    struct wndl_dlmodule module, libc;
    if (wndl_arm_ends_thread(remote, ra))
        return true;
    const uint64_t pointer = thread_pointer();
    return remote == NULL && sp < pointer && pointer - sp < THREAD_STRUCT &&
           wndl_dlfind(ra, &module) &&
           wndl_dlfind((uintptr_t)&getauxval, &libc) &&
           libc.map_start == module.map_start;
}

/* ---- functions */

/* The rows of a function, up to that of `pc`. */
struct search {
    uint64_t pc;
    struct wndl_cfi_row *row;
};

static bool visit(void *context, const struct wndl_cfi_row *row)
{
    const struct search *s = context;
    if (s->pc >= row->end)
        return true;
    *s->row = *row;
    return false;
}

/* Code with a rule, and its end. */
struct body {
    struct wndl_bytes code;
    uint64_t code_addr, end;
};

/* Replaces the body's rule by that of `pc`. */
static __attribute__((noinline)) void refine(
    const struct body *b, uint64_t pc, struct wndl_code *code)
{
    const struct wndl_cfi_row body = code->row;
    struct search s = {pc, &code->row};
    const struct wndl_arm_function function = {
        .code = b->code,
        .code_addr = b->code_addr,
        .start = code->start,
        .end = b->end < pc + AHEAD ? b->end : pc + AHEAD,
        .body = &body,
    };
    if (pc - code->start < REACH)
        (void)wndl_arm_rows(&function, visit, &s);
}

/* The same for another process: with a copy of its code, all or nothing. */
static __attribute__((noinline)) void refine_there(
    const struct wndl_remote *remote, uint64_t end, uint64_t pc,
    struct wndl_code *code)
{
    uint8_t copy[REACH + AHEAD];
    const uint64_t start = code->start;
    const uint64_t stop = end < pc + AHEAD ? end : pc + AHEAD;
    if (start > pc || pc - start >= REACH || stop <= pc ||
        !remote->read(remote->context, start, copy, stop - start))
        return;
    const struct body b = {{copy, stop - start}, start, stop};
    refine(&b, pc, code);
}

/*
 * Finds the entry in the index. The row is of the function's body, and the
 * function's start is the index's.
 */
static enum wndl_code_kind find_body(
    const struct wndl_exidx *exidx, size_t i, struct wndl_code *code)
{
    struct wndl_exidx_entry entry;
    enum wndl_status status = wndl_exidx_read(exidx, i, &entry, NULL);
    if (status == WNDL_OK)
        status = wndl_exidx_row(&entry, &code->row, NULL);
    code->frame =
        (struct wndl_cfi_section){.address_size = WORD, .family = WNDL_CFI_ARM};
    code->start = entry.start;
    if (status == WNDL_NOT_FOUND)
        return WNDL_CODE_NO_FDE;
    return status == WNDL_OK ? WNDL_CODE_ROW : WNDL_CODE_BAD;
}

/* The start of the next function; after the last, the end of the module. */
static uint64_t end_of(const struct wndl_exidx *exidx, size_t i, uint64_t last)
{
    return i + 1 < wndl_exidx_count(exidx) ? wndl_exidx_start(exidx, i + 1)
                                           : last;
}

enum wndl_code_kind wndl_arm_code_find(
    const struct wndl_dlmodule *module, uint64_t pc, struct wndl_code *code)
{
    struct wndl_exidx exidx = {
        .index = module->exidx, .index_addr = (uintptr_t)module->exidx.data};
    const struct text text = {.segment = wndl_dlmodule_around(module, pc)};
    size_t i;
    if (find_sigreturn(&text, pc, code) == WNDL_CODE_ROW)
        return WNDL_CODE_ROW;
    if (wndl_exidx_find(&exidx, pc, &i) != WNDL_OK)
        return WNDL_CODE_NO_FDE;
    exidx.table = wndl_dlmodule_around(module, exidx.index_addr);
    exidx.table_addr = (uintptr_t)exidx.table.data;
    const enum wndl_code_kind kind = find_body(&exidx, i, code);
    if (kind != WNDL_CODE_ROW || (pc & 1) != 0)
        return kind;
    const struct body b = {text.segment, (uintptr_t)text.segment.data,
        end_of(&exidx, i, module->map_end)};
    refine(&b, pc, code);
    return kind;
}

enum wndl_code_kind wndl_arm_code_find_there(const struct wndl_remote *remote,
    const struct wndl_remote_module *m, uint64_t pc, struct wndl_code *code)
{
    const struct wndl_exidx exidx = {
        .index = {m->exidx, m->exidx != NULL ? m->exidx_size : 0},
        .table = {m->extab, m->extab != NULL ? m->extab_size : 0},
        .index_addr = m->exidx_svma,
        .table_addr = m->extab_svma,
    };
    const struct text text = {.remote = remote};
    size_t i;
    if (find_sigreturn(&text, pc, code) == WNDL_CODE_ROW)
        return WNDL_CODE_ROW;
    if (wndl_exidx_find(&exidx, pc - m->bias, &i) != WNDL_OK)
        return WNDL_CODE_NO_FDE;
    const enum wndl_code_kind kind = find_body(&exidx, i, code);
    code->start += m->bias;
    if (kind == WNDL_CODE_ROW && (pc & 1) == 0) {
        const uint64_t end = end_of(&exidx, i, m->end - m->bias) + m->bias;
        refine_there(remote, end, pc, code);
    }
    return kind;
}

/* ---- calls */

static bool is_thumb_call(const struct text *text, uint64_t ra)
{
    const uint32_t word = code_at(text, ra - WORD, WORD);
    return (word & 0xc000f800) == 0xc000f000 || (word >> 16 & 0xff87) == 0x4780;
}

static bool is_arm_call(const struct text *text, uint64_t ra)
{
    const uint32_t word = code_at(text, ra - WORD, WORD);
    const uint32_t before = code_at(text, ra - WORD - WORD, WORD);
    return (word & 0x0f000000) == 0x0b000000 ||
           (word & 0xfe000000) == 0xfa000000 ||
           (word & 0x0ffffff0) == 0x012fff30 || before == 0xe1a0e00f;
}

bool wndl_arm_is_after_call(const struct wndl_remote *remote, uint64_t ra)
{
    uint32_t word;
    struct wndl_dlmodule module;
    struct text text = {.remote = remote};
    const uint64_t addr = ra & ~UINT64_C(1);
    if (remote != NULL &&
        !remote->read(remote->context, addr - WORD, &word, WORD))
        return true;
    if (remote == NULL) {
        if (!wndl_dlfind(addr - 1, &module))
            return false;
        text.segment = wndl_dlmodule_around(&module, addr - 1);
    }
    return (ra & 1) != 0 ? is_thumb_call(&text, addr)
                         : is_arm_call(&text, addr);
}
