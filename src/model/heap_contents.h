/* SPDX-License-Identifier: MIT */
/* heap_contents: blocks of a heap with their contents, as plain data. */
#ifndef WNDL_MODEL_HEAP_CONTENTS_H
#define WNDL_MODEL_HEAP_CONTENTS_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/vec.h"

struct wndl_heap_content {
    uint64_t address;         /* avma */
    uint64_t requested, slop; /* bytes */
    uint32_t leaf;            /* of a list of blocks: who allocated it */
    uint32_t words;           /* of 8 bytes, in the contents */
};

struct wndl_heap_contents {
    struct wndl_arena arena;
    struct wndl_vec blocks; /* struct wndl_heap_content */
    struct wndl_vec parts;  /* struct wndl_bytes: the words of all blocks, one
                             * after the other */
};

#endif
