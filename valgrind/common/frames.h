/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frames: addresses of a call stack as a key. */
#ifndef COMMON_FRAMES_H
#define COMMON_FRAMES_H

#include "pub_tool_basics.h"

static inline UWord frames_hash(const Addr *ips, UInt count)
{
    ULong hash = count;
    for (UInt i = 0; i < count; i++)
        hash = (hash ^ ips[i]) * 0x9e3779b97f4a7c15ULL ^ hash >> 29;
    return (UWord)(hash ^ hash >> 32);
}

#endif
