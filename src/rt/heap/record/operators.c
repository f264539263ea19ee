/* SPDX-License-Identifier: MIT */
#include "rt/heap/record/operators.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

bool wndl_rt_operators_known;

static struct wndl_rt_operators known;
static uint64_t maker_sizes[WNDL_RT_OPERATORS]; /* bytes of code */

static uint64_t size_of(const void *function)
{
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    if (dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) == 0 ||
        symbol == NULL)
        return 0;
    return symbol->st_size;
}

/* ---- the call before a return address */

#ifdef __x86_64__
enum { READS_CALLS = true };

static bool read_code(
    const struct wndl_dlmodule *module, uint64_t address, void *to, size_t size)
{
    const struct wndl_bytes bytes = wndl_dlmodule_around(module, address);
    const uint64_t at = address - (uintptr_t)bytes.data;
    if (at > bytes.size || size > bytes.size - at)
        return false;
    memcpy(to, bytes.data + at, size);
    return true;
}

/* The pointer that an instruction with a displacement before `end` reads. */
static uint64_t read_slot(const struct wndl_dlmodule *module, uint64_t end,
    const uint8_t displacement[4])
{
    int32_t distance;
    uint64_t target = 0;
    memcpy(&distance, displacement, sizeof distance);
    (void)read_code(
        module, end + (uint64_t)(int64_t)distance, &target, sizeof target);
    return target;
}

/* Where a stub of the procedure linkage table leads; else `stub`. */
static uint64_t end_of_stub(const struct wndl_dlmodule *module, uint64_t stub)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    uint8_t code[11];
    size_t at = 0;
    if (!read_code(module, stub, code, sizeof code))
        return stub;
    if (memcmp(code, endbr64, sizeof endbr64) == 0)
        at += sizeof endbr64;
    if (code[at] == 0xf2) /* bnd */
        at++;
    if (code[at] != 0xff || code[at + 1] != 0x25) /* jmp *rip+ */
        return stub;
    return read_slot(module, stub + at + 6, &code[at + 2]);
}

/* The function that is called before `address`; 0: not known. */
static uint64_t called_before(uint64_t address)
{
    struct wndl_dlmodule module;
    uint8_t code[6];
    int32_t distance;
    if (!wndl_dlfind(address, &module) ||
        !read_code(&module, address - sizeof code, code, sizeof code))
        return 0;
    if (code[0] == 0xff && code[1] == 0x15) /* call *rip+ */
        return read_slot(&module, address, &code[2]);
    if (code[1] != 0xe8) /* call rip+ */
        return 0;
    memcpy(&distance, &code[2], sizeof distance);
    return end_of_stub(&module, address + (uint64_t)(int64_t)distance);
}
#else
enum { READS_CALLS = false };

static uint64_t called_before(uint64_t address)
{
    (void)address;
    return 0;
}
#endif

/* ---- the functions */

void wndl_rt_operators_know(const struct wndl_rt_operators *operators)
{
    known = *operators;
    for (size_t i = 0; i < known.makers; i++)
        maker_sizes[i] = size_of(known.functions[i]);
    wndl_rt_operators_known = READS_CALLS;
}

enum wndl_heap_whose wndl_rt_operators_took(uint64_t address)
{
    for (size_t i = 0; i < known.makers; i++) {
        if (address - (uintptr_t)known.functions[i] < maker_sizes[i])
            return WNDL_HEAP_WHOSE_CPP;
    }
    return WNDL_HEAP_WHOSE_MALLOC;
}

/* The C++ library's own calls are parts of its operators. */
enum wndl_heap_whose wndl_rt_operators_freed(uint64_t address)
{
    if (address >= known.library.map_start && address < known.library.map_end)
        return WNDL_HEAP_WHOSE_UNKNOWN;
    const uint64_t called = called_before(address);
    if (called == 0)
        return WNDL_HEAP_WHOSE_UNKNOWN;
    if (called == (uintptr_t)known.free)
        return WNDL_HEAP_WHOSE_MALLOC;
    for (size_t i = known.makers; i < known.count; i++) {
        if (called == (uintptr_t)known.functions[i])
            return WNDL_HEAP_WHOSE_CPP;
    }
    return WNDL_HEAP_WHOSE_UNKNOWN;
}
