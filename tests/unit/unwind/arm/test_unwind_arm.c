/* SPDX-License-Identifier: MIT */
/*
 * Walks over a 32-bit Arm stack through a memory reader: by .debug_frame, by
 * .ARM.exidx and the code of what was interrupted, and by both, which have to
 * agree at every instruction.
 */
#include "testlib.h"

#include "cfibuild.h"

#include <elf.h>
#include <windlass/unwind.h>

enum {
    BIAS = 0x400000,
    TEXT = 0x10000,
    INDEX = 0x20000,
    STACK = 0x7f000000,
    WORDS = 96,
    GARBAGE = 0x5a5a5a5a,
    FRAMES = 8,
    INNER = 0x00,
    MIDDLE = 0x20,
    OUTER = 0x40,
    LEAF = 0x60,
    TRAMPOLINE = 0x80,
    TEXT_SIZE = 0x100,
    ENTRIES = 4,
};

/* What calls return to, as LR has it. */
static const uint32_t in_middle = (BIAS + TEXT + MIDDLE + 10) | 1;
static const uint32_t in_outer = BIAS + TEXT + OUTER + 4;

static struct {
    uint8_t text[TEXT_SIZE];
    uint8_t index[ENTRIES * 8];
    struct cfi_build frame;
    uint32_t stack[WORDS];
    bool hides_code;
} world;

static void put_halves(uint32_t at, const uint16_t *halves, size_t count)
{
    memcpy(world.text + at, halves, count * sizeof *halves);
}

static void put_code(void)
{
    static const uint16_t inner[] = {
        0xb510, /* 0 push {r4, lr} */
        0xb082, /* 2 sub sp, #8 */
        0x4604, /* 4 mov r4, r0 */
        0xb002, /* 6 add sp, #8 */
        0xbd10, /* 8 pop {r4, pc} */
    };
    static const uint16_t middle[] = {
        0xb580,         /* 0 push {r7, lr} */
        0x466f,         /* 2 mov r7, sp */
        0xb082,         /* 4 sub sp, #8 */
        0xf7ff, 0xffe9, /* 6 bl inner */
        0x46bd,         /* 10 mov sp, r7 */
        0xbd80,         /* 12 pop {r7, pc} */
    };
    static const uint32_t outer[] = {
        0xfafffff6, /* blx middle */
        0xe3a07001, /* mov r7, #1, which is exit() */
        0xef000000, /* svc 0 */
    };
    static const uint16_t leaf[] = {0x3001, 0x4770}; /* adds r0, #1; bx lr */
    static const uint32_t trampoline[] = {0xe3a070ad, 0xef000000};
    put_halves(INNER, inner, sizeof inner / 2);
    put_halves(MIDDLE, middle, sizeof middle / 2);
    memcpy(world.text + OUTER, outer, sizeof outer);
    put_halves(LEAF, leaf, sizeof leaf / 2);
    memcpy(world.text + TRAMPOLINE, trampoline, sizeof trampoline);
}

static void put_entry(uint32_t i, uint32_t function, uint32_t what)
{
    const uint32_t start = (TEXT + function - (INDEX + 8 * i)) & 0x7fffffff;
    memcpy(world.index + 8 * i, &start, sizeof start);
    memcpy(world.index + 8 * i + 4, &what, sizeof what);
}

static void put_index(void)
{
    put_entry(0, INNER, 0x8001a8b0);  /* vsp += 8; pop {r4, lr} */
    put_entry(1, MIDDLE, 0x80978408); /* vsp = r7; pop {r7, lr} */
    put_entry(2, OUTER, 1);
    put_entry(3, LEAF, 1);
}

static void put_frame(void)
{
    static const struct cfi_shape shape = {
        .address_size = 4, .debug_frame = true, .version = 1};
    struct cfi_build *b = &world.frame;
    cfi_build_init(b, &shape, 0);
    const size_t cie = cfi_begin_cie(b);
    cfi_put_bytes(b, "\1\0\1\x7c\x0e", 5); /* 1, no text, 1, -4, LR */
    cfi_put_bytes(b, "\x0c\x0d\0", 3);     /* CFA is SP */
    cfi_end_record(b);
    (void)cfi_put_fde(b, cie, TEXT + INNER, 10,
        CFI_BYTES(
            0x42, 0x0e, 8, 0x84, 2, 0x8e, 1, 0x42, 0x0e, 16, 0x44, 0x0e, 8));
    (void)cfi_put_fde(b, cie, TEXT + MIDDLE, 14,
        CFI_BYTES(
            0x42, 0x0e, 8, 0x87, 2, 0x8e, 1, 0x42, 0x0d, 7, 0x48, 0x0d, 13));
    (void)cfi_put_fde(b, cie, TEXT + OUTER, 12, CFI_BYTES(0x07, 14));
}

static bool read_world(void *context, uint64_t address, void *to, size_t size)
{
    (void)context;
    const struct wndl_bytes stack = {
        (const uint8_t *)world.stack, sizeof world.stack};
    const struct wndl_bytes text = {
        world.text, world.hides_code ? 0 : sizeof world.text};
    const struct wndl_bytes found =
        address >= STACK ? wndl_bytes_slice(stack, address - STACK, size)
                         : wndl_bytes_slice(text, address - BIAS - TEXT, size);
    if (found.data == NULL || found.size != size)
        return false;
    memcpy(to, found.data, size);
    return true;
}

static int set_up(void **state)
{
    (void)state;
    memset(&world, 0, sizeof world);
    put_code();
    put_index();
    put_frame();
    for (size_t i = 0; i < WORDS; i++)
        world.stack[i] = GARBAGE;
    return 0;
}

/* Of a module that has both; what is not wanted is taken out. */
static struct wndl_remote_module module_of_both(void)
{
    return (struct wndl_remote_module){
        .start = BIAS + TEXT,
        .end = BIAS + TEXT + TEXT_SIZE,
        .bias = BIAS,
        .debug_frame = world.frame.data,
        .debug_frame_size = world.frame.section.bytes.size,
        .exidx = world.index,
        .exidx_size = sizeof world.index,
        .exidx_svma = INDEX,
    };
}

static struct wndl_frame frames[FRAMES];

static struct wndl_walk walk(const struct wndl_remote_module *module,
    uint32_t gregs[16], enum wndl_walk_method method)
{
    const struct wndl_remote remote = {
        .machine = EM_ARM,
        .modules = module,
        .module_count = 1,
        .read = read_world,
    };
    const struct wndl_regs regs = {.ip = gregs[15],
        .sp = gregs[13],
        .fp = gregs[11],
        .valid = WNDL_REG_IP | WNDL_REG_SP | WNDL_REG_FP,
        .gregs = gregs};
    struct wndl_walk w = {
        .frames = frames, .max_frames = FRAMES, .method = method};
    wndl_unwind_remote(&remote, &regs, &w);
    return w;
}

/* From what called inner(), whose stack ends at word `sp`. */
static void put_callers(uint32_t sp)
{
    world.stack[sp + 2] = GARBAGE; /* r7 of the caller */
    world.stack[sp + 3] = in_outer;
}

static const struct {
    uint32_t at, depth; /* offset of the instruction, words that it has */
} inner_steps[] = {{0, 0}, {2, 2}, {4, 4}, {6, 4}, {8, 2}};

enum { STEPS = 5, ENTRY_SP = 16 };

/* As they are before step `i` of inner(). */
static void registers_at(size_t i, uint32_t gregs[16])
{
    const uint32_t depth = inner_steps[i].depth;
    for (unsigned reg = 0; reg < 16; reg++)
        gregs[reg] = GARBAGE;
    if (depth == 0)
        gregs[14] = in_middle;
    gregs[7] = STACK + 4 * (ENTRY_SP + 2);
    gregs[13] = STACK + 4 * (ENTRY_SP - depth);
    gregs[15] = BIAS + TEXT + INNER + inner_steps[i].at;
    world.stack[ENTRY_SP - 1] = in_middle;
    put_callers(ENTRY_SP);
}

static void expect_frames(const struct wndl_walk *w, uint64_t first)
{
    assert_int_equal(w->count, 3);
    assert_int_equal(w->end, WNDL_END_COMPLETE);
    assert_int_equal(frames[0].address, first);
    assert_int_equal(frames[1].address, in_middle & ~1u);
    assert_int_equal(frames[2].address, in_outer);
}

static void expect_callers(const struct wndl_remote_module *module)
{
    for (size_t i = 0; i < STEPS; i++) {
        uint32_t gregs[16];
        registers_at(i, gregs);
        const struct wndl_walk w = walk(module, gregs, WNDL_WALK_ANY);
        expect_frames(&w, gregs[15]);
        assert_int_equal(w.fp_frames, 0);
    }
}

static void a_walk_goes_by_debug_frame(void **state)
{
    struct wndl_remote_module module = module_of_both();
    (void)state;
    module.exidx = NULL;
    world.hides_code = true;
    expect_callers(&module);
}

static void a_walk_goes_by_exidx_and_the_code(void **state)
{
    struct wndl_remote_module module = module_of_both();
    (void)state;
    module.debug_frame = NULL;
    expect_callers(&module);
}

static void a_walk_goes_by_both(void **state)
{
    const struct wndl_remote_module module = module_of_both();
    (void)state;
    expect_callers(&module);
}

/* The body's rule is all that there is then. */
static void without_code_exidx_is_right_in_the_body(void **state)
{
    struct wndl_remote_module module = module_of_both();
    (void)state;
    module.debug_frame = NULL;
    world.hides_code = true;
    for (size_t i = 0; i < STEPS; i++) {
        uint32_t gregs[16];
        registers_at(i, gregs);
        const struct wndl_walk w = walk(&module, gregs, WNDL_WALK_CFI);
        const bool is_body = inner_steps[i].depth == 4;
        assert_int_equal(
            w.count == 3 && frames[2].address == in_outer, is_body);
        assert_int_not_equal(w.end, WNDL_END_COMPLETE);
    }
}

/* Nobody may unwind through it, but it saved nothing, and LR is behind a call;
 * how it was found is told. */
static void a_leaf_that_may_not_be_unwound_is_left_by_lr(void **state)
{
    struct wndl_remote_module module = module_of_both();
    uint32_t gregs[16];
    (void)state;
    module.debug_frame = NULL;
    registers_at(0, gregs);
    gregs[15] = BIAS + TEXT + LEAF;
    struct wndl_walk w = walk(&module, gregs, WNDL_WALK_ANY);
    expect_frames(&w, BIAS + TEXT + LEAF);
    assert_int_equal(w.fp_frames, 1);
    assert_int_equal(frames[1].how, WNDL_HOW_FP);
    assert_int_equal(frames[2].how, WNDL_HOW_CFI);

    w = walk(&module, gregs, WNDL_WALK_CFI);
    assert_int_equal(w.count, 1);
    assert_int_equal(w.end, WNDL_END_NO_RULE);
    gregs[14] += 2; /* behind no call */
    w = walk(&module, gregs, WNDL_WALK_ANY);
    assert_int_equal(w.count, 1);
    assert_int_not_equal(w.end, WNDL_END_COMPLETE);
}

/* inner() as a handler, that interrupted the leaf before its first
 * instruction. */
static void a_signal_handler_returns_to_what_it_interrupted(void **state)
{
    enum { SIGCONTEXT = 160 / 4, AT = 4 };
    const struct wndl_remote_module module = module_of_both();
    uint32_t gregs[16], saved[16];
    (void)state;
    registers_at(0, saved);
    for (uint32_t i = 0; i < 16; i++)
        world.stack[AT + SIGCONTEXT + i] = saved[i];
    world.stack[AT + SIGCONTEXT + 7] = STACK + 4 * 82;
    world.stack[AT + SIGCONTEXT + 13] = STACK + 4 * 80;
    world.stack[AT + SIGCONTEXT + 15] = BIAS + TEXT + INNER;
    put_callers(80);
    memset(gregs, 0, sizeof gregs);
    gregs[13] = STACK + 4 * AT;
    gregs[14] = BIAS + TEXT + TRAMPOLINE;
    gregs[15] = BIAS + TEXT + INNER;
    const struct wndl_walk w = walk(&module, gregs, WNDL_WALK_ANY);
    assert_int_equal(w.end, WNDL_END_COMPLETE);
    assert_int_equal(w.count, 5);
    assert_int_equal(frames[1].address, BIAS + TEXT + TRAMPOLINE);
    assert_int_equal(frames[2].address, BIAS + TEXT + INNER);
    assert_true(frames[2].interrupted);
    assert_int_equal(frames[4].address, in_outer);
}

/* Both sections cut off anywhere, or lying: a walk ends. */
static void walks_over_damage_end(void **state)
{
    struct wndl_remote_module module = module_of_both();
    const size_t frame_size = module.debug_frame_size;
    uint32_t gregs[16];
    (void)state;
    registers_at(3, gregs);
    for (size_t size = 0; size < frame_size; size++) {
        module.debug_frame_size = size;
        module.exidx_size = size % sizeof world.index;
        const struct wndl_walk w = walk(&module, gregs, WNDL_WALK_ANY);
        assert_in_range(w.count, 1, FRAMES);
    }
    module = module_of_both();
    for (size_t bit = 0; bit < 8 * (frame_size + sizeof world.index); bit++) {
        const size_t at = bit / 8;
        uint8_t *byte = at < frame_size ? &world.frame.data[at]
                                        : &world.index[at - frame_size];
        *byte ^= (uint8_t)(1u << bit % 8);
        module.debug_frame = at < frame_size ? world.frame.data : NULL;
        const struct wndl_walk w = walk(&module, gregs, WNDL_WALK_ANY);
        assert_in_range(w.count, 1, FRAMES);
        *byte ^= (uint8_t)(1u << bit % 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_walk_goes_by_debug_frame, set_up),
        cmocka_unit_test_setup(a_walk_goes_by_exidx_and_the_code, set_up),
        cmocka_unit_test_setup(a_walk_goes_by_both, set_up),
        cmocka_unit_test_setup(without_code_exidx_is_right_in_the_body, set_up),
        cmocka_unit_test_setup(
            a_leaf_that_may_not_be_unwound_is_left_by_lr, set_up),
        cmocka_unit_test_setup(
            a_signal_handler_returns_to_what_it_interrupted, set_up),
        cmocka_unit_test_setup(walks_over_damage_end, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
