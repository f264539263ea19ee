/* SPDX-License-Identifier: MIT */
/*
 * addr: three kinds of addresses that must not be mixed up.
 *
 *   avma  the address in a running process
 *   svma  the address that the linker assigned (ELF p_vaddr, sh_addr,
 *         st_value, DWARF)
 *   rva   the distance from the image base, the lowest PT_LOAD's svma
 *
 *   avma = svma + load bias        rva = svma - image base svma
 *
 * They are structs so that the compiler refuses a mix-up; they cost nothing.
 */
#ifndef WNDL_BASE_ADDR_H
#define WNDL_BASE_ADDR_H

#include <stdint.h>

typedef struct {
    uint64_t v;
} wndl_avma;

typedef struct {
    uint64_t v;
} wndl_svma;

typedef struct {
    uint64_t v;
} wndl_rva;

/* The load bias, added to every svma of an image, modulo 2^64. */
typedef struct {
    uint64_t v;
} wndl_bias;

static inline wndl_svma wndl_svma_of_avma(wndl_avma a, wndl_bias bias)
{
    return (wndl_svma){a.v - bias.v};
}

static inline wndl_rva wndl_rva_of_svma(wndl_svma s, wndl_svma image_base)
{
    return (wndl_rva){s.v - image_base.v};
}

static inline wndl_svma wndl_svma_of_rva(wndl_rva r, wndl_svma image_base)
{
    return (wndl_svma){r.v + image_base.v};
}

#endif
