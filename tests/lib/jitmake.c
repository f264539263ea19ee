/* SPDX-License-Identifier: MIT */
#include "jitmake.h"

#include <string.h>

void jitmake_put(struct jitmake *m, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++) {
        unsigned at = m->big ? size - 1 - i : i;
        wndl_buf_byte(
            &m->out, at < sizeof value ? (uint8_t)(value >> 8 * at) : 0);
    }
}

void jitmake_init(struct jitmake *m, bool big, uint32_t pid)
{
    *m = (struct jitmake){.big = big};
    wndl_buf_init(&m->out, wndl_mem_libc());
    jitmake_put(m, 0x4a695444, 4);
    jitmake_put(m, 1, 4);
    jitmake_put(m, 40, 4);
    jitmake_put(m, 62, 4); /* EM_X86_64 */
    jitmake_put(m, 0, 4);
    jitmake_put(m, pid, 4);
    jitmake_put(m, 99, 8);
    jitmake_put(m, 0, 8);
}

void jitmake_begin(struct jitmake *m, uint32_t kind)
{
    m->record = m->out.size;
    jitmake_put(m, kind, 4);
    jitmake_put(m, 0, 4);
    jitmake_put(m, 100, 8);
}

void jitmake_finish(struct jitmake *m)
{
    size_t end = m->out.size;
    m->out.size = m->record + 4;
    jitmake_put(m, end - m->record, 4);
    m->out.size = end;
}

static void put_text(struct jitmake *m, const char *text)
{
    wndl_buf_add(&m->out, text, strlen(text) + 1);
}

void jitmake_load(struct jitmake *m, uint64_t start, uint64_t size,
    uint64_t index, const char *name)
{
    jitmake_begin(m, 0);
    jitmake_put(m, 1, 4);
    jitmake_put(m, 1, 4);
    jitmake_put(m, start, 8);
    jitmake_put(m, start, 8);
    jitmake_put(m, size, 8);
    jitmake_put(m, index, 8);
    put_text(m, name);
    for (uint64_t i = 0; i < size; i++)
        wndl_buf_byte(&m->out, 0x90);
    jitmake_finish(m);
}

void jitmake_move(
    struct jitmake *m, uint64_t start, uint64_t size, uint64_t index)
{
    jitmake_begin(m, 1);
    jitmake_put(m, 1, 4);
    jitmake_put(m, 1, 4);
    jitmake_put(m, start, 8);
    jitmake_put(m, 0, 8);
    jitmake_put(m, start, 8);
    jitmake_put(m, size, 8);
    jitmake_put(m, index, 8);
    jitmake_finish(m);
}

void jitmake_lines(struct jitmake *m, uint64_t start,
    const struct jitmake_line *lines, size_t count, unsigned padding)
{
    jitmake_begin(m, 2);
    jitmake_put(m, start, 8);
    jitmake_put(m, count, 8);
    for (size_t i = 0; i < count; i++) {
        jitmake_put(m, lines[i].address, 8);
        jitmake_put(m, lines[i].line, 4);
        jitmake_put(m, 5, 4);
        put_text(m, lines[i].file);
    }
    jitmake_put(m, 0, padding);
    jitmake_finish(m);
}
