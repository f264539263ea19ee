/* SPDX-License-Identifier: MIT */
/*
 * jitmake: jitdumps for tests, record by record, in either byte order.
 */
#ifndef WNDL_TESTS_JITMAKE_H
#define WNDL_TESTS_JITMAKE_H

#include "base/buf.h"

/* `record` is where in `out` the last record starts. */
struct jitmake {
    struct wndl_buf out;
    bool big;
    size_t record;
};

struct jitmake_line {
    uint64_t address;
    uint32_t line;
    const char *file;
};

/* Starts a dump of process `pid`; ends with wndl_buf_free of `out`. */
void jitmake_init(struct jitmake *m, bool big, uint32_t pid);

void jitmake_put(struct jitmake *m, uint64_t value, unsigned size);
void jitmake_begin(struct jitmake *m, uint32_t kind);
void jitmake_finish(struct jitmake *m);

void jitmake_load(struct jitmake *m, uint64_t start, uint64_t size,
    uint64_t index, const char *name);
void jitmake_move(
    struct jitmake *m, uint64_t start, uint64_t size, uint64_t index);
/* Padded by `padding` bytes. */
void jitmake_lines(struct jitmake *m, uint64_t start,
    const struct jitmake_line *lines, size_t count, unsigned padding);

static inline struct wndl_bytes jitmake_bytes(const struct jitmake *m)
{
    return (struct wndl_bytes){m->out.data, m->out.size};
}

#endif
