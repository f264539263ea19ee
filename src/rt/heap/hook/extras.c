/* SPDX-License-Identifier: MIT */
#include "rt/heap/hook/extras.h"

#include <stddef.h>
#include <stdint.h>

/* std::size_t as mangled by Itanium C++ ABI, 5.1. */
#if UINTPTR_MAX == UINT64_MAX
#define SIZE "m"
#else
#define SIZE "j"
#endif
#define ALIGNED "St11align_val_t"
#define NOTHROW "RKSt9nothrow_t"

#define NEW_ENTRY(tag, ...)                                                    \
    extern char wndl_rt_entry_wndl_rt_##tag[] WNDL_RT_HIDDEN;
WNDL_RT_NEW_OPERATORS(NEW_ENTRY, NEW_ENTRY)

struct wndl_rt_extra wndl_rt_new_functions[] = {
#define NEW_ROW(tag, blocks, name) {name, wndl_rt_entry_wndl_rt_##tag, NULL},
    WNDL_RT_NEW_OPERATORS(NEW_ROW, NEW_ROW)};

#define MOZILLA_ENTRY(name, ...)                                               \
    extern char wndl_rt_entry_wndl_rt_mozilla_##name[] WNDL_RT_HIDDEN;
WNDL_RT_MOZILLA(MOZILLA_ENTRY, MOZILLA_ENTRY, MOZILLA_ENTRY)

struct wndl_rt_extra wndl_rt_mozilla_functions[] = {
#define MOZILLA_ROW(name, ...)                                                 \
    {#name, wndl_rt_entry_wndl_rt_mozilla_##name, NULL},
    WNDL_RT_MOZILLA(MOZILLA_ROW, MOZILLA_ROW, MOZILLA_ROW)};
