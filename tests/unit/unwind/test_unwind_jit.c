/* SPDX-License-Identifier: MIT */
/* Walks through generated code that is registered. */
#include "testlib.h"

#include "cfibuild.h"
#include "unwind/core/arch.h"
#include "unwind/jit/registry.h"
#include "unwind/jit/remote.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <windlass/jit.h>
#include <windlass/unwind.h>

enum { MAX = 64, ROOM = 8, PAGE = 4096 };

struct walking {
    struct wndl_unwinder *unwinder;
    struct wndl_stack_range range;
    struct wndl_frame frames[MAX];
    struct wndl_walk walk;
};

static struct walking here;
static uint8_t *page; /* generated code */

static void find_stack(struct wndl_stack_range *stack)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0 ||
        pthread_attr_getstack(&attributes, &low, &size) != 0)
        abort();
    pthread_attr_destroy(&attributes);
    *stack = (struct wndl_stack_range){(uintptr_t)low, (uintptr_t)low + size};
}

static void *zeroed(size_t size)
{
    size = (size + 63) & ~(size_t)63;
    return memset(aligned_alloc(64, size), 0, size);
}

static void begin(struct walking *w)
{
    w->unwinder = wndl_unwinder_init(zeroed(wndl_unwinder_size()));
    find_stack(&w->range);
}

static struct wndl_jit *new_jit(size_t max)
{
    return wndl_jit_init(zeroed(wndl_jit_size(max)), max);
}

/* ---- errors; code at addresses where there is none ---- */

static const struct wndl_jit_rule plain = {.cfa = WNDL_WORD};

static enum wndl_status add(struct wndl_jit *jit, uint64_t start, uint64_t size)
{
    const struct wndl_jit_code code = {start, size, &plain, 1};
    return wndl_jit_add(jit, &code, 1);
}

static void code_is_registered_once_and_as_far_as_there_is_room(void **state)
{
    (void)state;
    struct wndl_jit *jit = new_jit(3);
    assert_int_equal(add(jit, 0x10000, 0x100), WNDL_OK);
    assert_int_equal(add(jit, 0x10000, 0x100), WNDL_MALFORMED);
    assert_int_equal(add(jit, 0x100ff, 0x10), WNDL_MALFORMED);
    assert_int_equal(add(jit, 0xfff0, 0x11), WNDL_MALFORMED);
    assert_int_equal(add(jit, 0x10100, 0x10), WNDL_OK);
    assert_int_equal(add(jit, 0xfff0, 0x10), WNDL_OK);
    assert_int_equal(add(jit, 0x20000, 0x10), WNDL_LIMIT);
    assert_int_equal(wndl_jit_remove(jit, 0x10001, 0xff), WNDL_NOT_FOUND);
    assert_int_equal(wndl_jit_remove(jit, 0x10000, 1), WNDL_OK);
    const struct wndl_jit_code two[] = {
        {0x20000, 0x10, &plain, 1}, {0x30000, 0x10, &plain, 1}};
    assert_int_equal(wndl_jit_add(jit, two, 2), WNDL_LIMIT); /* both or none */
    assert_int_equal(add(jit, 0x20000, 0x10), WNDL_OK);
    assert_int_equal(wndl_jit_remove(jit, 0, UINT64_MAX), WNDL_OK);
    assert_int_equal(wndl_jit_remove(jit, 0, UINT64_MAX), WNDL_NOT_FOUND);
    free(jit);
}

static void rules_are_as_the_header_says(void **state)
{
    (void)state;
    struct wndl_jit *jit = new_jit(ROOM);
    const struct wndl_jit_rule wrong[][2] = {
        {{.offset = 1, .cfa = 16}, {.offset = 2, .cfa = 16}},
        {{.cfa = 16}, {.offset = 0, .cfa = 16}},
        {{.cfa = 16}, {.offset = 16, .cfa = 16}},
        {{.cfa = WNDL_WORD - 1}, {.offset = 1, .cfa = 16}},
        {{.cfa = 16, .flags = 4}, {.offset = 1, .cfa = 16}},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const struct wndl_jit_code code = {0x10000, 16, wrong[i], 2};
        assert_int_equal(wndl_jit_add(jit, &code, 1), WNDL_MALFORMED);
    }
    const struct wndl_jit_code bad[] = {
        {0x10000, 0, &plain, 1},
        {0x10000, 16, &plain, 0},
        {UINT64_MAX - 1, 16, &plain, 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(wndl_jit_add(jit, &bad[i], 1), WNDL_MALFORMED);
    assert_int_equal(wndl_jit_remove(jit, 0, UINT64_MAX), WNDL_NOT_FOUND);
    free(jit);
}

/* ---- any changes, beside an array of what should be there ---- */

enum { CELLS = 300, CELL = 16, BASE = 0x10000 };

static bool cells[CELLS];

static bool are_free(const struct wndl_jit_code *codes, size_t count)
{
    bool taken[CELLS] = {false};
    for (size_t i = 0; i < count; i++)
        for (uint64_t at = codes[i].start; at < codes[i].start + codes[i].size;
             at += CELL) {
            size_t cell = (at - BASE) / CELL;
            if (cells[cell] || taken[cell])
                return false;
            taken[cell] = true;
        }
    return true;
}

static void take_or_free(uint64_t start, uint64_t size, bool taken)
{
    for (uint64_t at = start; at < start + size; at += CELL)
        cells[(at - BASE) / CELL] = taken;
}

static void add_some(struct wndl_jit *jit)
{
    struct wndl_jit_code codes[4];
    size_t count = 1 + (size_t)(rand() % 4);
    for (size_t i = 0; i < count; i++)
        codes[i] = (struct wndl_jit_code){
            BASE + CELL * (uint64_t)(rand() % CELLS), CELL, &plain, 1};
    bool expected = are_free(codes, count);
    assert_int_equal(wndl_jit_add(jit, codes, count) == WNDL_OK, expected);
    for (size_t i = 0; i < count && expected; i++)
        take_or_free(codes[i].start, CELL, true);
}

static void remove_some(struct wndl_jit *jit)
{
    size_t first = (size_t)(rand() % CELLS), count = (size_t)(rand() % 8);
    if (first + count > CELLS)
        count = CELLS - first;
    bool expected = false;
    for (size_t i = first; i < first + count; i++)
        expected |= cells[i];
    enum wndl_status status =
        wndl_jit_remove(jit, BASE + first * CELL, count * CELL);
    assert_int_equal(status, expected ? WNDL_OK : WNDL_NOT_FOUND);
    take_or_free(BASE + first * CELL, count * CELL, false);
}

static void any_changes_leave_what_they_say(void **state)
{
    (void)state;
    struct wndl_jit *jit = new_jit(CELLS);
    srand(1);
    for (int round = 0; round < 5000; round++) {
        if (rand() % 3 != 0)
            add_some(jit);
        else
            remove_some(jit);
        for (size_t i = 0; i < CELLS; i += 1 + (size_t)(rand() % 9))
            assert_int_equal(
                wndl_jit_covers(jit, BASE + i * CELL + 7), cells[i]);
    }
    assert_false(wndl_jit_covers(jit, BASE - 1));
    assert_false(wndl_jit_covers(jit, BASE + CELLS * CELL));
    free(jit);
}

#if defined(__x86_64__)

/* ---- walks through code without a frame pointer ---- */

/* long code(long (*call)(void *), void *argument) */
static const uint8_t generated[] = {
    0x55,                   /* push %rbp       */
    0x31, 0xed,             /* xor %ebp, %ebp  */
    0x48, 0x83, 0xec, 0x10, /* sub $16, %rsp   */
    0x48, 0x89, 0xf8,       /* mov %rdi, %rax  */
    0x48, 0x89, 0xf7,       /* mov %rsi, %rdi  */
    0xff, 0xd0,             /* call *%rax      */
    0x48, 0x83, 0xc4, 0x10, /* add $16, %rsp   */
    0x5d,                   /* pop %rbp        */
    0xc3,                   /* ret             */
};

static const struct wndl_jit_rule rules[] = {
    {.offset = 0, .cfa = 8},
    {.offset = 1, .cfa = 16, .fp = -16},
    {.offset = 7, .cfa = 32, .fp = -16},
    {.offset = 19, .cfa = 16, .fp = -16},
    {.offset = 20, .cfa = 8},
};

/* The same as instructions of an FDE. */
#define PROGRAM                                                                \
    CFI_BYTES(0x0c, 7, 8, 0x90, 1, /* CFA=RSP+8, RIP=[CFA-8] */                \
        0x41, 0x0e, 16, 0x86, 2,   /* at 1: CFA=RSP+16, RBP=[CFA-16] */        \
        0x46, 0x0e, 32,            /* at 7: CFA=RSP+32 */                      \
        0x4c, 0x0e, 16,            /* at 19 */                                 \
        0x41, 0x0e, 8, 0xc6)       /* at 20: RBP restored */

typedef long generated_code(long (*call)(void *), void *argument);

static struct wndl_jit_code code_here(void)
{
    return (struct wndl_jit_code){(uintptr_t)page, sizeof generated, rules, 5};
}

/* Nested `depth` times in generated code. */
struct nest {
    int depth;
    struct wndl_jit *jit;
};

static long walk_nested(void *context)
{
    struct nest *nest = context;
    generated_code *code;
    memcpy(&code, &page, sizeof code);
    if (nest->depth-- > 0)
        return code(walk_nested, nest) + 1;
    here.walk = (struct wndl_walk){
        .frames = here.frames, .max_frames = MAX, .jit = nest->jit};
    wndl_unwind_self(here.unwinder, &here.range, &here.walk);
    return 0;
}

static size_t frames_in_page(void)
{
    size_t count = 0;
    for (size_t i = 0; i < here.walk.count; i++)
        count += here.frames[i].address - (uintptr_t)page < PAGE &&
                 here.frames[i].how == WNDL_HOW_CFI;
    return count;
}

static void passes(struct wndl_jit *jit, bool expected)
{
    struct nest nest = {3, jit};
    assert_int_equal(walk_nested(&nest), 3);
    assert_int_equal(here.walk.end == WNDL_END_COMPLETE, expected);
    assert_int_equal(frames_in_page(), expected ? 3 : 0);
}

static void rules_lead_through_generated_code(void **state)
{
    (void)state;
    struct wndl_jit *jit = new_jit(ROOM);
    const struct wndl_jit_code code = code_here();
    passes(NULL, false);
    passes(jit, false);
    assert_int_equal(wndl_jit_add(jit, &code, 1), WNDL_OK);
    passes(jit, true);
    passes(NULL, false);
    assert_int_equal(wndl_jit_remove(jit, code.start, 1), WNDL_OK);
    passes(jit, false);
    assert_int_equal(wndl_jit_add(jit, &code, 1), WNDL_OK);
    passes(jit, true);
    free(jit);
}

/* The walk from each instruction, over a stack that is as it is then. */
static void each_offset_has_its_rule(void **state)
{
    (void)state;
    struct wndl_jit *jit = new_jit(ROOM);
    const struct wndl_jit_code code = code_here();
    const struct wndl_jit_rule root = {.cfa = 8, .flags = WNDL_JIT_OUTERMOST};
    const struct wndl_jit_code caller = {(uintptr_t)page + 100, 10, &root, 1};
    assert_int_equal(wndl_jit_add(jit, &code, 1), WNDL_OK);
    assert_int_equal(wndl_jit_add(jit, &caller, 1), WNDL_OK);
    const unsigned words_below[] = {
        0, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 1, 0};
    for (size_t offset = 0; offset < sizeof generated; offset++) {
        uint64_t stack[16] = {0};
        stack[8] = caller.start + 5;
        const struct wndl_stack_range range = {
            (uintptr_t)stack, (uintptr_t)(stack + 16)};
        const struct wndl_regs regs = {.ip = code.start + offset,
            .sp = (uintptr_t)&stack[8 - words_below[offset]],
            .valid = WNDL_REG_IP | WNDL_REG_SP};
        here.walk = (struct wndl_walk){
            .frames = here.frames, .max_frames = MAX, .jit = jit};
        wndl_unwind_regs(here.unwinder, &regs, &range, 1, &here.walk);
        assert_int_equal(here.walk.count, 2);
        assert_int_equal(here.frames[1].address, caller.start + 5);
        assert_int_equal(here.walk.end, WNDL_END_COMPLETE);
    }
    free(jit);
}

/* An .eh_frame for the code, with its terminator. */
static void build_frames(struct cfi_build *b)
{
    const struct cfi_shape shape = {.address_size = 8, .version = 1};
    cfi_build_init(b, &shape, (uintptr_t)b->data);
    size_t cie = cfi_put_cie(b, CFI_BYTES(0));
    cfi_put_fde(b, cie, (uintptr_t)page, sizeof generated, PROGRAM);
    cfi_put(b, 0, 4);
}

static void registered_frames_lead_through_generated_code(void **state)
{
    (void)state;
    static struct cfi_build b;
    struct wndl_jit *jit = new_jit(ROOM);
    build_frames(&b);
    size_t size = b.section.bytes.size;
    assert_int_equal(wndl_jit_add_frames(jit, b.data, SIZE_MAX), WNDL_OK);
    passes(jit, true);
    assert_int_equal(
        wndl_jit_add_frames(jit, b.data, size), WNDL_MALFORMED); /* twice */
    assert_int_equal(wndl_jit_remove(jit, (uintptr_t)page, PAGE), WNDL_OK);
    passes(jit, false);
    for (size_t cut = 1; cut < size - 4; cut++) {
        enum wndl_status status = wndl_jit_add_frames(jit, b.data, cut);
        if (status == WNDL_OK) /* up to the end of a record */
            assert_int_equal(
                wndl_jit_remove(jit, 0, UINT64_MAX), WNDL_NOT_FOUND);
    }
    b.data[8] = 9; /* the CIE's version */
    assert_int_equal(wndl_jit_add_frames(jit, b.data, size), WNDL_UNSUPPORTED);
    free(jit);
}

static struct wndl_jit_source source_of(
    const struct cfi_build *b, uint64_t origin)
{
    return (struct wndl_jit_source){.frame = b->section, .origin = origin};
}

/* Two sources of one origin go one by one. */
static void sources_are_removed_by_their_origin(void **state)
{
    (void)state;
    static struct cfi_build b, other;
    const struct cfi_shape shape = {.address_size = 8, .version = 1};
    const uint8_t *bytes;
    struct wndl_jit *jit = new_jit(ROOM);
    build_frames(&b);
    cfi_build_init(&other, &shape, (uintptr_t)other.data);
    size_t cie = cfi_put_cie(&other, CFI_BYTES(0));
    cfi_put_fde(&other, cie, 0x10000, 16, CFI_BYTES(0x0c, 7, 8));
    struct wndl_jit_source source = source_of(&b, 5);
    assert_int_equal(wndl_jit_add_source(jit, &source), WNDL_OK);
    source = source_of(&other, 5);
    assert_int_equal(wndl_jit_add_source(jit, &source), WNDL_OK);
    assert_int_equal(wndl_jit_remove_source(jit, 6, &bytes), WNDL_NOT_FOUND);
    passes(jit, true);
    assert_int_equal(wndl_jit_remove_source(jit, 5, &bytes), WNDL_OK);
    assert_ptr_equal(bytes, other.data);
    passes(jit, true);
    assert_int_equal(wndl_jit_remove_source(jit, 5, &bytes), WNDL_OK);
    assert_ptr_equal(bytes, b.data);
    passes(jit, false);
    assert_int_equal(wndl_jit_remove_source(jit, 5, &bytes), WNDL_NOT_FOUND);
    free(jit);
}

/* LuaJIT registers such. */
static void frames_without_a_cfa_tell_nothing(void **state)
{
    (void)state;
    static struct cfi_build b;
    const struct cfi_shape shape = {.address_size = 8, .version = 1};
    struct wndl_jit *jit = new_jit(ROOM);
    cfi_build_init(&b, &shape, (uintptr_t)b.data);
    size_t cie = cfi_put_cie(&b, CFI_BYTES(0));
    cfi_put_fde(&b, cie, 0x10000, 16, CFI_BYTES(0));
    struct wndl_jit_source source = source_of(&b, 5);
    assert_int_equal(wndl_jit_add_source(jit, &source), WNDL_NOT_FOUND);
    assert_int_equal(
        wndl_jit_add_frames(jit, b.data, b.section.bytes.size), WNDL_OK);
    assert_false(wndl_jit_covers(jit, 0x10000));
    free(jit);
}

static void registries_lead_to_others(void **state)
{
    (void)state;
    static struct cfi_build b;
    struct wndl_jit *jit = new_jit(ROOM), *also = new_jit(ROOM);
    build_frames(&b);
    assert_int_equal(wndl_jit_add_frames(also, b.data, SIZE_MAX), WNDL_OK);
    passes(jit, false);
    wndl_jit_look_also(jit, also);
    passes(jit, true);
    assert_true(wndl_jit_covers(jit, (uintptr_t)page));
    wndl_jit_look_also(jit, NULL);
    passes(jit, false);
    free(also);
    free(jit);
}

/* A reader that the parent's other thread was does not hold up the child. */
static void forked_children_wait_for_nobody(void **state)
{
    (void)state;
    struct wndl_code code;
    struct wndl_jit_hold hold;
    struct wndl_jit *jit = new_jit(ROOM);
    assert_int_equal(add(jit, 0x10000, 16), WNDL_OK);
    assert_int_equal(wndl_jit_find(jit, 0x10000, &code, &hold), WNDL_CODE_ROW);
    wndl_jit_after_fork(jit);
    assert_int_equal(add(jit, 0x20000, 16), WNDL_OK);
    assert_int_equal(wndl_jit_remove(jit, 0x10000, 1), WNDL_OK);
    assert_false(wndl_jit_covers(jit, 0x10000));
    assert_true(wndl_jit_covers(jit, 0x20000));
    free(jit);
}

/* ---- as another process sees it ---- */

/* The first `left` reads succeed. */
static bool read_here(void *context, uint64_t address, void *to, size_t size)
{
    int *left = context;
    if (*left == 0)
        return false;
    (*left)--;
    memcpy(to, (const void *)(uintptr_t)address, size);
    return true;
}

static bool is_same_rule(
    const struct wndl_cfi_rule *a, const struct wndl_cfi_rule *b)
{
    return a->kind == b->kind && a->reg == b->reg && a->offset == b->offset;
}

static void check_rows(struct wndl_jit *jit, uint64_t pc)
{
    struct wndl_code near, far;
    struct wndl_jit_hold hold;
    struct wndl_jit_copy copy;
    int reads = INT_MAX;
    const struct wndl_remote remote = {
        .read = read_here, .context = &reads, .jit = (uintptr_t)jit};
    enum wndl_code_kind kind = wndl_jit_find(jit, pc, &near, &hold);
    assert_int_equal(wndl_jit_remote_find(&remote, pc, &far, &copy), kind);
    assert_int_equal(
        wndl_jit_remote_covers(&remote, pc), kind != WNDL_CODE_NO_MODULE);
    if (kind == WNDL_CODE_NO_MODULE)
        return;
    wndl_jit_leave(&hold);
    assert_int_equal(near.start, far.start);
    assert_true(is_same_rule(&near.row.cfa, &far.row.cfa));
    for (int i = 0; i < WNDL_CFI_REGS; i++)
        assert_true(is_same_rule(&near.row.regs[i], &far.row.regs[i]));
}

static void fill(struct wndl_jit *jit, struct wndl_jit *also)
{
    static struct cfi_build b;
    const struct wndl_jit_code code = {0x10000, sizeof generated, rules, 5};
    build_frames(&b);
    assert_int_equal(wndl_jit_add(jit, &code, 1), WNDL_OK);
    assert_int_equal(wndl_jit_add_frames(also, b.data, SIZE_MAX), WNDL_OK);
    wndl_jit_look_also(jit, also);
}

static void registries_read_from_outside_say_the_same(void **state)
{
    (void)state;
    struct wndl_jit *jit = new_jit(ROOM), *also = new_jit(ROOM);
    fill(jit, also);
    for (uint64_t i = 0; i <= sizeof generated; i++) {
        check_rows(jit, 0x10000 + i);
        check_rows(jit, (uintptr_t)page + i);
    }
    check_rows(jit, 0xffff);
    free(also);
    free(jit);
}

/* Whichever read fails, there is no row. */
static void what_cannot_be_read_is_not_found(void **state)
{
    (void)state;
    struct wndl_jit *jit = new_jit(ROOM), *also = new_jit(ROOM);
    int left = INT_MAX;
    struct wndl_code code;
    struct wndl_jit_copy copy;
    const struct wndl_remote remote = {
        .read = read_here, .context = &left, .jit = (uintptr_t)jit};
    fill(jit, also);
    assert_int_equal(
        wndl_jit_remote_find(&remote, (uintptr_t)page, &code, &copy),
        WNDL_CODE_ROW);
    const int needed = INT_MAX - left;
    for (int i = 0; i < needed; i++) {
        left = i;
        assert_int_not_equal(
            wndl_jit_remote_find(&remote, (uintptr_t)page, &code, &copy),
            WNDL_CODE_ROW);
    }
    free(also);
    free(jit);
}

static void changes_are_seen_from_outside(void **state)
{
    (void)state;
    struct wndl_jit *jit = new_jit(ROOM), *also = new_jit(ROOM);
    int reads = INT_MAX;
    const struct wndl_remote remote = {
        .read = read_here, .context = &reads, .jit = (uintptr_t)jit};
    fill(jit, also);
    uint64_t before = wndl_jit_remote_changes(&remote);
    assert_int_equal(wndl_jit_remote_changes(&remote), before);
    assert_int_equal(wndl_jit_remove(also, 0, UINT64_MAX), WNDL_OK);
    assert_int_not_equal(wndl_jit_remote_changes(&remote), before);
    free(also);
    free(jit);
}

/* ---- GDB's interface ---- */

struct gdb_entry {
    struct gdb_entry *next, *previous;
    const char *file;
    uint64_t size;
};

static struct {
    uint32_t version, action;
    struct gdb_entry *relevant, *first;
} descriptor = {.version = 1};

static const char names[] = "\0.text\0.eh_frame\0.shstrtab";

struct elf_file {
    Elf64_Ehdr header;
    Elf64_Shdr sections[4];
    char names[sizeof names];
    uint8_t frames[512];
};

static void build_elf(struct elf_file *f, const struct cfi_build *b)
{
    *f = (struct elf_file){
        .header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
            .e_type = ET_REL,
            .e_machine = EM_X86_64,
            .e_shoff = offsetof(struct elf_file, sections),
            .e_shentsize = sizeof(Elf64_Shdr),
            .e_shnum = 4,
            .e_shstrndx = 3},
        .sections = {{0},
            {.sh_name = 1,
                .sh_type = SHT_NOBITS,
                .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                .sh_addr = (uintptr_t)page,
                .sh_size = sizeof generated},
            {.sh_name = 7,
                .sh_type = SHT_PROGBITS,
                .sh_offset = offsetof(struct elf_file, frames),
                .sh_size = b->section.bytes.size},
            {.sh_name = 17,
                .sh_type = SHT_STRTAB,
                .sh_offset = offsetof(struct elf_file, names),
                .sh_size = sizeof names}},
    };
    memcpy(f->names, names, sizeof names);
    memcpy(f->frames, b->data, b->section.bytes.size);
}

static enum wndl_status tell(
    struct wndl_jit *jit, uint32_t action, const void *file, size_t size)
{
    static struct gdb_entry entry;
    entry = (struct gdb_entry){.file = file, .size = size};
    descriptor.action = action;
    descriptor.relevant = &entry;
    return wndl_jit_follow_gdb(jit, &descriptor);
}

static void files_told_to_gdb_lead_through_generated_code(void **state)
{
    (void)state;
    static struct cfi_build b;
    static struct elf_file f;
    struct wndl_jit *jit = new_jit(ROOM);
    build_frames(&b);
    build_elf(&f, &b);
    assert_int_equal(tell(jit, 2, &f, sizeof f), WNDL_NOT_FOUND);
    assert_int_equal(tell(jit, 1, &f, sizeof f), WNDL_OK);
    passes(jit, true);
    assert_int_equal(tell(jit, 1, &f, sizeof f), WNDL_MALFORMED);
    assert_int_equal(tell(jit, 2, &f, sizeof f), WNDL_OK);
    passes(jit, false);
    f.sections[1].sh_addr += 1; /* the FDE is of other code */
    assert_int_equal(tell(jit, 1, &f, sizeof f), WNDL_UNSUPPORTED);
    f.sections[1].sh_addr = 0; /* not relocated */
    assert_int_equal(tell(jit, 1, &f, sizeof f), WNDL_UNSUPPORTED);
    f.sections[2].sh_name = 1; /* no .eh_frame */
    assert_int_equal(tell(jit, 1, &f, sizeof f), WNDL_NOT_FOUND);
    assert_int_equal(tell(jit, 0, &f, sizeof f), WNDL_UNSUPPORTED);
    free(jit);
}

static void damaged_files_are_not_taken(void **state)
{
    (void)state;
    static struct cfi_build b;
    static struct elf_file f;
    struct wndl_jit *jit = new_jit(ROOM);
    build_frames(&b);
    build_elf(&f, &b);
    const size_t used =
        offsetof(struct elf_file, frames) + b.section.bytes.size;
    uint8_t *copy = malloc(used);
    for (size_t i = 0; i < used; i++) {
        /* Exactly as long as said: a sanitizer sees a read past the end. */
        uint8_t *cut = memcpy(malloc(i + 1), &f, i + 1);
        memcpy(copy, &f, used);
        copy[i] ^= 0xff;
        (void)!tell(jit, 1, cut, i);
        (void)!tell(jit, 2, cut, i);
        (void)!tell(jit, 1, copy, used);
        (void)!tell(jit, 2, copy, used);
        free(cut);
    }
    free(copy);
    free(jit);
}

/* ---- replacement ---- */

/* Replaces all with sources of one piece of code each; whether it could. */
static bool replace(struct wndl_jit *jit, const uint64_t *starts, size_t count)
{
    static struct cfi_build b[ROOM];
    const struct cfi_shape shape = {.address_size = 8, .version = 1};
    struct wndl_jit_change change;
    if (!wndl_jit_replace_begin(jit, &change))
        return false;
    for (size_t i = 0; i < count; i++) {
        cfi_build_init(&b[i], &shape, (uintptr_t)b[i].data);
        size_t cie = cfi_put_cie(&b[i], CFI_BYTES(0x0c, 7, 8));
        cfi_put_fde(&b[i], cie, starts[i], 16, CFI_BYTES(0));
        struct wndl_jit_source source = source_of(&b[i], 1);
        enum wndl_status status = wndl_jit_replace_add(&change, &source);
        assert_int_equal(status, WNDL_OK);
    }
    wndl_jit_replace_end(jit, &change);
    return true;
}

static void replacement_is_of_all_and_waits_for_nobody(void **state)
{
    (void)state;
    struct wndl_code code;
    struct wndl_jit_hold hold;
    struct wndl_jit *jit = new_jit(ROOM);
    const uint64_t first[] = {0x30000, 0x10000, 0x10008, 0x20000};
    const uint64_t second[] = {0x10000, 0x40000};
    assert_true(replace(jit, first, 4));
    assert_true(wndl_jit_covers(jit, 0x1000f));
    assert_false(wndl_jit_covers(jit, 0x10010)); /* was there twice */
    assert_true(wndl_jit_covers(jit, 0x30000));
    assert_int_equal(wndl_jit_find(jit, 0x20000, &code, &hold), WNDL_CODE_ROW);
    assert_true(replace(jit, second, 2));
    assert_false(wndl_jit_covers(jit, 0x20000));
    assert_true(wndl_jit_covers(jit, 0x40000));
    assert_false(replace(jit, first, 4)); /* a walk still uses it */
    assert_true(wndl_jit_covers(jit, 0x40000));
    wndl_jit_leave(&hold);
    assert_true(replace(jit, first, 4));
    assert_false(wndl_jit_covers(jit, 0x40000));
    assert_int_equal(add(jit, 0x50000, 16), WNDL_OK); /* as before */
    assert_true(wndl_jit_covers(jit, 0x10000));
    assert_true(replace(jit, first, 0));
    assert_int_equal(wndl_jit_remove(jit, 0, UINT64_MAX), WNDL_NOT_FOUND);
    free(jit);
}

static _Atomic bool replaced_enough;

static void *replace_often(void *jit)
{
    enum { TIMES = 2000 };
    const uint64_t starts[] = {0x20000, 0x10000, 0x30000, 0x40000};
    for (size_t i = 0; i < TIMES; i++)
        (void)replace(jit, starts, 2 + i % 3);
    replaced_enough = true;
    return NULL;
}

static void replacement_is_seen_at_once_or_not_at_all(void **state)
{
    (void)state;
    struct wndl_jit *jit = new_jit(ROOM);
    const uint64_t first = 0x10000;
    pthread_t thread;
    bool covered = true;
    assert_true(replace(jit, &first, 1));
    replaced_enough = false;
    assert_int_equal(pthread_create(&thread, NULL, replace_often, jit), 0);
    while (!replaced_enough)
        covered = wndl_jit_covers(jit, 0x10000) && covered;
    pthread_join(thread, NULL);
    assert_true(covered);
    free(jit);
}

/* A file of which so many parts can be had. */
struct parts {
    int left;
    uint64_t last;
};

static const uint8_t *take_part(void *context, uint64_t address, size_t size)
{
    struct parts *parts = context;
    (void)size;
    parts->last = address;
    return parts->left-- > 0 ? (const uint8_t *)(uintptr_t)address : NULL;
}

static void files_are_read_part_by_part(void **state)
{
    (void)state;
    static struct cfi_build b;
    static struct elf_file f;
    struct wndl_jit_source source;
    build_frames(&b);
    build_elf(&f, &b);
    for (int left = 0; left < 6; left++) {
        struct parts parts = {.left = left};
        const struct wndl_jit_file file = {
            (uintptr_t)&f, sizeof f, take_part, &parts};
        enum wndl_status status = wndl_jit_gdb_file(&file, &source);
        if (left < 4) {
            assert_true(status == WNDL_UNSUPPORTED || status == WNDL_NOT_FOUND);
            continue;
        }
        assert_int_equal(status, WNDL_OK);
        assert_int_equal(source.origin, (uintptr_t)&f);
        assert_int_equal(parts.last, (uintptr_t)f.frames);
        assert_ptr_equal(source.frame.bytes.data, f.frames);
        assert_int_equal(source.frame.bytes.size, b.section.bytes.size);
    }
}

/* ---- threads and signals ---- */

enum { WALKS = 300, CHANGERS = 2, PIECES = 16 };

static struct {
    struct wndl_jit *jit;
    struct walking walking;
    _Atomic int walks, complete;
    _Atomic bool over;
} storm;

static void on_signal(int number)
{
    (void)number;
    struct walking *w = &storm.walking;
    w->walk = (struct wndl_walk){
        .frames = w->frames, .max_frames = MAX, .jit = storm.jit};
    wndl_unwind_self(w->unwinder, &w->range, &w->walk);
    atomic_fetch_add(&storm.complete, w->walk.end == WNDL_END_COMPLETE);
    atomic_fetch_add(&storm.walks, 1);
}

static long be_interrupted(void *unused)
{
    (void)unused;
    while (!atomic_load(&storm.over))
        usleep(1);
    return 0;
}

static void *run_generated(void *unused)
{
    generated_code *code;
    memcpy(&code, &page, sizeof code);
    begin(&storm.walking);
    signal(SIGUSR1, on_signal);
    atomic_store(&storm.walks, 0);
    code(be_interrupted, unused);
    return NULL;
}

/* Adds pieces of code on both sides of the one that runs, removes them, and
 * spoils the rules of what has been removed. */
static void *change(void *number)
{
    uint64_t at = 0x10000 + (uintptr_t)number * 0x10000;
    at += (uintptr_t)number == 0 ? 0 : UINT64_C(0x7fff00000000);
    while (!atomic_load(&storm.over)) {
        struct wndl_jit_rule *rule = malloc(sizeof *rule);
        *rule = plain;
        struct wndl_jit_code codes[PIECES];
        for (size_t i = 0; i < PIECES; i++)
            codes[i] = (struct wndl_jit_code){at + i * 16, 16, rule, 1};
        if (wndl_jit_add(storm.jit, codes, PIECES) != WNDL_OK ||
            wndl_jit_remove(storm.jit, at, PIECES * 16) != WNDL_OK)
            abort();
        memset(rule, 0xff, sizeof *rule);
        free(rule);
    }
    return NULL;
}

static void walks_in_signals_see_what_is_registered(void **state)
{
    (void)state;
    pthread_t runner, changers[CHANGERS];
    const struct wndl_jit_code code = code_here();
    storm.jit = new_jit(1 + CHANGERS * PIECES);
    atomic_store(&storm.walks, -1);
    assert_int_equal(wndl_jit_add(storm.jit, &code, 1), WNDL_OK);
    pthread_create(&runner, NULL, run_generated, NULL);
    for (uintptr_t i = 0; i < CHANGERS; i++)
        pthread_create(&changers[i], NULL, change, (void *)i);
    while (atomic_load(&storm.walks) < 0)
        usleep(100);
    for (int sent = 1; sent <= WALKS; sent++) {
        pthread_kill(runner, SIGUSR1);
        while (atomic_load(&storm.walks) < sent)
            usleep(10);
    }
    atomic_store(&storm.over, true);
    pthread_join(runner, NULL);
    for (int i = 0; i < CHANGERS; i++)
        pthread_join(changers[i], NULL);
    assert_int_equal(atomic_load(&storm.complete), WALKS);
    free(storm.walking.unwinder);
    free(storm.jit);
}

#endif

static int set_up(void **state)
{
    (void)state;
    begin(&here);
    page = mmap(
        NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#if defined(__x86_64__)
    memcpy(page, generated, sizeof generated);
#endif
    return mprotect(page, PAGE, PROT_READ | PROT_EXEC);
}

static int tear_down(void **state)
{
    (void)state;
    free(here.unwinder);
    return munmap(page, PAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_is_registered_once_and_as_far_as_there_is_room),
        cmocka_unit_test(rules_are_as_the_header_says),
        cmocka_unit_test(any_changes_leave_what_they_say),
#if defined(__x86_64__)
        cmocka_unit_test(rules_lead_through_generated_code),
        cmocka_unit_test(each_offset_has_its_rule),
        cmocka_unit_test(registered_frames_lead_through_generated_code),
        cmocka_unit_test(sources_are_removed_by_their_origin),
        cmocka_unit_test(frames_without_a_cfa_tell_nothing),
        cmocka_unit_test(registries_lead_to_others),
        cmocka_unit_test(forked_children_wait_for_nobody),
        cmocka_unit_test(registries_read_from_outside_say_the_same),
        cmocka_unit_test(what_cannot_be_read_is_not_found),
        cmocka_unit_test(changes_are_seen_from_outside),
        cmocka_unit_test(files_told_to_gdb_lead_through_generated_code),
        cmocka_unit_test(damaged_files_are_not_taken),
        cmocka_unit_test(replacement_is_of_all_and_waits_for_nobody),
        cmocka_unit_test(replacement_is_seen_at_once_or_not_at_all),
        cmocka_unit_test(files_are_read_part_by_part),
        cmocka_unit_test(walks_in_signals_see_what_is_registered),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
