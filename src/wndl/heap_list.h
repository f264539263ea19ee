/* SPDX-License-Identifier: MIT */
/*
 * heap_list: a chunk of a heap that is being read, most of which are lists of
 * elements. Defined in read_heap.c.
 */
#ifndef WNDL_WNDL_HEAP_LIST_H
#define WNDL_WNDL_HEAP_LIST_H

#include "wndl/reader.h"

struct wndl_heap_list {
    struct wndl_reader *r;
    struct wndl_cursor *c;
    struct wndl_process_heap *heap;
    struct wndl_heap_reader *of;
    uint32_t process;
    uint64_t running; /* base of the next element's difference */
};

/*
 * Begins a chunk of `process`, an index of the file. False if that has no heap.
 */
bool wndl_heap_list_begin(struct wndl_heap_list *list, struct wndl_reader *r,
    struct wndl_cursor *c, uint64_t process);

/*
 * Reads elements of at least `least` bytes to the end of `to`, each by `read`,
 * which returns NOT_FOUND to leave it out. If one is damaged, all of them are
 * left out.
 */
enum wndl_status wndl_heap_list_read(struct wndl_heap_list *list,
    struct wndl_vec *to, unsigned least,
    enum wndl_status (*read)(struct wndl_heap_list *list, void *element));

/* 0 when the stack was lost: the blocks are kept without it. */
uint32_t wndl_heap_list_node(
    const struct wndl_heap_list *list, uint64_t number);

/* NOT_FOUND for WNDL_NO_INDEX. */
enum wndl_status wndl_heap_list_found(uint32_t number);

#endif
