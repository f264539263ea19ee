/* SPDX-License-Identifier: MIT */
#include "rt/sample/keep_stack.h"

#include "rt/arch/arch.h"

#include <elf.h>
#include <string.h>

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

/* Only rules for x86-64 are made from code. */
uint32_t wndl_rt_keep_stack(
    const struct wndl_regs *regs, const struct wndl_stack_range *stack)
{
    if (WNDL_ARCH_MACHINE != EM_X86_64 || regs->gregs == NULL ||
        stack->low > regs->sp || stack->high <= regs->sp)
        return 0;
    const uint32_t at = take_free();
    if (at == WNDL_SHM_COPIES)
        return 0;
    struct wndl_shm_copy *copy = &wndl_rt.shm->copies[at];
    const uint64_t from = regs->sp - stack->low > WNDL_ARCH_RED_ZONE
                              ? regs->sp - WNDL_ARCH_RED_ZONE
                              : stack->low;
    const uint64_t size = stack->high - from;
    copy->below = (uint32_t)(regs->sp - from);
    copy->size =
        size < WNDL_SHM_COPY_BYTES ? (uint32_t)size : WNDL_SHM_COPY_BYTES;
    memcpy(copy->gregs, regs->gregs, sizeof copy->gregs);
    memcpy(copy->bytes, (const void *)(uintptr_t)from, copy->size);
    atomic_store_explicit(
        &wndl_rt.shm->copy_states[at], WNDL_COPY_WHOLE, memory_order_release);
    return at + 1;
}

void wndl_rt_drop_stack(uint32_t copy)
{
    if (copy != 0)
        atomic_store(&wndl_rt.shm->copy_states[copy - 1], WNDL_COPY_FREE);
}
