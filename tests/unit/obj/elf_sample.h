/* SPDX-License-Identifier: MIT */
/* elf_sample: a file with one of everything, in every class and order. */
#ifndef WNDL_TESTS_ELF_SAMPLE_H
#define WNDL_TESTS_ELF_SAMPLE_H

#include "testlib.h"

#include "elfmake.h"
#include "obj/core/object.h"

#include <elf.h>

/* Of symbols: a type, and the section that .text is. */
enum { FUNC = STT_FUNC, TEXT = 1 };

/* Of the sample. */
static const uint8_t build_id[] = {0xab, 0xcd, 0xef, 0x01, 0x23};

/* The contents of .debug_info and .debug_line, inflated. */
static const char debug_text[] = "the same forty bytes, again and again; "
                                 "the same forty bytes, again and again; "
                                 "the same forty bytes, again and again; ";

/* A zlib stream of `data`; the header of a compressed section. */
void put_deflated(struct wndl_buf *buf, const void *data, size_t size);
void put_chdr(struct wndl_buf *buf, const struct elf_recipe *recipe,
    uint32_t method, uint64_t size);

struct wndl_bytes text_bytes(const char *text);

/* A file with one of everything; `recipe` says in which class and order. The
 * caller frees its bytes. */
struct wndl_bytes make_sample(struct elf_recipe *recipe);

/* The caller closes it. Fails the test. */
struct wndl_object *open_or_fail(struct wndl_bytes bytes);

void for_each_layout(void (*check)(struct elf_recipe *recipe));

/* The name of the function at `addr`, or "-". */
const char *name_at(struct wndl_object *object, uint64_t addr);

#endif
