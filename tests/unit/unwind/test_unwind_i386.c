/* SPDX-License-Identifier: MIT */
/* i386: walks of made-up code in another address space. */
#include "testlib.h"

#include "cfibuild.h"

#include <elf.h>
#include <windlass/unwind.h>

enum { START = 0x5000, SIZE = 0x100, STACK = 0x7000, WORDS = 16 };
enum { GENERATED = 0x100000, RETURNS = START + 0x20 };
/* Behind the function. */
enum { LOW = START + 0x80, DATA = START + 0xc0 };

/* A module with one function, which nobody called, code without CFI behind it,
 * and the stack. */
static struct world {
    struct cfi_build b;
    size_t cie; /* in it */
    uint8_t code[SIZE];
    uint32_t stack[WORDS];
} world;

static void init(struct world *w)
{
    static const struct cfi_shape shape = {4, false, false, false, 1};
    cfi_build_init(&w->b, &shape, 0x1000);
    w->cie = cfi_begin_cie(&w->b);
    cfi_put_bytes(&w->b, "\1", 2); /* version, no augmentation */
    cfi_put_uleb(&w->b, 1);
    cfi_put_sleb(&w->b, -4);
    cfi_put_uleb(&w->b, 8);
    cfi_put_bytes(&w->b, "\x0c\x04\x04", 3); /* CFA = ESP + 4 */
    cfi_end_record(&w->b);
    (void)cfi_put_fde(&w->b, w->cie, START, LOW - START, CFI_BYTES(0x07, 8));
    memset(w->code, 0x90, sizeof w->code);
    memcpy(w->code + (RETURNS - START - 2), "\xff\xd0", 2); /* call *%eax */
    memset(w->stack, 0, sizeof w->stack);
}

static bool read_from(
    const void *bytes, size_t available, uint64_t offset, void *to, size_t size)
{
    if (offset > available || size > available - offset)
        return false;
    memcpy(to, (const uint8_t *)bytes + offset, size);
    return true;
}

static bool read_world(void *context, uint64_t address, void *to, size_t size)
{
    const struct world *w = context;
    return read_from(w->code, sizeof w->code, address - START, to, size) ||
           read_from(w->stack, sizeof w->stack, address - STACK, to, size);
}

static struct wndl_frame frames[8];

static struct wndl_walk walk_from(struct world *w, uint32_t pc, uint32_t fp)
{
    struct wndl_walk walk = {.frames = frames, .max_frames = 8};
    const struct wndl_remote_module module = {
        .start = START,
        .end = START + SIZE,
        .eh_frame = w->b.data,
        .eh_frame_size = w->b.section.bytes.size,
        .eh_frame_svma = w->b.section.addr,
    };
    const struct wndl_remote remote = {
        .machine = EM_386,
        .modules = &module,
        .module_count = 1,
        .read = read_world,
        .context = w,
    };
    const struct wndl_regs regs = {.ip = pc,
        .sp = STACK,
        .fp = fp,
        .valid = WNDL_REG_IP | WNDL_REG_SP | WNDL_REG_FP};
    wndl_unwind_remote(&remote, &regs, &walk);
    return walk;
}

/* Where its caller has no frame pointer: at push %ebp and ret, and between. */
static void generated_code_without_a_frame_yet_has_a_caller(void **state)
{
    (void)state;
    for (unsigned pushed = 0; pushed < 2; pushed++) {
        init(&world);
        world.stack[pushed] = RETURNS;
        const struct wndl_walk walk = walk_from(&world, GENERATED, 0x77);
        assert_int_equal(walk.end, WNDL_END_COMPLETE);
        assert_int_equal(walk.count, 2);
        assert_int_equal(frames[1].address, RETURNS);
        assert_int_equal(frames[1].how, WNDL_HOW_FP);
    }
}

/* What no call is before is no return address; nor is what lies deeper. */
static void generated_code_is_not_left_by_any_word(void **state)
{
    (void)state;
    init(&world);
    world.stack[0] = RETURNS + 1;
    assert_int_equal(walk_from(&world, GENERATED, 0x77).end, WNDL_END_NO_RULE);
    world.stack[2] = RETURNS;
    assert_int_equal(walk_from(&world, GENERATED, 0x77).count, 1);
}

/* The same module, with a function besides whose rows tell a CFA of ESP - 4. */
static void init_with_low_cfa(struct world *w)
{
    init(w);
    /* DW_CFA_def_cfa_sf, ESP, 1 * -4 */
    (void)cfi_put_fde(&w->b, w->cie, LOW, 0x10, CFI_BYTES(0x12, 4, 1));
}

/* The return address is found behind what was pushed, not below ESP. */
static void a_cfa_below_esp_says_nothing(void **state)
{
    (void)state;
    for (unsigned pushed = 0; pushed < 4; pushed++) {
        init_with_low_cfa(&world);
        world.stack[pushed] = RETURNS;
        const struct wndl_walk walk = walk_from(&world, LOW, 0x77);
        assert_int_equal(walk.end, WNDL_END_COMPLETE);
        assert_int_equal(walk.count, 2);
        assert_int_equal(frames[1].address, RETURNS);
        assert_int_equal(frames[1].how, WNDL_HOW_FP);
    }
    init_with_low_cfa(&world);
    world.stack[4] = RETURNS;
    assert_int_equal(walk_from(&world, LOW, 0x77).end, WNDL_END_NO_RULE);
}

/* The caller's own frame begins above the return address that was found. */
static void caller_of_such_code_has_a_caller(void **state)
{
    (void)state;
    const uint32_t middle = LOW + 0x20, returns = middle + 8;
    for (unsigned pushed = 0; pushed < 4; pushed++) {
        init_with_low_cfa(&world);
        /* DW_CFA_offset: below the CFA, which is ESP + 4 */
        (void)cfi_put_fde(
            &world.b, world.cie, middle, 0x10, CFI_BYTES(0x88, 1));
        memcpy(world.code + (returns - START - 2), "\xff\xd0", 2);
        world.stack[pushed] = returns;
        world.stack[pushed + 1] = RETURNS;
        const struct wndl_walk walk = walk_from(&world, LOW, 0x77);
        assert_int_equal(walk.end, WNDL_END_COMPLETE);
        assert_int_equal(walk.count, 3);
        assert_int_equal(frames[1].address, returns);
        assert_int_equal(frames[2].address, RETURNS);
    }
}

/* A pushed register that CFI takes for the return address is no frame, though
 * it leads into a module, where no CFI is. */
static void a_pushed_address_of_data_is_no_caller(void **state)
{
    (void)state;
    init(&world);
    /* DW_CFA_offset: it is below the CFA */
    (void)cfi_put_fde(&world.b, world.cie, LOW, 0x10, CFI_BYTES(0x88, 1));
    world.stack[0] = DATA;
    world.stack[1] = RETURNS;
    struct wndl_walk walk = walk_from(&world, LOW, 0x77);
    assert_int_equal(walk.end, WNDL_END_COMPLETE);
    assert_int_equal(walk.count, 2);
    assert_int_equal(frames[1].address, RETURNS);
    /* With a call before it, it is one. */
    memcpy(world.code + (DATA - START - 2), "\xff\xd0", 2);
    walk = walk_from(&world, LOW, 0x77);
    assert_int_equal(walk.count, 3);
    assert_int_equal(frames[1].address, DATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated_code_without_a_frame_yet_has_a_caller),
        cmocka_unit_test(generated_code_is_not_left_by_any_word),
        cmocka_unit_test(a_cfa_below_esp_says_nothing),
        cmocka_unit_test(caller_of_such_code_has_a_caller),
        cmocka_unit_test(a_pushed_address_of_data_is_no_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
