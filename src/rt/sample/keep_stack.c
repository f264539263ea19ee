/* SPDX-License-Identifier: MIT */
#include "rt/sample/keep_stack.h"

#include "rt/arch/arch.h"
#include "rt/core/read_parts.h"

#include <elf.h>
#include <string.h>
#include <sys/uio.h>

/* The first free one, so that few pages are touched. */
static uint32_t take_free(void)
{
    _Atomic uint32_t *states = wndl_rt.shm->copy_states;
    for (uint32_t i = 0; i < WNDL_SHM_COPIES; i++) {
        uint32_t state = atomic_load_explicit(&states[i], memory_order_relaxed);
        if (state == WNDL_COPY_FREE &&
            atomic_compare_exchange_strong(
                &states[i], &state, WNDL_COPY_WRITTEN))
            return i;
    }
    return WNDL_SHM_COPIES;
}

static uint32_t copy_from(struct wndl_shm_copy *copy, uint64_t from,
    const struct wndl_stack_range *stack)
{
    const uint64_t size = stack->high - from;
    const struct iovec part = {(void *)(uintptr_t)from,
        size < WNDL_SHM_COPY_BYTES ? (size_t)size : WNDL_SHM_COPY_BYTES};
    return (uint32_t)wndl_rt_read_parts(
        copy->bytes, WNDL_SHM_COPY_BYTES, &part, 1);
}

/*
 * The kernel copies, as it never faults: a range may have guard pages, below
 * the stack pointer, too. A sandbox may forbid that.
 */
static bool fill(struct wndl_shm_copy *copy, const struct wndl_regs *regs,
    const struct wndl_stack_range *stack)
{
    if (wndl_rt_is_careful())
        return false;
    const uint64_t room = regs->sp - stack->low, red = WNDL_ARCH_RED_ZONE;
    copy->below = (uint32_t)(room < red ? room : red);
    copy->size = copy_from(copy, regs->sp - copy->below, stack);
    if (copy->size <= copy->below) {
        copy->below = 0;
        copy->size = copy_from(copy, regs->sp, stack);
    }
    memcpy(copy->gregs, regs->gregs, sizeof copy->gregs);
    return copy->size != 0;
}

/* Only rules for x86-64 are made from code. */
uint32_t wndl_rt_keep_stack(
    const struct wndl_regs *regs, const struct wndl_stack_range *stack)
{
    if (WNDL_ARCH_MACHINE != EM_X86_64 || regs->gregs == NULL ||
        wndl_rt.copies == NULL || stack->low > regs->sp ||
        stack->high <= regs->sp)
        return 0;
    const uint32_t at = take_free();
    if (at == WNDL_SHM_COPIES)
        return 0;
    const bool is_whole = fill(&wndl_rt.copies[at], regs, stack);
    atomic_store_explicit(&wndl_rt.shm->copy_states[at],
        is_whole ? WNDL_COPY_WHOLE : WNDL_COPY_FREE, memory_order_release);
    return is_whole ? at + 1 : 0;
}

void wndl_rt_drop_stack(uint32_t copy)
{
    if (copy != 0)
        atomic_store(&wndl_rt.shm->copy_states[copy - 1], WNDL_COPY_FREE);
}
