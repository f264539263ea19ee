/* SPDX-License-Identifier: MIT */
#include "collect/loop/plain.h"

static size_t row_of(const struct wndl_collector_process *p)
{
    return (size_t)p->inode % WNDL_PLAIN_ROWS;
}

void wndl_plain_learn(struct wndl_plain *plain,
    const struct wndl_collector_process *p, uint32_t made)
{
    if (p->made.count != 0)
        return;
    plain->rows[row_of(p)] = (struct wndl_plain_row){
        .device = p->device,
        .inode = p->inode,
        .modified = p->modified,
        .made = made,
    };
}

bool wndl_plain_has(const struct wndl_plain *plain,
    const struct wndl_collector_process *p, uint32_t made)
{
    const struct wndl_plain_row *row = &plain->rows[row_of(p)];
    return row->device != 0 && row->device == p->device &&
           row->inode == p->inode && row->modified == p->modified &&
           row->made == made;
}
