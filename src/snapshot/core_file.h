/* SPDX-License-Identifier: MIT */
/*
 * core_file: the headers of a core file (core(5): ELF, ET_CORE): its segments
 * of memory, and the places of its notes. Machines are little-endian. It must
 * not know what notes say.
 */
#ifndef WNDL_SNAPSHOT_CORE_FILE_H
#define WNDL_SNAPSHOT_CORE_FILE_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/vec.h"

/* An ELF header of either class. `word` is 4 or 8 bytes. */
struct wndl_core_elf {
    uint16_t type, machine; /* ET_*, EM_* */
    uint8_t word;
    uint64_t headers, sections; /* offsets of the tables */
    uint16_t header_size, section_size;
    uint32_t header_count; /* PN_XNUM: section header 0 has it */
};

/* A program header of either class. */
struct wndl_core_header {
    uint32_t type, flags; /* PT_*, PF_* */
    uint64_t offset, address, file_size, mem_size, alignment;
};

/* A segment of memory (PT_LOAD). Invariant: start < end. */
struct wndl_core_segment {
    uint64_t start, end;   /* avma */
    uint64_t offset, size; /* in the file; memory after `size` was left out */
    bool is_writable, is_executable;
};

/* Bytes of the file. */
struct wndl_core_part {
    uint64_t offset, size;
};

/* A core file. It borrows its bytes, and lives in the arena. */
struct wndl_core_file {
    struct wndl_bytes bytes;
    uint16_t machine;         /* EM_* */
    uint8_t word;             /* bytes of an address */
    struct wndl_vec segments; /* struct wndl_core_segment, by start */
    struct wndl_vec notes;    /* struct wndl_core_part */
};

/* False: no ELF file of a little-endian machine, or cut off. */
bool wndl_core_elf_read(struct wndl_core_elf *elf, struct wndl_bytes bytes);

/* Reads program header `index`. False: it is not within the bytes. */
bool wndl_core_header_read(const struct wndl_core_elf *elf,
    struct wndl_bytes bytes, uint64_t index, struct wndl_core_header *header);

/*
 * The size of the file by its headers, of which `head` has the first bytes.
 * TRUNCATED: more of them are needed. UNSUPPORTED, MALFORMED: as below.
 */
enum wndl_status wndl_core_extent(struct wndl_bytes head, uint64_t *size,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Reads the headers. UNSUPPORTED: no core file, or of a machine that is not
 * known; MALFORMED, TRUNCATED, NOMEM. A loss, such as the end of a file that
 * was cut short, is in *damage, if that has none yet.
 */
enum wndl_status wndl_core_file_read(struct wndl_core_file *core,
    struct wndl_arena *arena, struct wndl_bytes bytes,
    struct wndl_error *damage, struct wndl_error *err) WNDL_MUST_USE;

/* The segment that covers `address`; NULL: none. */
const struct wndl_core_segment *wndl_core_segment_at(
    const struct wndl_core_file *core, uint64_t address);

/* The memory from `address` on that the file has of its segment; or empty. */
struct wndl_bytes wndl_core_bytes_at(
    const struct wndl_core_file *core, uint64_t address);

#endif
