/* SPDX-License-Identifier: MIT */
#include "jit_fixture.h"

#include "unwind/core/arch.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

struct walking here;
uint8_t *page;

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

void begin(struct walking *w)
{
    w->unwinder = wndl_unwinder_init(zeroed(wndl_unwinder_size()));
    find_stack(&w->range);
}

struct wndl_jit *new_jit(size_t max)
{
    return wndl_jit_init(zeroed(wndl_jit_size(max)), max);
}

const struct wndl_jit_rule plain = {.cfa = WNDL_WORD};

enum wndl_status add(struct wndl_jit *jit, uint64_t start, uint64_t size)
{
    const struct wndl_jit_code code = {start, size, &plain, 1};
    return wndl_jit_add(jit, &code, 1);
}

int set_up(void **state)
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

int tear_down(void **state)
{
    (void)state;
    free(here.unwinder);
    return munmap(page, PAGE);
}

#if defined(__x86_64__)

const uint8_t generated[] = {
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

const struct wndl_jit_rule rules[] = {
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

struct wndl_jit_code code_here(void)
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

void passes(struct wndl_jit *jit, bool expected)
{
    struct nest nest = {3, jit};
    assert_int_equal(walk_nested(&nest), 3);
    assert_int_equal(here.walk.end == WNDL_END_COMPLETE, expected);
    assert_int_equal(frames_in_page(), expected ? 3 : 0);
}

void build_frames(struct cfi_build *b)
{
    const struct cfi_shape shape = {.address_size = 8, .version = 1};
    cfi_build_init(b, &shape, (uintptr_t)b->data);
    size_t cie = cfi_put_cie(b, CFI_BYTES(0));
    cfi_put_fde(b, cie, (uintptr_t)page, sizeof generated, PROGRAM);
    cfi_put(b, 0, 4);
}

#endif
