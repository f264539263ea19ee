/* SPDX-License-Identifier: MIT */
/*
 * 32-bit Arm code that may not be unwound, followed from its instructions to
 * its return, over a stack and code of another address space.
 */
#include "testlib.h"

#include "unwind/arm/exidx.h"
#include "unwind/slow/flow_arm.h"

#include <elf.h>
#include <stdlib.h>

enum {
    CODE = 0x10000,
    SITES = 0x8000, /* from CODE, where calls are that may have been made */
    INDEX = 0x8000,
    STACK = 0x7f000000,
    WORDS = 64,
    ENTRY = 40, /* the word that SP leads to where the code begins */
    NOP = 0xbf00,
    B_SELF = 0xe7fe,
    BX_LR = 0x4770,
    POP_R4_PC = 0xbd10,
    MANY = 2100,
};

/* What the two calls return to, as LR has it. */
static const uint32_t thumb_ra = (CODE + SITES + 4) | 1;
static const uint32_t arm_ra = CODE + SITES + 8;
static const uint8_t sites[] = {0xff, 0xf7, 0xfe, 0xff, 0xfe, 0xff, 0xff, 0xeb};

static struct {
    struct wndl_bytes code;
    uint32_t stack[WORDS];
    struct wndl_full full;
    uint32_t index[2]; /* of .ARM.exidx: of what begins at SITES; 0: none */
} world;

static bool read_world(void *context, uint64_t address, void *to, size_t size)
{
    (void)context;
    const struct wndl_bytes stack = {
        (const uint8_t *)world.stack, sizeof world.stack};
    const struct wndl_bytes calls = {sites, sizeof sites};
    const struct wndl_bytes found =
        address >= STACK ? wndl_bytes_slice(stack, address - STACK, size)
        : address >= CODE + SITES
            ? wndl_bytes_slice(calls, address - CODE - SITES, size)
            : wndl_bytes_slice(world.code, address - CODE, size);
    if (found.data == NULL || found.size != size)
        return false;
    memcpy(to, found.data, size);
    return true;
}

static bool step(void)
{
    const struct wndl_remote_module module = {.start = CODE,
        .end = CODE + SITES + sizeof sites,
        .exidx = (const uint8_t *)world.index,
        .exidx_size = world.index[1] != 0 ? sizeof world.index : 0,
        .exidx_svma = INDEX};
    const struct wndl_remote remote = {.machine = EM_ARM,
        .modules = &module,
        .module_count = 1,
        .read = read_world};
    const struct wndl_space space = {.memory = {read_world, NULL},
        .remote = &remote,
        .arch = &wndl_arch_arm};
    return wndl_flow_arm_step_in(&space, world.code, CODE, &world.full);
}

static void set(unsigned reg, uint32_t value)
{
    world.full.regs.regs[reg] = value;
    world.full.regs.valid |= UINT64_C(1) << reg;
}

static uint64_t get(unsigned reg)
{
    return (world.full.regs.valid >> reg & 1) != 0 ? world.full.regs.regs[reg]
                                                   : 0;
}

static uint32_t address_of(unsigned word)
{
    return STACK + 4 * word;
}

/* Interrupted at offset `at` with all registers, `depth` words below ENTRY. */
static void interrupt(
    const void *code, size_t size, uint32_t at, unsigned depth)
{
    memset(&world, 0, sizeof world);
    world.code = (struct wndl_bytes){code, size};
    for (unsigned i = 0; i < WORDS; i++)
        world.stack[i] = 0x5a000000 + i;
    for (unsigned reg = 0; reg < WNDL_ARM_REGS; reg++)
        set(reg, 0x100 + reg);
    set(WNDL_ARM_SP, address_of(ENTRY - depth));
    set(WNDL_ARM_LR, thumb_ra);
    set(WNDL_ARM_PC, CODE + at);
    world.full.interrupted = true;
}

static void expect_caller(uint32_t ra, unsigned word)
{
    assert_int_equal(get(WNDL_ARM_PC), ra & ~1u);
    assert_int_equal(get(WNDL_ARM_SP), address_of(word));
    assert_int_equal(get(WNDL_ARM_LR), 0);
    assert_int_equal(get(0), 0);
    assert_false(world.full.interrupted);
}

static const uint16_t thumb[] = {
    0xb5b0,         /* 0 push {r4, r5, r7, lr} */
    0xb08a,         /* 2 sub sp, #40 */
    0x4604,         /* 4 mov r4, r0 */
    0xf000, 0xf800, /* 6 bl */
    0xb00a,         /* 10 add sp, #40 */
    0xbdb0,         /* 12 pop {r4, r5, r7, pc} */
};
static const uint32_t arm[] = {
    0xe92d4010, /* 0 push {r4, lr} */
    0xed2d8b02, /* 4 vpush {d8} */
    0xe24dd008, /* 8 sub sp, sp, #8 */
    0xebfffffe, /* 12 bl */
    0xe28dd008, /* 16 add sp, sp, #8 */
    0xecbd8b02, /* 20 vpop {d8} */
    0xe8bd8010, /* 24 pop {r4, pc} */
};

static void code_is_followed_from_each_instruction(void **state)
{
    static const struct {
        uint32_t at, depth;
    } in_thumb[] = {{0, 0}, {2, 4}, {4, 14}, {6, 14}, {10, 14}, {12, 4}},
      in_arm[] = {{0, 0}, {4, 2}, {8, 4}, {12, 6}, {16, 6}, {20, 4}, {24, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof in_thumb / sizeof *in_thumb; i++) {
        interrupt(thumb, sizeof thumb, in_thumb[i].at, in_thumb[i].depth);
        world.stack[ENTRY - 4] = 4;
        world.stack[ENTRY - 2] = 7;
        world.stack[ENTRY - 1] = thumb_ra;
        assert_true(step());
        expect_caller(thumb_ra, ENTRY);
        /* Pushed on the way: as it was. */
        assert_int_equal(get(4), in_thumb[i].depth == 0 ? 0x104 : 4);
        assert_int_equal(get(7), in_thumb[i].depth == 0 ? 0x107 : 7);
    }
    for (size_t i = 0; i < sizeof in_arm / sizeof *in_arm; i++) {
        interrupt(arm, sizeof arm, in_arm[i].at, in_arm[i].depth);
        set(WNDL_ARM_LR, arm_ra);
        world.stack[ENTRY - 2] = 4;
        world.stack[ENTRY - 1] = arm_ra;
        assert_true(step());
        expect_caller(arm_ra, ENTRY);
        assert_int_equal(get(4), in_arm[i].depth == 0 ? 0x104 : 4);
        assert_int_equal(get(11), 0x10b);
    }
}

static void calls_are_passed_over_and_take_lr(void **state)
{
    static const uint16_t takes[] = {0xf000, 0xf800, BX_LR};
    static const uint16_t leaf[] = {0x3001, BX_LR};
    (void)state;
    interrupt(takes, sizeof takes, 0, 0);
    assert_false(step());
    interrupt(leaf, sizeof leaf, 0, 0);
    assert_true(step());
    expect_caller(thumb_ra, ENTRY);
    /* Behind a call: LR is the callee's. */
    interrupt(takes, sizeof takes, 4, 0);
    world.full.interrupted = false;
    assert_false(step());
    interrupt(thumb, sizeof thumb, 10, 14);
    world.full.interrupted = false;
    world.stack[ENTRY - 1] = arm_ra;
    assert_true(step());
    expect_caller(arm_ra, ENTRY);
    /* Behind no call, so not to be returned to. */
    interrupt(thumb, sizeof thumb, 12, 4);
    world.full.interrupted = false;
    world.stack[ENTRY - 1] = arm_ra;
    assert_false(step());
}

static void what_is_not_known_is_not_made_up(void **state)
{
    (void)state;
    interrupt(thumb, sizeof thumb, 0, 0);
    world.full.regs.valid &= ~(UINT64_C(1) << WNDL_ARM_LR);
    assert_false(step());
    interrupt(thumb, sizeof thumb, 0, 0);
    world.full.regs.valid &= ~(UINT64_C(1) << 7);
    assert_true(step());
    assert_int_equal(get(7), 0);
    assert_int_equal(get(4), 0x104);
    interrupt(thumb, sizeof thumb, 12, 4);
    world.stack[ENTRY - 1] = thumb_ra + 2; /* behind no call */
    assert_false(step());
    interrupt(thumb, sizeof thumb, 12, 0);
    set(WNDL_ARM_SP, address_of(WORDS)); /* beyond the stack */
    assert_false(step());
    interrupt(arm, sizeof arm, 2, 0); /* in the middle of an instruction */
    assert_false(step());
}

static void branches_are_taken_where_passing_them_over_leads_nowhere(
    void **state)
{
    static const uint16_t forwards[] = {0xb108, B_SELF, NOP, POP_R4_PC};
    static const uint16_t backwards[] = {POP_R4_PC, 0xd1fd, B_SELF};
    static const uint32_t in_arm[] = {
        0xe8bd8010, /* 0 pop {r4, pc} */
        0x1afffffd, /* 4 bne 0 */
        0xeafffffe, /* 8 b . */
        0x0a000001, /* 12 beq 24 */
        0xeafffffe, /* 16 b . */
        0xe1a00000, /* 20 nop */
        0x012fff1e, /* 24 bxeq lr, passed over */
        0xe8bd8010, /* 28 pop {r4, pc} */
    };
    static const struct {
        const void *code;
        size_t size;
        uint32_t at;
    } cases[] = {{forwards, sizeof forwards, 0},
        {backwards, sizeof backwards, 2}, {in_arm, sizeof in_arm, 4},
        {in_arm, sizeof in_arm, 12}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        interrupt(cases[i].code, cases[i].size, cases[i].at, 2);
        world.stack[ENTRY - 1] = arm_ra;
        assert_true(step());
        expect_caller(arm_ra, ENTRY);
        assert_int_equal(get(4), 0x5a000000 + ENTRY - 2);
    }
}

/* What is done before a branch is kept for its way, what is done later not. */
static void a_way_has_what_its_branch_had(void **state)
{
    static const uint16_t code[] = {
        0xb580, /* 0 push {r7, lr} */
        0x466f, /* 2 mov r7, sp */
        0xb084, /* 4 sub sp, #16 */
        0xb118, /* 6 cbz r0, 16 */
        0xb084, /* 8 sub sp, #16 */
        0x462f, /* 10 mov r7, r5 */
        B_SELF, /* 12 b . */
        NOP,    /* 14 */
        0x46bd, /* 16 mov sp, r7 */
        0xbd80, /* 18 pop {r7, pc} */
    };
    (void)state;
    interrupt(code, sizeof code, 0, 0);
    assert_true(step());
    expect_caller(thumb_ra, ENTRY);
    assert_int_equal(get(7), 0x107);
}

/* Under a condition, of IT too, returns are not taken. */
static void what_is_done_under_a_condition(void **state)
{
    static const uint16_t returns[] = {
        0xbf08,    /* it eq */
        BX_LR,     /* bxeq lr */
        POP_R4_PC, /* pop {r4, pc} */
    };
    static const uint16_t moves[] = {0xbf08, 0xb082, BX_LR};
    static const uint32_t pushes[] = {0x092d4010, 0xe12fff1e};
    (void)state;
    interrupt(returns, sizeof returns, 0, 2);
    world.stack[ENTRY - 1] = arm_ra;
    assert_true(step());
    expect_caller(arm_ra, ENTRY);
    interrupt(moves, sizeof moves, 0, 0);
    assert_false(step());
    interrupt(pushes, sizeof pushes, 0, 0);
    assert_false(step());
}

static void tail_calls_are_followed(void **state)
{
    static const uint16_t near[] = {
        0xe8bd, 0x4010, /* 0 pop.w {r4, lr} */
        0xf000, 0xb801, /* 4 b.w 10 */
        B_SELF,         /* 8 */
        0xb500,         /* 10 push {lr} */
        0xbd00,         /* 12 pop {pc} */
    };
    static const uint16_t far[] = {0xe8bd, 0x4010, 0xf000, 0xbfff};
    static const uint16_t unknown[] = {0xe8bd, 0x4010, 0x4718}; /* bx r3 */
    static const uint16_t by_stub[] = {NOP, 0xe7ff, 0x4778};    /* bx pc */
    (void)state;
    interrupt(near, sizeof near, 0, 2);
    world.stack[ENTRY - 2] = 4;
    world.stack[ENTRY - 1] = arm_ra;
    assert_true(step());
    expect_caller(arm_ra, ENTRY);
    assert_int_equal(get(4), 4);
    interrupt(far, sizeof far, 0, 2);
    world.stack[ENTRY - 1] = arm_ra;
    assert_false(step());
    interrupt(unknown, sizeof unknown, 0, 2);
    world.stack[ENTRY - 1] = arm_ra;
    assert_true(step());
    expect_caller(arm_ra, ENTRY);
    interrupt(unknown, sizeof unknown, 4, 0); /* it may be a switch */
    assert_false(step());
    interrupt(by_stub, sizeof by_stub, 0, 0);
    assert_true(step());
    expect_caller(thumb_ra, ENTRY);
}

static void where_sp_is_not_known_nothing_is(void **state)
{
    static const uint32_t aligned[] = {0xe3cdd007, 0xe12fff1e}; /* bic sp */
    static const uint32_t by_register[] = {0xe08dd001, 0xe12fff1e};
    static const uint32_t lower[] = {0xe24dd008, 0xe12fff1e};
    static const uint32_t of_r3[] = {0xe1a0d003, 0xe12fff1e}; /* mov sp, r3 */
    static const uint32_t popped[] = {0xe08dd001, 0xe8bd8010};
    static const uint32_t by_r11[] = {
        0xe08dd001, /* 0 add sp, sp, r1 */
        0xe1a0d00b, /* 4 mov sp, r11 */
        0xe8bd8800, /* 8 pop {r11, pc} */
    };
    (void)state;
    interrupt(aligned, sizeof aligned, 0, 0);
    assert_false(step());
    interrupt(by_register, sizeof by_register, 0, 0);
    assert_false(step());
    interrupt(lower, sizeof lower, 0, 0);
    assert_false(step());
    interrupt(of_r3, sizeof of_r3, 0, 0);
    world.full.regs.valid &= ~(UINT64_C(1) << 3);
    assert_false(step());
    interrupt(popped, sizeof popped, 0, 2);
    world.stack[ENTRY - 1] = arm_ra;
    assert_false(step());
    interrupt(by_r11, sizeof by_r11, 0, 4);
    world.stack[ENTRY - 1] = arm_ra;
    set(11, address_of(ENTRY - 2));
    assert_true(step());
    expect_caller(arm_ra, ENTRY);
}

/* Each instruction once, and not more than so many. */
static void loops_end(void **state)
{
    static const uint16_t each_other[] = {0xe000, NOP, 0xe7fc, B_SELF};
    static const uint16_t branches[] = {0xd0fe, 0xd1fd, 0xd2fc, 0xe7fb};
    static const uint32_t in_arm[] = {0x1afffffe, 0x0afffffd, 0xeafffffc};
    uint16_t *nops = malloc(MANY * sizeof *nops);
    (void)state;
    assert_non_null(nops);
    interrupt(each_other, sizeof each_other, 0, 0);
    assert_false(step());
    interrupt(branches, sizeof branches, 0, 0);
    assert_false(step());
    interrupt(in_arm, sizeof in_arm, 0, 0);
    assert_false(step());
    for (size_t i = 0; i < MANY; i++)
        nops[i] = NOP;
    nops[MANY - 1] = BX_LR;
    interrupt(nops, MANY * sizeof *nops, 0, 0);
    assert_false(step());
    interrupt(nops, MANY * sizeof *nops, 2 * 100, 0);
    assert_true(step());
    expect_caller(thumb_ra, ENTRY);
    for (size_t i = 0; i < MANY; i++)
        nops[i] = 0xd000; /* beq, to behind the next */
    interrupt(nops, MANY * sizeof *nops, 0, 0);
    assert_false(step());
    free(nops);
}

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

static void stubs_of_linkage_tables_leave_lr_alone(void **state)
{
    static const uint32_t stub[] = {
        0xe28fc601, /* 0 add ip, pc, #1048576 */
        0xe28cca32, /* 4 add ip, ip, #204800 */
        0xe5bcf4a8, /* 8 ldr pc, [ip, #1192]! */
    };
    static const uint32_t from_thumb[] = {0x46c04778, /* bx pc; nop */
        0xe28fc601, 0xe28cca32, 0xe5bcf4a8};
    static const uint16_t call[] = {NOP, 0xf000, 0xe5bc, B_SELF}; /* blx */
    (void)state;
    interrupt(call, sizeof call, 2, 0);
    assert_false(step());
    for (uint32_t at = 0; at < sizeof stub; at += 4) {
        interrupt(stub, sizeof stub, at, 0);
        assert_true(step());
        expect_caller(thumb_ra, ENTRY);
        assert_int_equal(get(11), 0x10b);
    }
    interrupt(stub, sizeof stub, 0, 0);
    set(WNDL_ARM_LR, thumb_ra + 2);
    assert_false(step());
    interrupt(stub, sizeof stub - 4, 0, 0);
    assert_false(step());
    interrupt(from_thumb, sizeof from_thumb, 0, 0);
    assert_true(step());
    expect_caller(thumb_ra, ENTRY);
}

/* Of a table of branches the first is taken. */
static void tables_of_branches_are_followed(void **state)
{
    static const uint16_t bytes[] = {0xe8df, 0xf000, /* 0 tbb [pc, r0] */
        0x0302, B_SELF, POP_R4_PC, B_SELF};
    static const uint16_t halfwords[] = {0xe8df, 0xf010, /* 0 tbh [pc, r0] */
        0x0002, 0x0003, POP_R4_PC, B_SELF};
    static const uint32_t in_arm[] = {
        0xe08ff003, /* 0 add pc, pc, r3 */
        0xeafffffe, /* 4 b . */
        0xe8bd8010, /* 8 pop {r4, pc} */
    };
    (void)state;
    interrupt(in_arm, sizeof in_arm, 0, 2);
    world.stack[ENTRY - 1] = arm_ra;
    assert_true(step());
    expect_caller(arm_ra, ENTRY);
    interrupt(bytes, sizeof bytes, 0, 2);
    world.stack[ENTRY - 1] = arm_ra;
    assert_true(step());
    expect_caller(arm_ra, ENTRY);
    interrupt(halfwords, sizeof halfwords, 0, 2);
    world.stack[ENTRY - 1] = arm_ra;
    assert_true(step());
    expect_caller(arm_ra, ENTRY);
    interrupt(bytes, 4, 0, 2);
    assert_false(step());
}

/* bx lr as Thumb code, and behind what passes for conditional as ARM code. */
static void code_that_may_be_both_is_followed_to_one_caller(void **state)
{
    static const uint16_t both[] = {BX_LR, BX_LR, 0xff1e, 0xe12f};
    static const uint16_t others[] = {POP_R4_PC, BX_LR, 0xff1e, 0xe12f};
    static const uint16_t one[] = {BX_LR, BX_LR, 0xff1e, 0xe1a0};
    (void)state;
    interrupt(both, sizeof both, 0, 0);
    assert_true(step());
    expect_caller(thumb_ra, ENTRY);
    interrupt(others, sizeof others, 0, 2);
    world.stack[ENTRY - 1] = arm_ra;
    assert_false(step());
    interrupt(one, sizeof one, 0, 0);
    assert_true(step());
    expect_caller(thumb_ra, ENTRY);
}

static void interrupt_in_prefix(struct wndl_bytes prefix, void *context)
{
    const size_t *whole = context;
    interrupt(prefix.data, prefix.size, 0, 0);
    assert_int_equal(step(), prefix.size == *whole);
}

static void code_may_end_anywhere(void **state)
{
    size_t size = sizeof thumb;
    (void)state;
    for_each_truncation((struct wndl_bytes){(const uint8_t *)thumb, size},
        interrupt_in_prefix, &size);
    size = sizeof arm;
    for_each_truncation((struct wndl_bytes){(const uint8_t *)arm, size},
        interrupt_in_prefix, &size);
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
        cmocka_unit_test(code_is_followed_from_each_instruction),
        cmocka_unit_test(calls_are_passed_over_and_take_lr),
        cmocka_unit_test(what_is_not_known_is_not_made_up),
        cmocka_unit_test(
            branches_are_taken_where_passing_them_over_leads_nowhere),
        cmocka_unit_test(a_way_has_what_its_branch_had),
        cmocka_unit_test(what_is_done_under_a_condition),
        cmocka_unit_test(tail_calls_are_followed),
        cmocka_unit_test(where_sp_is_not_known_nothing_is),
        cmocka_unit_test(loops_end),
        cmocka_unit_test(libgccs_block_of_registers_is_known),
        cmocka_unit_test(lr_loaded_alone_is_of_no_block),
        cmocka_unit_test(a_way_does_not_go_on_with_a_block),
        cmocka_unit_test(registers_that_libgcc_is_writing_are_told_apart),
        cmocka_unit_test(landing_pads_are_gone_to),
        cmocka_unit_test(stubs_of_linkage_tables_leave_lr_alone),
        cmocka_unit_test(tables_of_branches_are_followed),
        cmocka_unit_test(code_that_may_be_both_is_followed_to_one_caller),
        cmocka_unit_test(code_may_end_anywhere),
        cmocka_unit_test(damaged_code_leads_up_or_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
