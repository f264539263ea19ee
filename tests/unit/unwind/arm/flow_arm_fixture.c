/* SPDX-License-Identifier: MIT */
#include "flow_arm_fixture.h"

#include <elf.h>

struct flow_world world;

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

bool step(void)
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

void set(unsigned reg, uint32_t value)
{
    world.full.regs.regs[reg] = value;
    world.full.regs.valid |= UINT64_C(1) << reg;
}

uint64_t get(unsigned reg)
{
    return (world.full.regs.valid >> reg & 1) != 0 ? world.full.regs.regs[reg]
                                                   : 0;
}

uint32_t address_of(unsigned word)
{
    return STACK + 4 * word;
}

void interrupt(const void *code, size_t size, uint32_t at, unsigned depth)
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

void expect_caller(uint32_t ra, unsigned word)
{
    assert_int_equal(get(WNDL_ARM_PC), ra & ~1u);
    assert_int_equal(get(WNDL_ARM_SP), address_of(word));
    assert_int_equal(get(WNDL_ARM_LR), 0);
    assert_int_equal(get(0), 0);
    assert_false(world.full.interrupted);
}
