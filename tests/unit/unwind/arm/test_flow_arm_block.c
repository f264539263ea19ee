/* SPDX-License-Identifier: MIT */
/* libgcc's block of registers, as it is written and as it is loaded. */
#include "flow_arm_fixture.h"

/* As libgcc's _Unwind_RaiseException() is, behind its call: all registers are
 * in a block, from 8 above SP. */
static const uint16_t block_thumb[] = {
    0xf000, 0xf800, /* 0 bl */
    0xf8dd, 0xe040, /* 4 ldr.w lr, [sp, #64] */
    0xb012,         /* 8 add sp, #72 */
    BX_LR,          /* 10 */
};
static const uint32_t block_arm[] = {
    0xebfffffe, /* 0 bl */
    0xe59de040, /* 4 ldr lr, [sp, #64] */
    0xe28dd048, /* 8 add sp, sp, #72 */
    0xe12fff1e, /* 12 bx lr */
};

enum { BLOCK = 18, REGISTERS = ENTRY - BLOCK + 2 };

static void call_in_block(const void *code, size_t size)
{
    interrupt(code, size, 4, BLOCK);
    world.full.interrupted = false;
    for (unsigned reg = 0; reg < WNDL_ARM_REGS; reg++)
        world.stack[REGISTERS + reg] = 0x200 + reg;
    world.stack[REGISTERS + WNDL_ARM_SP] = address_of(ENTRY);
    world.stack[REGISTERS + WNDL_ARM_LR] = arm_ra;
}

static void expect_block(const void *code, size_t size)
{
    call_in_block(code, size);
    assert_true(step());
    expect_caller(arm_ra, ENTRY);
    assert_int_equal(get(4), 0x104);

    /* The block is of a function further up, or of its landing pad. */
    call_in_block(code, size);
    world.stack[REGISTERS + WNDL_ARM_SP] = address_of(ENTRY + 8);
    world.stack[REGISTERS + WNDL_ARM_PC] = thumb_ra;
    assert_true(step());
    expect_caller(thumb_ra, ENTRY + 8);
    assert_int_equal(get(4), 0x204);
    assert_int_equal(get(11), 0x20b);
    call_in_block(code, size);
    world.stack[REGISTERS + WNDL_ARM_SP] = address_of(ENTRY + 8);
    world.stack[REGISTERS + WNDL_ARM_PC] = (CODE + 8) | 1;
    assert_true(step());
    assert_true(world.full.interrupted);
    world.full.interrupted = false;
    expect_caller(CODE + 8, ENTRY + 8);

    /* It is of the one that has come from its landing pad. */
    call_in_block(code, size);
    world.stack[REGISTERS + WNDL_ARM_PC] = thumb_ra;
    assert_true(step());
    expect_caller(thumb_ra, ENTRY);
    assert_int_equal(get(4), 0x204);

    call_in_block(code, size);
    world.stack[REGISTERS + WNDL_ARM_SP] = address_of(ENTRY - BLOCK - 1);
    world.stack[REGISTERS + WNDL_ARM_PC] = CODE + 2;
    assert_false(step());
    call_in_block(code, size);
    world.stack[REGISTERS + WNDL_ARM_SP] = address_of(ENTRY + 8);
    world.stack[REGISTERS + WNDL_ARM_PC] = 0x2000; /* of no module */
    assert_false(step());
}

static void libgccs_block_of_registers_is_known(void **state)
{
    (void)state;
    expect_block(block_thumb, sizeof block_thumb);
    expect_block(block_arm, sizeof block_arm);
}

/* What is around it is something else. */
static void lr_loaded_alone_is_of_no_block(void **state)
{
    static const uint16_t code[] = {
        0xf000, 0xf800, /* 0 bl */
        0xf8dd, 0xe040, /* 4 ldr.w lr, [sp, #64] */
        0xb011,         /* 8 add sp, #68 */
        BX_LR,          /* 10 */
    };
    (void)state;
    interrupt(code, sizeof code, 4, 17);
    world.full.interrupted = false;
    world.stack[ENTRY - 1] = arm_ra;
    assert_true(step());
    expect_caller(arm_ra, ENTRY);
    interrupt(code, sizeof code, 4, 17);
    world.full.interrupted = false;
    world.stack[ENTRY - 2] = address_of(ENTRY + 8); /* a frame pointer */
    world.stack[ENTRY - 1] = arm_ra;
    world.stack[ENTRY] = thumb_ra;
    assert_true(step());
    expect_caller(arm_ra, ENTRY);
}

/* A block that leads nowhere tells nothing of other ways. */
static void a_way_does_not_go_on_with_a_block(void **state)
{
    static const uint16_t code[] = {
        0xb118,         /* 0 cbz r0, 10 */
        0xf8dd, 0xe040, /* 2 ldr.w lr, [sp, #64] */
        0xb012,         /* 6 add sp, #72 */
        BX_LR,          /* 8 */
        POP_R4_PC,      /* 10 */
    };
    (void)state;
    call_in_block(code, sizeof code);
    set(WNDL_ARM_PC, CODE);
    world.full.interrupted = true;
    world.stack[REGISTERS + WNDL_ARM_SP] = address_of(ENTRY + 8);
    world.stack[REGISTERS + WNDL_ARM_PC] = 0x2000; /* of no module */
    world.stack[ENTRY - BLOCK + 1] = thumb_ra + 2; /* behind no call */
    assert_false(step());
}

/* What libgcc has written of a function that was called from one at SITES. */
struct written {
    unsigned sp; /* words above ENTRY */
    bool base, lr;
};

/* The function's frame is of the words 4 to 8 above ENTRY. */
static void come_to(uint32_t rule, const struct written *w)
{
    call_in_block(block_thumb, sizeof block_thumb);
    world.index[0] = (CODE + SITES - INDEX) & 0x7fffffff;
    world.index[1] = rule;
    world.stack[ENTRY + 3] = thumb_ra; /* what it called had this */
    world.stack[ENTRY + 6] = address_of(ENTRY + 14);
    world.stack[ENTRY + 7] = arm_ra;
    world.stack[REGISTERS + WNDL_ARM_SP] = address_of(ENTRY + w->sp);
    world.stack[REGISTERS + WNDL_ARM_LR] = w->lr ? arm_ra : thumb_ra;
    world.stack[REGISTERS + WNDL_ARM_PC] = thumb_ra;
    world.stack[REGISTERS + 7] = address_of(ENTRY + (w->base ? 14 : 6));
}

static void registers_that_libgcc_is_writing_are_told_apart(void **state)
{
    static const uint32_t by_sp = 0x80018408; /* sp + 8, {r7, lr} */
    static const uint32_t by_r7 = 0x80978408; /* sp = r7, {r7, lr} */
    static const struct written cases[] = {{4, false, false}, {6, false, false},
        {6, true, false}, {6, true, true}, {8, true, true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        come_to(by_sp, &cases[i]);
        assert_true(step());
        expect_caller(thumb_ra, ENTRY + 4);
        come_to(by_r7, &cases[i]);
        assert_true(step());
        assert_int_equal(get(WNDL_ARM_PC), thumb_ra & ~1u);
        assert_int_equal(get(7), address_of(ENTRY + 6));
        assert_in_range(
            get(WNDL_ARM_SP), address_of(ENTRY + 4), address_of(ENTRY + 6));
    }
    /* The stack does not say it: as the block has it. */
    come_to(by_sp, &cases[1]);
    world.stack[ENTRY + 3] = 0;
    assert_true(step());
    expect_caller(thumb_ra, ENTRY + 6);
    come_to(by_sp, &cases[1]);
    world.stack[ENTRY + 7] = thumb_ra + 2; /* behind no call */
    assert_true(step());
    expect_caller(thumb_ra, ENTRY + 6);
    come_to(by_r7, &cases[4]);
    world.stack[ENTRY + 6] = 0;
    assert_true(step());
    expect_caller(thumb_ra, ENTRY + 8);
    /* It would be in libgcc's own frame, where the block's PC is. */
    come_to(by_r7, &(struct written){1, false, false});
    world.stack[REGISTERS + 7] = thumb_ra;
    world.stack[ENTRY] = arm_ra;
    assert_true(step());
    expect_caller(thumb_ra, ENTRY + 1);
}

/* As libgcc loads all registers before it goes to a landing pad. */
static const uint16_t lands[] = {
    NOP,            /* 0 */
    0xf100, 0x0134, /* 2 add.w r1, r0, #52 */
    0xe891, 0x0038, /* 6 ldmia.w r1, {r3, r4, r5} */
    0x469c,         /* 10 mov ip, r3 */
    0x46a6,         /* 12 mov lr, r4 */
    0xf84c, 0x5d04, /* 14 str.w r5, [ip, #-4]! */
    0xe890, 0x0fff, /* 18 ldmia.w r0, {r0-r11} */
    0x46e5,         /* 22 mov sp, ip */
    0xbd00,         /* 24 pop {pc} */
};

static void land(uint32_t at)
{
    interrupt(lands, sizeof lands, at, BLOCK);
    for (unsigned reg = 0; reg < WNDL_ARM_REGS; reg++)
        world.stack[REGISTERS + reg] = (at <= 18 ? 0x200 : 0x300) + reg;
    world.stack[REGISTERS + WNDL_ARM_SP] = address_of(ENTRY + 8);
    world.stack[REGISTERS + WNDL_ARM_PC] = CODE + 9;
    world.stack[ENTRY + 7] = CODE + 9;
    set(0, at <= 18 ? address_of(REGISTERS) : 0);
    set(12, at <= 22 ? address_of(ENTRY + 7) : 0);
    if (at == 24)
        set(WNDL_ARM_SP, address_of(ENTRY + 7));
}

static void landing_pads_are_gone_to(void **state)
{
    static const uint32_t starts[] = {2, 6, 10, 12, 14, 18, 22, 24};
    (void)state;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        land(starts[i]);
        assert_true(step());
        assert_true(world.full.interrupted);
        world.full.interrupted = false;
        expect_caller(CODE + 8, ENTRY + 8);
        assert_int_equal(get(4), starts[i] <= 18 ? 0x204 : 0x104);
        assert_int_equal(get(11), starts[i] <= 18 ? 0x20b : 0x10b);
    }
    land(2);
    set(0, address_of(WORDS - 4)); /* part of the block */
    assert_false(step());
    land(2);
    world.stack[REGISTERS + WNDL_ARM_SP] = address_of(ENTRY - BLOCK);
    assert_false(step());
    land(2);
    world.stack[REGISTERS + WNDL_ARM_PC] = 0x2000; /* of no module */
    assert_false(step());
    land(22);
    set(12, address_of(WORDS));
    assert_false(step());
}

static void flip_all(const void *code, size_t size, uint32_t at, unsigned depth)
{
    uint8_t copy[64];
    assert_in_range(size, 1, sizeof copy);
    memcpy(copy, code, size);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
        interrupt(copy, size, at, depth);
        const struct wndl_full before = world.full;
        if (step()) {
            assert_true(get(WNDL_ARM_SP) >= before.regs.regs[WNDL_ARM_SP]);
            assert_int_equal(get(WNDL_ARM_PC) & 1, 0);
        } else {
            assert_memory_equal(&world.full, &before, sizeof before);
        }
        copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

/* A caller is further up, or nothing is changed. */
static void damaged_code_leads_up_or_nowhere(void **state)
{
    (void)state;
    flip_all(thumb, sizeof thumb, 0, 0);
    flip_all(arm, sizeof arm, 0, 0);
    flip_all(block_thumb, sizeof block_thumb, 4, BLOCK);
    flip_all(block_arm, sizeof block_arm, 4, BLOCK);
    flip_all(lands, sizeof lands, 2, BLOCK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libgccs_block_of_registers_is_known),
        cmocka_unit_test(lr_loaded_alone_is_of_no_block),
        cmocka_unit_test(a_way_does_not_go_on_with_a_block),
        cmocka_unit_test(registers_that_libgcc_is_writing_are_told_apart),
        cmocka_unit_test(landing_pads_are_gone_to),
        cmocka_unit_test(damaged_code_leads_up_or_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
