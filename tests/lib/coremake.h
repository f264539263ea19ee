/* SPDX-License-Identifier: MIT */
/* coremake: small core files of little-endian machines, made for a test. */
#ifndef WNDL_COREMAKE_H
#define WNDL_COREMAKE_H

#include "base/buf.h"

/* A segment of memory; what is after `data` was left out. */
struct made_memory {
    uint64_t addr, mem_size;
    uint32_t flags; /* PF_* */
    struct wndl_bytes data;
};

/* With `extended` the number of segments is in section header 0, at the end. */
struct core_recipe {
    uint16_t machine; /* EM_* */
    const struct wndl_buf *notes;
    const struct made_memory *memory;
    size_t memory_count;
    bool extended;
};

/* The file, in memory of malloc that the caller frees. */
struct wndl_bytes make_core(const struct core_recipe *recipe);

/* Bytes of an address. */
unsigned core_word(uint16_t machine);

/* A note of the owner CORE, or of another. */
void put_note_of(struct wndl_buf *notes, const char *owner, uint32_t type,
    struct wndl_bytes desc);

/* A thread. Registers that are not named are 0; `call` -1: in no call. */
struct made_thread {
    uint32_t tid;
    uint16_t signal;
    uint64_t ip, sp, fp;
    int64_t call;
};
void put_thread(
    struct wndl_buf *notes, uint16_t machine, const struct made_thread *thread);

void put_process(struct wndl_buf *notes, uint16_t machine, uint32_t pid,
    const char *name, const char *command);

/* `first`: the address, or the sender; `second`: the user. */
struct made_signal {
    int32_t number, code;
    uint64_t first;
    uint32_t second;
};
void put_signal(
    struct wndl_buf *notes, uint16_t machine, const struct made_signal *signal);

void put_auxiliary(
    struct wndl_buf *notes, uint16_t machine, uint64_t type, uint64_t value);

/* A mapped file; `page` is the offset in pages. */
struct made_file {
    uint64_t start, end, page;
    const char *path;
};
void put_files(struct wndl_buf *notes, uint16_t machine,
    const struct made_file *files, size_t count);

#endif
