/* SPDX-License-Identifier: MIT */
/*
 * code_follow: the code of small functions, which the assembler makes, and the
 * rules that are made from it. It is read and never run.
 */
#ifndef WNDL_TESTS_CODE_FOLLOW_H
#define WNDL_TESTS_CODE_FOLLOW_H

#include "cfi_import/code/flow.h"
#include "testlib.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A function from NAME to NAME_end, in data; its places are global symbols. */
#define CODE(name, text)                                                       \
    __asm__(".pushsection .rodata\n.balign 16\n.globl " #name "\n" #name       \
            ":\n" text "\n.globl " #name "_end\n" #name                        \
            "_end:\nnop\n.popsection\n");                                      \
    PLACE(name)                                                                \
    PLACE(name##_end)
#define PLACE(label)                                                           \
    extern const uint8_t label[] __attribute__((visibility("hidden")));

struct followed {
    struct wndl_arena arena;
    struct wndl_code_text text;
    struct wndl_code_flow flow;
};

static inline uint64_t address(const uint8_t *place)
{
    return (uint64_t)(uintptr_t)place;
}

/*
 * Follows the code with the mode and the other things that `text` has. Code of
 * i386 has addresses of 4 bytes, places here more: it is followed where the
 * place's lower half is.
 */
static inline void follow_text(
    struct followed *f, const uint8_t *start, const uint8_t *end)
{
    const uint64_t svma = f->text.mode != WNDL_INSN_32
                              ? address(start)
                              : (uint32_t)address(start);
    const uint64_t size = (uint64_t)(end - start);
    f->text.code = (struct wndl_code_part){svma, {start, size}};
    f->text.parts = &f->text.code;
    f->text.part_count = 1;
    wndl_arena_init(&f->arena, wndl_mem_libc());
    assert_true(wndl_code_flow_init(&f->flow, &f->text, &f->arena));
    wndl_code_flow_enter(&f->flow, svma, WNDL_CODE_CALLED);
    wndl_code_flow_scan(&f->flow, svma, svma + size, false);
    assert_true(wndl_code_flow_run(&f->flow));
    assert_false(f->flow.full);
    f->text.code.svma = address(start);
}

static inline void follow(
    struct followed *f, const uint8_t *start, const uint8_t *end)
{
    f->text = (struct wndl_code_text){.mode = WNDL_INSN_64};
    follow_text(f, start, end);
}

/* Registers as DWARF numbers them. */
static const char *const names_64[] = {"ax", "dx", "cx", "bx", "si", "di", "bp",
    "sp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "ra"};
static const char *const names_32[] = {
    "ax", "cx", "dx", "bx", "sp", "bp", "si", "di", "ra"};

static const char *const names_a64[] = {"x0", "x1", "x2", "x3", "x4", "x5",
    "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
    "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27",
    "x28", "x29", "x30", "sp"};

static inline const char *const *names_of(enum wndl_insn_mode mode)
{
    return mode == WNDL_INSN_64   ? names_64
           : mode == WNDL_INSN_32 ? names_32
                                  : names_a64;
}

static inline int say(const char *const *names, char *to, size_t room,
    const struct wndl_cfi_rule *rule)
{
    struct wndl_cursor c = wndl_cursor_at(
        (struct wndl_bytes){rule->expr, rule->expr_size}, 0, false);
    switch ((enum wndl_cfi_rule_kind)rule->kind) {
    case WNDL_RULE_UNSET:
        return snprintf(to, room, "same");
    case WNDL_RULE_REGISTER:
        return snprintf(to, room, "%s%+d", names[rule->reg], (int)rule->offset);
    case WNDL_RULE_OFFSET:
        return snprintf(to, room, "c%+d", (int)rule->offset);
    case WNDL_RULE_EXPR:
    case WNDL_RULE_VAL_EXPR: {
        const char *reg = names[wndl_cursor_u8(&c) - 0x70];
        const int offset = (int)wndl_cursor_sleb(&c);
        return snprintf(to, room, "[%s%+d]", reg, offset);
    }
    default:
        return snprintf(to, room, "none");
    }
}

static inline void say_row(const struct wndl_code_machine *machine,
    const char *const *names, const struct wndl_cfi_row *row, char *to,
    size_t room)
{
    const struct wndl_cfi_rule *const rules[] = {&row->cfa,
        &row->regs[machine->dwarf[machine->fp]],
        &row->regs[machine->dwarf[machine->kept[0]]],
        &row->regs[machine->dwarf_ra]};
    const size_t count = machine->link == WNDL_INSN_NO_REG ? 3 : 4;
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size +=
            (size_t)snprintf(to + size, room - size, "%s", i == 0 ? "" : " ");
        size += (size_t)say(names, to + size, room - size, rules[i]);
    }
    (void)snprintf(to + size, room - size, row->ra_signed ? " signed" : "");
}

/* "CFA BP BX", AArch64: "CFA X29 X19 X30", as far as the wanted text goes. */
static inline void expect(
    const struct followed *f, const uint8_t *place, const char *wanted)
{
    struct wndl_code_state state;
    struct wndl_cfi_row row;
    uint8_t room[WNDL_CODE_ROOM];
    char text[100] = "unreached";
    const uint64_t at = address(place) - f->text.code.svma;
    if (wndl_code_flow_state(&f->flow, at, &state)) {
        (void)snprintf(text, sizeof text, "no rule");
        if (wndl_code_state_row(&state, &row, room))
            say_row(wndl_code_machine_of(f->text.mode), names_of(f->text.mode),
                &row, text, sizeof text);
    }
    text[strlen(wanted) < strlen(text) ? strlen(wanted) : strlen(text)] = '\0';
    assert_string_equal(text, wanted);
}

static inline void drop(struct followed *f)
{
    wndl_arena_free(&f->arena);
}

#endif
