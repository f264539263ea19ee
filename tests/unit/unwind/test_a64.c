/* SPDX-License-Identifier: MIT */
/* AArch64: rows, steps and walks of made-up code in another address space. */
#include "testlib.h"

#include "cfibuild.h"
#include "unwind/slow/full.h"
#include "unwind/table/a64_rows.h"

#include <elf.h>

enum { START = 0x5000, FUNCTION = 0x100, STACK = 0x7000, WORDS = 32 };

/* A section of functions, each FUNCTION bytes, and the stack. */
struct world {
    struct cfi_build b;
    size_t cie;
    uint64_t next;
    uint64_t stack[WORDS];
};

static void init(struct world *w)
{
    static const struct cfi_shape shape = {8, false, false, false, 1};
    cfi_build_init(&w->b, &shape, 0x1000);
    w->b.section.family = WNDL_CFI_AARCH64;
    w->cie = cfi_begin_cie(&w->b);
    cfi_put_bytes(&w->b, "\1", 2); /* version, no augmentation */
    cfi_put_uleb(&w->b, 4);
    cfi_put_sleb(&w->b, -8);
    cfi_put_uleb(&w->b, 30);
    cfi_put_bytes(&w->b, "\x0c\x1f\x00", 3); /* CFA = SP */
    cfi_end_record(&w->b);
    w->next = START;
    memset(w->stack, 0, sizeof w->stack);
}

/* Where the function starts. */
static uint64_t add(struct world *w, struct wndl_bytes program)
{
    uint64_t start = w->next;
    (void)cfi_put_fde(&w->b, w->cie, start, FUNCTION, program);
    w->next += FUNCTION;
    return start;
}

static enum wndl_status row_at(
    const struct world *w, uint64_t pc, struct wndl_cfi_row *row)
{
    struct wndl_fde fde;
    enum wndl_status status = wndl_fde_scan(&w->b.section, pc, &fde, NULL);
    return status == WNDL_OK
               ? wndl_cfi_row_at(&w->b.section, &fde, pc, row, NULL)
               : status;
}

static bool read_stack(void *context, uint64_t address, void *to, size_t size)
{
    const struct world *w = context;
    if (address < STACK || address - STACK > sizeof w->stack ||
        size > sizeof w->stack - (address - STACK))
        return false;
    memcpy(to, (const uint8_t *)w->stack + (address - STACK), size);
    return true;
}

/* Register n is 0x1000 + 16 n. */
static struct wndl_cfi_regs registers(void)
{
    struct wndl_cfi_regs regs = {.valid = (UINT64_C(1) << 33) - 1};
    for (unsigned i = 0; i < 33; i++)
        regs.regs[i] = 0x1000 + 16 * i;
    regs.regs[WNDL_A64_SP] = STACK;
    return regs;
}

static enum wndl_status step_at(struct world *w, uint64_t pc,
    const struct wndl_cfi_regs *callee, struct wndl_cfi_regs *caller)
{
    struct wndl_cfi_row row;
    const struct wndl_cfi_memory memory = {read_stack, w};
    assert_int_equal(row_at(w, pc, &row), WNDL_OK);
    return wndl_cfi_step(&w->b.section, &row, callee, &memory, caller);
}

static struct world world;

static void signing_is_toggled_remembered_and_restored(void **state)
{
    (void)state;
    struct wndl_cfi_row row;
    init(&world);
    /* sign; remember; +4: authenticated; +8: as remembered; +12: and back */
    uint64_t f = add(&world,
        CFI_BYTES(0x2d, 0x0a, 0x41, 0x2d, 0x41, 0x0b, 0x41, 0x2d, 0x41, 0x2d));
    static const bool expected[] = {true, false, true, false, true};
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(row_at(&world, f + 4 * i, &row), WNDL_OK);
        assert_int_equal(row.ra_signed, expected[i]);
    }
}

static void signing_is_not_known_elsewhere(void **state)
{
    (void)state;
    struct wndl_cfi_row row;
    init(&world);
    uint64_t f = add(&world, CFI_BYTES(0x2d));
    world.b.section.family = WNDL_CFI_X86;
    assert_int_equal(row_at(&world, f, &row), WNDL_UNSUPPORTED);
}

static void registers_beyond_the_last_have_no_rules(void **state)
{
    (void)state;
    struct wndl_cfi_row row;
    init(&world);
    /* v8, as functions save it; x28; a CFA by v8 */
    uint64_t saves = add(&world, CFI_BYTES(0x05, 72, 2, 0x9c, 4));
    uint64_t odd = add(&world, CFI_BYTES(0x0c, 72, 8));
    assert_int_equal(row_at(&world, saves, &row), WNDL_OK);
    assert_int_equal(row.regs[28].offset, -32);
    assert_int_equal(row_at(&world, odd, &row), WNDL_UNSUPPORTED);
}

static void a_leaf_returns_to_where_x30_says(void **state)
{
    (void)state;
    struct wndl_cfi_regs callee = registers(), caller, next;
    init(&world);
    uint64_t leaf = add(&world, CFI_BYTES(0));
    assert_int_equal(step_at(&world, leaf, &callee, &caller), WNDL_OK);
    assert_int_equal(caller.regs[WNDL_A64_PC], callee.regs[30]);
    assert_int_equal(caller.regs[WNDL_A64_SP], STACK);
    assert_int_equal(caller.regs[19], callee.regs[19]);
    assert_int_equal(caller.regs[29], callee.regs[29]);
    /* Calls keep x19 to x29; x30 is a return address no more. */
    uint64_t kept = 0x7ff, above = UINT64_C(3) << 31;
    assert_int_equal(caller.valid, kept << 19 | above);
    assert_int_equal(step_at(&world, leaf, &caller, &next), WNDL_IO);
}

static void a_signature_is_taken_off(void **state)
{
    (void)state;
    struct wndl_cfi_regs callee = registers(), caller;
    init(&world);
    uint64_t plain = add(&world, CFI_BYTES(0x0e, 32, 0x9e, 3, 0x9d, 4));
    uint64_t signed_ = add(&world, CFI_BYTES(0x2d, 0x0e, 32, 0x9e, 3, 0x9d, 4));
    const uint64_t word = UINT64_C(0x3a7f7fffe7654320);
    world.stack[0] = STACK + 64;
    world.stack[1] = word;
    assert_int_equal(step_at(&world, signed_, &callee, &caller), WNDL_OK);
    assert_int_equal(caller.regs[WNDL_A64_PC], 0x7fffe7654320);
    assert_int_equal(caller.regs[29], STACK + 64);
    assert_int_equal(caller.regs[WNDL_A64_SP], STACK + 32);
    assert_int_equal(step_at(&world, plain, &callee, &caller), WNDL_OK);
    assert_int_equal(caller.regs[WNDL_A64_PC], word);
}

/* Behind a signal frame all registers are as they were interrupted. */
static void a_signal_frame_keeps_what_it_has(void **state)
{
    (void)state;
    struct wndl_cfi_regs callee = registers(), caller;
    struct wndl_cfi_row row;
    const struct wndl_cfi_memory memory = {read_stack, &world};
    init(&world);
    uint64_t f = add(&world, CFI_BYTES(0x9e, 0x7f));
    assert_int_equal(row_at(&world, f, &row), WNDL_OK);
    row.signal_frame = true;
    row.regs[30] =
        (struct wndl_cfi_rule){.kind = WNDL_RULE_OFFSET, .offset = 8};
    world.stack[1] = 0x5678;
    assert_int_equal(
        wndl_cfi_step(&world.b.section, &row, &callee, &memory, &caller),
        WNDL_OK);
    assert_int_equal(caller.regs[30], 0x5678);
    assert_int_equal(caller.valid, callee.valid);
}

/* Of a section cut short anywhere, records and rows are read or refused. */
static void read_prefix(struct wndl_bytes prefix, void *context)
{
    struct wndl_cfi_section section = world.b.section;
    struct wndl_fde fde;
    struct wndl_cfi_row row;
    (void)context;
    section.bytes = prefix;
    if (wndl_fde_scan(&section, START, &fde, NULL) == WNDL_OK)
        assert_int_equal(
            wndl_cfi_row_at(&section, &fde, START, &row, NULL), WNDL_OK);
}

static void truncated_sections_are_not_read_beyond(void **state)
{
    (void)state;
    init(&world);
    (void)add(&world, CFI_BYTES(0x2d, 0x0e, 32, 0x9e, 3, 0x9d, 4, 0x0a, 0x41,
                          0x2d, 0x05, 72, 2, 0x0b));
    for_each_truncation(world.b.section.bytes, read_prefix, NULL);
}

/* ---- rows in 24 bits */

static struct wndl_cfi_row row_of(const struct wndl_a64_plain *plain)
{
    struct wndl_cfi_row row = {.ra_reg = 30};
    wndl_a64_to_row(plain, &row);
    return row;
}

static void plain_rows_survive_24_bits(void **state)
{
    (void)state;
    static const uint16_t slots[] = {0, 1, 2, 3, 512, 1023};
    static const uint16_t cfas[] = {0, 1, 2, 2048, 4095};
    unsigned possible = 0;
    for (unsigned i = 0; i < 6 * 5 * 8; i++) {
        const struct wndl_a64_plain plain = {(i & 1) != 0, (i & 2) != 0,
            (i & 4) != 0, slots[i / 8 % 6], cfas[i / 48]};
        struct wndl_a64_plain packed, read;
        uint32_t bits = wndl_a64_pack(&plain);
        assert_int_equal(bits >> 24, 0);
        if (!wndl_a64_unpack(bits, plain.by_fp, &packed))
            continue;
        possible++;
        struct wndl_cfi_row row = row_of(&packed);
        assert_true(wndl_a64_of_row(&row, &read));
        assert_int_equal(wndl_a64_pack(&read), bits);
        assert_int_equal(read.by_fp, plain.by_fp);
    }
    /* Not: alone in no slot; a record of which x30 would be at the CFA. */
    assert_int_equal(possible, 5 * 4 * (5 + 5));
}

static void assert_not_plain(
    struct wndl_cfi_row row, unsigned reg, struct wndl_cfi_rule rule)
{
    struct wndl_a64_plain plain;
    row.regs[reg] = rule;
    assert_false(wndl_a64_of_row(&row, &plain));
}

static void other_rows_are_not_plain(void **state)
{
    (void)state;
    const struct wndl_a64_plain usual = {.slot = 4, .cfa = 2};
    const struct wndl_cfi_row row = row_of(&usual);
    struct wndl_a64_plain plain;
    assert_not_plain(row, 29, (struct wndl_cfi_rule){.kind = WNDL_RULE_EXPR});
    assert_not_plain(row, 29,
        (struct wndl_cfi_rule){.kind = WNDL_RULE_OFFSET, .offset = -40});
    assert_not_plain(row, 30, (struct wndl_cfi_rule){.kind = WNDL_RULE_UNSET});
    assert_not_plain(
        row, 30, (struct wndl_cfi_rule){.kind = WNDL_RULE_UNDEFINED});
    assert_not_plain(
        row, 30, (struct wndl_cfi_rule){.kind = WNDL_RULE_REGISTER, .reg = 9});
    assert_not_plain(row, 31,
        (struct wndl_cfi_rule){.kind = WNDL_RULE_VAL_OFFSET, .offset = 16});
    struct wndl_cfi_row other = row;
    other.cfa.offset = 40;
    assert_false(wndl_a64_of_row(&other, &plain));
    other.cfa.offset = 65536;
    assert_false(wndl_a64_of_row(&other, &plain));
    other = row;
    other.cfa.reg = 12;
    assert_false(wndl_a64_of_row(&other, &plain));
    other = row;
    other.ra_reg = 15;
    assert_false(wndl_a64_of_row(&other, &plain));
    other = row;
    other.signal_frame = true;
    assert_false(wndl_a64_of_row(&other, &plain));
}

/* ---- walks */

static void walk(
    struct world *w, uint64_t pc, uint64_t lr, struct wndl_walk *walk)
{
    const struct wndl_remote_module module = {
        .start = START,
        .end = START + 0x10000,
        .eh_frame = w->b.data,
        .eh_frame_size = w->b.section.bytes.size,
        .eh_frame_svma = w->b.section.addr,
    };
    const struct wndl_remote remote = {
        .machine = EM_AARCH64,
        .modules = &module,
        .module_count = 1,
        .read = read_stack,
        .context = w,
    };
    uint64_t gregs[33] = {[29] = STACK, [30] = lr, [31] = STACK, [32] = pc};
    const struct wndl_regs regs = {.ip = (uintptr_t)pc,
        .sp = STACK,
        .fp = STACK,
        .valid = WNDL_REG_IP | WNDL_REG_SP | WNDL_REG_FP,
        .gregs = gregs};
    wndl_unwind_remote(&remote, &regs, walk);
}

static struct wndl_frame frames[8];

/* A leaf, a caller that signs its return address, the outermost frame. */
static void a_walk_goes_from_a_leaf_to_the_end(void **state)
{
    (void)state;
    struct wndl_walk w = {.frames = frames, .max_frames = 8};
    init(&world);
    uint64_t leaf = add(&world, CFI_BYTES(0));
    uint64_t caller =
        add(&world, CFI_BYTES(0x2d, 0x0e, 32, 0x9e, 3, 0x9d, 4, 0));
    uint64_t start = add(&world, CFI_BYTES(0x07, 30));
    world.stack[1] = (start + 0x20) | UINT64_C(0x5a) << 56;
    walk(&world, leaf + 8, caller + 0x40, &w);
    assert_int_equal(w.end, WNDL_END_COMPLETE);
    assert_int_equal(w.count, 3);
    assert_int_equal(frames[0].address, leaf + 8);
    assert_int_equal(frames[1].address, caller + 0x40);
    assert_int_equal(frames[2].address, start + 0x20);
    assert_int_equal(frames[1].how, WNDL_HOW_CFI);
}

/* A function that did not save x30 before it called leads nowhere. */
static void a_walk_does_not_take_x30_twice(void **state)
{
    (void)state;
    struct wndl_walk w = {.frames = frames, .max_frames = 8};
    init(&world);
    uint64_t leaf = add(&world, CFI_BYTES(0));
    walk(&world, leaf + 8, leaf + 0x10, &w);
    assert_int_equal(w.count, 2);
    assert_int_equal(w.end, WNDL_END_BAD_READ);
}

/* Without CFI by the frame record, whose return address may be signed. */
static void a_walk_goes_by_frame_records_where_cfi_is_none(void **state)
{
    (void)state;
    struct wndl_walk w = {.frames = frames, .max_frames = 8};
    init(&world);
    uint64_t start = add(&world, CFI_BYTES(0x07, 30));
    world.stack[0] = STACK + 64;
    world.stack[1] = (start + 0x20) | UINT64_C(0x35) << 55;
    walk(&world, world.next + 0x40, 0, &w);
    assert_int_equal(w.end, WNDL_END_COMPLETE);
    assert_int_equal(w.count, 2);
    assert_int_equal(frames[1].address, start + 0x20);
    assert_int_equal(frames[1].how, WNDL_HOW_FP);
}

/* libgcc's frame, of 64 bytes, that saves x0; the function it was called by or
 * lands in, whose frame record is at its SP; the outermost frame. */
static uint64_t add_landing(struct world *w, uint64_t record)
{
    init(w);
    uint64_t raise = add(w, CFI_BYTES(0x0e, 64, 0x80, 6, 0x9e, 7, 0x9d, 8));
    uint64_t lands = add(w, CFI_BYTES(0x0e, 32, 0x9e, 3, 0x9d, 4));
    uint64_t start = add(w, CFI_BYTES(0x07, 30));
    w->stack[0] = STACK + 8 * record;
    w->stack[1] = (lands + 0x40) | UINT64_C(0x35) << 55;
    w->stack[8] = STACK + 8 * WORDS;
    w->stack[record + 1] = start + 0x20;
    return raise;
}

static void assert_lands(uint64_t raise, enum wndl_frame_how how)
{
    struct wndl_walk w = {.frames = frames, .max_frames = 8};
    walk(&world, raise + 8, 0, &w);
    assert_int_equal(w.end, WNDL_END_COMPLETE);
    assert_int_equal(w.count, 3);
    assert_int_equal(frames[1].address, raise + FUNCTION + 0x40);
    assert_int_equal(frames[1].how, how);
    assert_int_equal(frames[2].address, raise + 2 * FUNCTION + 0x20);
}

static void a_walk_follows_who_lands_elsewhere(void **state)
{
    (void)state;
    assert_lands(add_landing(&world, 16), WNDL_HOW_FP);
    assert_lands(add_landing(&world, 8), WNDL_HOW_CFI);
}

/* A frame pointer that leads to no record is another number. */
static void a_landing_has_a_frame_record(void **state)
{
    (void)state;
    struct wndl_walk w = {.frames = frames, .max_frames = 8};
    uint64_t raise = add_landing(&world, 8);
    static const uint64_t others[] = {0, STACK + 16, STACK + 128, STACK + 136,
        STACK + 8 * WORDS - 8, STACK + 8 * WORDS, UINT64_MAX - 15, 1};
    for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++) {
        world.stack[0] = others[i];
        assert_lands(raise, WNDL_HOW_CFI);
    }
    world.stack[0] = STACK + 128;
    world.stack[17] = 5; /* in no code */
    assert_lands(raise, WNDL_HOW_CFI);
    world.stack[1] = 5;
    walk(&world, raise + 8, 0, &w);
    assert_int_not_equal(w.end, WNDL_END_COMPLETE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signing_is_toggled_remembered_and_restored),
        cmocka_unit_test(signing_is_not_known_elsewhere),
        cmocka_unit_test(registers_beyond_the_last_have_no_rules),
        cmocka_unit_test(a_leaf_returns_to_where_x30_says),
        cmocka_unit_test(a_signature_is_taken_off),
        cmocka_unit_test(a_signal_frame_keeps_what_it_has),
        cmocka_unit_test(truncated_sections_are_not_read_beyond),
        cmocka_unit_test(plain_rows_survive_24_bits),
        cmocka_unit_test(other_rows_are_not_plain),
        cmocka_unit_test(a_walk_goes_from_a_leaf_to_the_end),
        cmocka_unit_test(a_walk_does_not_take_x30_twice),
        cmocka_unit_test(a_walk_goes_by_frame_records_where_cfi_is_none),
        cmocka_unit_test(a_walk_follows_who_lands_elsewhere),
        cmocka_unit_test(a_landing_has_a_frame_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
