/* SPDX-License-Identifier: MIT */
/*
 * Walks by unwind information and over stacks that mean harm, by the fast way
 * (registered, this process) and the slow one (a module of another process):
 * each ends with a reason, and reads nothing but the stack, which has pages
 * around it that nobody may read.
 */
#include "testlib.h"

#include "cfibuild.h"
#include "unwind/core/arch.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <windlass/jit.h>
#include <windlass/unwind.h>

enum {
    PAGE = 4096,
    WORDS = PAGE / sizeof(uintptr_t),
    MAX = 64,
    ROOM = 8,
    CODE = 0x100000, /* what harms is told of these addresses */
    CALLER = 0x200000,
    SIZE = 0x100,
};

static struct {
    struct wndl_unwinder *unwinder;
    uintptr_t *stack; /* a page */
    struct wndl_frame frames[MAX];
} here;

static struct wndl_stack_range range(void)
{
    return (struct wndl_stack_range){
        (uintptr_t)here.stack, (uintptr_t)(here.stack + WORDS)};
}

static struct wndl_regs regs_at(uint64_t ip, uint64_t sp)
{
    return (struct wndl_regs){.ip = ip,
        .sp = sp,
        .fp = sp,
        .bx = 1,
        .valid = WNDL_REG_IP | WNDL_REG_SP | WNDL_REG_FP | WNDL_REG_BX};
}

static uint64_t start_sp(void)
{
    return (uintptr_t)(here.stack + 32);
}

static bool read_stack(void *context, uint64_t address, void *to, size_t size)
{
    (void)context;
    const struct wndl_stack_range r = range();
    if (address < r.low || address > r.high || size > r.high - address)
        return false;
    memcpy(to, (const void *)(uintptr_t)address, size);
    return true;
}

static struct wndl_walk new_walk(struct wndl_jit *jit)
{
    return (struct wndl_walk){
        .frames = here.frames, .max_frames = MAX, .jit = jit};
}

/* What the walk comes to; its frames are counted into *count. */
static enum wndl_walk_end walk_slowly(
    const struct wndl_cfi_section *frame, uint64_t ip, size_t *count)
{
    const struct wndl_remote_module module = {.start = CODE,
        .end = CALLER + SIZE,
        .eh_frame = frame->bytes.data,
        .eh_frame_size = frame->bytes.size,
        .eh_frame_svma = frame->addr};
    const struct wndl_remote remote = {
        .read = read_stack, .modules = &module, .module_count = 1};
    const struct wndl_regs regs = regs_at(ip, start_sp());
    struct wndl_walk walk = new_walk(NULL);
    wndl_unwind_remote(&remote, &regs, &walk);
    *count = walk.count;
    return walk.end;
}

static enum wndl_walk_end walk_fast(
    struct wndl_jit *jit, uint64_t ip, uint64_t sp, size_t *count)
{
    const struct wndl_stack_range stack = range();
    const struct wndl_regs regs = regs_at(ip, sp);
    struct wndl_walk walk = new_walk(jit);
    wndl_unwind_regs(here.unwinder, &regs, &stack, 1, &walk);
    *count = walk.count;
    return walk.end;
}

static struct wndl_jit *new_jit(void)
{
    return wndl_jit_init(calloc(1, wndl_jit_size(ROOM)), ROOM);
}

/* Every word of the stack returns to the caller. */
static void fill_stack(void)
{
    for (size_t i = 0; i < WORDS; i++)
        here.stack[i] = CALLER + 5;
}

/* CFA = SP + a word, the return address below it. */
#define PLAIN 0x0c, WNDL_DWARF_SP, WNDL_WORD, 0x80 | WNDL_DWARF_RA, 1

static size_t begin_section(struct cfi_build *b)
{
    const struct cfi_shape shape = {.address_size = WNDL_WORD, .version = 1};
    cfi_build_init(b, &shape, (uintptr_t)b->data);
    return cfi_put_cie(b, CFI_BYTES(PLAIN));
}

/* A caller that nobody called, after code with this program. */
static void build(struct cfi_build *b, struct wndl_bytes program)
{
    size_t cie = begin_section(b);
    cfi_put_fde(b, cie, CODE, SIZE, program);
    cfi_put_fde(b, cie, CALLER, SIZE, CFI_BYTES(0x07, WNDL_DWARF_RA));
}

/* ---- programs of call frame instructions ---- */

static void ends_as(struct wndl_bytes program, enum wndl_walk_end end)
{
    static struct cfi_build b;
    size_t fast, slow;
    struct wndl_jit *jit = new_jit();
    build(&b, program);
    assert_int_equal(
        wndl_jit_add_frames(jit, b.data, b.section.bytes.size), WNDL_OK);
    fill_stack();
    assert_int_equal(walk_fast(jit, CODE + 9, start_sp(), &fast), end);
    assert_int_equal(walk_slowly(&b.section, CODE + 9, &slow), end);
    assert_int_equal(fast, end == WNDL_END_COMPLETE ? 2 : 1);
    assert_int_equal(slow, fast);
    free(jit);
}

static void what_is_built_is_walked(void **state)
{
    (void)state;
    ends_as(CFI_BYTES(0), WNDL_END_COMPLETE);
}

static void offsets_that_leave_the_stack_are_not_followed(void **state)
{
    (void)state;
    /* CFA: SP + 2^21 - 1, SP + a page, SP - 8 words, SP + 2^63. */
    ends_as(CFI_BYTES(0x0e, 0xff, 0xff, 0x7f), WNDL_END_BAD_READ);
    ends_as(CFI_BYTES(0x0e, 0x80, 0x20), WNDL_END_BAD_READ);
    /* (i386's memcpy() has such rows: what is behind a push is tried there.) */
    ends_as(CFI_BYTES(0x13, 8),
        WNDL_WORD == 8 ? WNDL_END_NO_PROGRESS : WNDL_END_NO_RULE);
    ends_as(CFI_BYTES(
                0x0e, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1),
        WNDL_END_BAD_CFI);
    if (WNDL_WORD == 8) /* SP + 2^35 - 1 */
        ends_as(
            CFI_BYTES(0x0e, 0xff, 0xff, 0xff, 0xff, 0x7f), WNDL_END_BAD_READ);
    /* The return address: at CFA - 2^24 words, CFA + 2^24 words. */
    ends_as(CFI_BYTES(0x11, WNDL_DWARF_RA, 0x80, 0x80, 0x80, 0x08),
        WNDL_END_BAD_READ);
    ends_as(CFI_BYTES(0x11, WNDL_DWARF_RA, 0x80, 0x80, 0x80, 0x78),
        WNDL_END_BAD_READ);
}

static void expressions_that_do_not_end_are_damage(void **state)
{
    (void)state;
    /* lit1; skip -4 */
    ends_as(CFI_BYTES(0x0f, 4, 0x31, 0x2f, 0xfc, 0xff), WNDL_END_BAD_CFI);
    /* lit1; bra -4: nothing piles up */
    ends_as(CFI_BYTES(0x0f, 4, 0x31, 0x28, 0xfc, 0xff), WNDL_END_BAD_CFI);
    /* the return address's, too */
    ends_as(
        CFI_BYTES(0x10, WNDL_DWARF_RA, 3, 0x2f, 0xfd, 0xff), WNDL_END_BAD_CFI);
}

static void divisions_by_zero_are_damage(void **state)
{
    (void)state;
    /* lit1; lit0; div, and mod */
    ends_as(CFI_BYTES(0x0f, 3, 0x31, 0x30, 0x1b), WNDL_END_BAD_CFI);
    ends_as(CFI_BYTES(0x0f, 3, 0x31, 0x30, 0x1d), WNDL_END_BAD_CFI);
}

static void programs_that_contradict_themselves_are_damage(void **state)
{
    (void)state;
    ends_as(CFI_BYTES(0x3f), WNDL_END_BAD_CFI);          /* no instruction */
    ends_as(CFI_BYTES(0x0b), WNDL_END_BAD_CFI);          /* restores no state */
    ends_as(CFI_BYTES(0x0f, 0x7f, 0), WNDL_END_BAD_CFI); /* is cut off */
    uint8_t deep[2000];
    memset(deep, 0x0a, sizeof deep); /* remembers 2,000 states */
    ends_as((struct wndl_bytes){deep, sizeof deep}, WNDL_END_BAD_CFI);
}

/* A million advances by nothing: all of it is gone through, once. */
static void long_programs_come_to_their_end(void **state)
{
    (void)state;
    enum { LONG = 2 << 20 };
    static struct cfi_build b;
    size_t cie = begin_section(&b), count;
    cfi_put_fde(&b, cie, CALLER, SIZE, CFI_BYTES(0x07, WNDL_DWARF_RA));
    size_t fde = cfi_put_fde(&b, cie, CODE, SIZE, CFI_BYTES(0));
    size_t head = b.section.bytes.size;
    uint8_t *bytes = calloc(1, head + LONG);
    memcpy(bytes, b.data, head);
    for (size_t i = head; i < head + LONG; i += 2)
        bytes[i] = 0x02;
    uint32_t length = (uint32_t)(head + LONG - fde - sizeof length);
    memcpy(bytes + fde, &length, sizeof length);
    const struct wndl_cfi_section frame = {
        .bytes = {bytes, head + LONG}, .addr = (uintptr_t)bytes};
    struct wndl_jit *jit = new_jit();
    assert_int_equal(wndl_jit_add_frames(jit, bytes, head + LONG), WNDL_OK);
    fill_stack();
    (void)walk_slowly(&frame, CODE + 9, &count);
    assert_int_equal(count, 2);
    (void)walk_fast(jit, CODE + 9, start_sp(), &count);
    assert_int_equal(count, 2);
    free(jit);
    free(bytes);
}

/* One of two that cover the code is gone by: the same each time. */
static void overlapping_functions_have_one_rule(void **state)
{
    (void)state;
    static struct cfi_build b;
    struct wndl_jit *jit = new_jit();
    size_t cie = begin_section(&b), count;
    cfi_put_fde(&b, cie, CODE, SIZE, CFI_BYTES(0));
    cfi_put_fde(&b, cie, CODE + 8, SIZE, CFI_BYTES(0x0e, 0x80, 0x20));
    cfi_put_fde(&b, cie, CALLER, SIZE, CFI_BYTES(0x07, WNDL_DWARF_RA));
    fill_stack();
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            walk_slowly(&b.section, CODE + 9, &count), WNDL_END_COMPLETE);
        assert_int_equal(
            walk_slowly(&b.section, CODE + SIZE, &count), WNDL_END_BAD_READ);
    }
    assert_int_equal(
        wndl_jit_add_frames(jit, b.data, b.section.bytes.size), WNDL_MALFORMED);
    free(jit);
}

/* ---- stacks ---- */

static uint64_t random_state = 88172645463325252u;

static uint64_t random_word(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Mostly anything; some words lead on, or point into the stack. */
static uintptr_t stack_word(void)
{
    uint64_t word = random_word();
    switch (word >> 60) {
    case 0:
    case 1:
        return CODE + word % SIZE;
    case 2:
        return (uintptr_t)(here.stack + word % WORDS);
    case 3:
        return CALLER + word % SIZE;
    case 4:
        return (uintptr_t)&random_state + word % PAGE;
    default:
        return (uintptr_t)word;
    }
}

static void random_stacks_are_survived(void **state)
{
    (void)state;
    static struct cfi_build b;
    struct wndl_jit *jit = new_jit();
    size_t count;
    const size_t rounds = 3000;
    build(&b, CFI_BYTES(0));
    assert_int_equal(
        wndl_jit_add_frames(jit, b.data, b.section.bytes.size), WNDL_OK);
    for (size_t i = 0; i < rounds; i++) {
        for (size_t w = 0; w < WORDS; w++)
            here.stack[w] = stack_word();
        uint64_t ip = i % 2 == 0 ? CODE + 9 : random_word() >> 16;
        uint64_t sp = start_sp() + random_word() % PAGE;
        (void)walk_fast(jit, ip, sp, &count);
        assert_in_range(count, 1, MAX);
        (void)walk_slowly(&b.section, ip, &count);
        assert_in_range(count, 1, MAX);
    }
    free(jit);
}

static void stack_pointers_outside_of_stacks_are_not_read(void **state)
{
    (void)state;
    static struct cfi_build b;
    struct wndl_jit *jit = new_jit();
    const struct wndl_stack_range r = range();
    const uint64_t nowhere[] = {
        0, 8, r.low - PAGE, r.high, r.high + 64, UINTPTR_MAX - 64, UINTPTR_MAX};
    size_t count;
    build(&b, CFI_BYTES(0));
    assert_int_equal(
        wndl_jit_add_frames(jit, b.data, b.section.bytes.size), WNDL_OK);
    fill_stack();
    for (size_t i = 0; i < sizeof nowhere / sizeof nowhere[0]; i++) {
        assert_int_equal(
            walk_fast(jit, CODE + 9, nowhere[i], &count), WNDL_END_BAD_READ);
        assert_int_equal(count, 1);
    }
    free(jit);
}

/* ---- modules that are gone ---- */

static void unmapped_modules_lead_nowhere(void **state)
{
    (void)state;
    size_t before, after;
    void *plugin = dlopen(PLUGIN_SMALL, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(plugin);
    uintptr_t code = (uintptr_t)dlsym(plugin, "plugin_run");
    assert_int_not_equal(code, 0);
    for (size_t i = 0; i < WORDS; i++)
        here.stack[i] = code + 40;
    (void)walk_fast(NULL, code, start_sp(), &before);
    assert_true(before > 1);
    assert_int_equal(dlclose(plugin), 0);
    (void)walk_fast(NULL, code, start_sp(), &after); /* by rules of before */
    assert_in_range(after, 1, MAX);
    wndl_unwinder_flush(here.unwinder);
    enum wndl_walk_end end = walk_fast(NULL, code, start_sp(), &after);
    assert_true(end == WNDL_END_BAD_PC || end == WNDL_END_NO_RULE);
    assert_int_equal(after, 1);
}

static int set_up(void **state)
{
    (void)state;
    uint8_t *pages =
        mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t size = (wndl_unwinder_size() + 63) & ~(size_t)63;
    void *memory = aligned_alloc(64, size);
    if (pages == MAP_FAILED || memory == NULL ||
        mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE) != 0)
        return 1;
    here.stack = (uintptr_t *)(void *)(pages + PAGE);
    here.unwinder = wndl_unwinder_init(memset(memory, 0, size));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(here.unwinder);
    return munmap((uint8_t *)here.stack - PAGE, 3 * PAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_built_is_walked),
        cmocka_unit_test(offsets_that_leave_the_stack_are_not_followed),
        cmocka_unit_test(expressions_that_do_not_end_are_damage),
        cmocka_unit_test(divisions_by_zero_are_damage),
        cmocka_unit_test(programs_that_contradict_themselves_are_damage),
        cmocka_unit_test(long_programs_come_to_their_end),
        cmocka_unit_test(overlapping_functions_have_one_rule),
        cmocka_unit_test(random_stacks_are_survived),
        cmocka_unit_test(stack_pointers_outside_of_stacks_are_not_read),
        cmocka_unit_test(unmapped_modules_lead_nowhere),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
