/* SPDX-License-Identifier: MIT */
/*
 * open: reads the header of a table, and chooses the processor's kernels for
 * look-ups.
 */
#include "unwind/table/table.h"

#include <elf.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
    "tables are used as they are in the file");

static enum wndl_status fail(
    struct wndl_error *err, enum wndl_status status, const char *what)
{
    if (err != NULL) {
        err->status = status;
        err->section[0] = '\0';
        err->sys_errno = 0;
        err->offset = 0;
        __builtin_memcpy(err->what, what, __builtin_strlen(what) + 1);
    }
    return status;
}

/* ---- the header */

#if defined(__x86_64__)
/*
 * AMD's processors before Zen 3 have it in microcode, which takes some hundred
 * cycles.
 */
static bool has_fast_pdep(void)
{
    unsigned a, b, c, d;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (b >> 3 & 1) == 0 ||
        (b >> 8 & 1) == 0 || __get_cpuid(0x80000001, &a, &b, &c, &d) == 0 ||
        (c & bit_LZCNT) == 0 || __get_cpuid(0, &a, &b, &c, &d) == 0)
        return false;
    const bool is_intel = b == signature_INTEL_ebx;
    const unsigned family = __get_cpuid(1, &a, &b, &c, &d) == 0 ? 0 : a >> 8;
    return is_intel || (family & 0xf) != 0xf || (family >> 12 & 0xff) >= 10;
}

static enum wndl_table_cpu this_cpu(void)
{
    unsigned a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c >> 23 & 1) == 0)
        return WNDL_TABLE_ANY_CPU;
    return has_fast_pdep() ? WNDL_TABLE_PDEP : WNDL_TABLE_POPCNT;
}
#else
static enum wndl_table_cpu this_cpu(void)
{
    return WNDL_TABLE_ANY_CPU;
}
#endif

static size_t index_size(uint32_t blocks)
{
    return ((size_t)blocks + WNDL_TABLE_LINE_BLOCKS - 1) /
           WNDL_TABLE_LINE_BLOCKS * WNDL_TABLE_LINE;
}

/*
 * Everything is after the header without gaps, so that its sizes give all
 * places, and the size of the file.
 */
static uint64_t size_of_all(const struct wndl_table *t)
{
    return WNDL_TABLE_HEADER + (uint64_t)index_size(t->block_count) +
           t->dict_size + (uint64_t)t->rule_count * sizeof(uint32_t) +
           t->rows_size + t->records_size + WNDL_TABLE_TAIL;
}

static void lay_out(struct wndl_table *t)
{
    t->index = t->bytes.data + WNDL_TABLE_HEADER;
    t->dict = t->index + index_size(t->block_count);
    t->rules = t->dict + t->dict_size;
    t->rows = t->rules + (size_t)t->rule_count * sizeof(uint32_t);
    t->records = t->rows + t->rows_size;
    t->records_end = t->records + t->records_size;
}

/* Reads the header in order. Returns the size that the file should have. */
static uint32_t read_header(struct wndl_cursor *c, struct wndl_table *t)
{
    t->machine = wndl_cursor_u16(c);
    t->is_a64 = t->machine == EM_AARCH64;
    t->block_shift = wndl_cursor_u8(c);
    t->record_shift = wndl_cursor_u8(c);
    uint8_t id_size = wndl_cursor_u8(c);
    wndl_cursor_skip(c, 1);
    uint32_t size = wndl_cursor_u32(c);
    t->base = wndl_cursor_u64(c);
    t->block_count = wndl_cursor_u32(c);
    t->rule_count = wndl_cursor_u32(c);
    t->hot_less[0] = wndl_cursor_u16(c);
    for (unsigned i = 1; i < WNDL_TABLE_HOT_CLASSES - 1; i++)
        t->hot_less[i] = t->hot_less[i - 1] + wndl_cursor_u16(c);
    t->dict_size = wndl_cursor_u32(c);
    t->rows_size = wndl_cursor_u32(c);
    t->records_size = wndl_cursor_u32(c);
    t->row_count = wndl_cursor_u32(c);
    t->function_count = wndl_cursor_u32(c);
    t->build_id = wndl_bytes_slice(
        t->bytes, wndl_cursor_offset(c), WNDL_TABLE_BUILD_ID_MAX);
    if (id_size > t->build_id.size)
        wndl_cursor_fail(c);
    t->build_id.size = id_size;
    return size;
}

/* Rule 0 must be that of no information: lookups use it for bad bytes. */
static bool is_sane(const struct wndl_table *t)
{
    if (t->block_shift < WNDL_TABLE_BLOCK_MIN ||
        t->block_shift > WNDL_TABLE_BLOCK_MAX)
        return false;
    const uint64_t span = (uint64_t)t->block_count << t->block_shift;
    return t->record_shift <= WNDL_TABLE_RECORD_SHIFT_MAX &&
           t->rule_count != 0 && t->rule_count <= WNDL_TABLE_RULES_MAX &&
           t->dict_size <= WNDL_TABLE_DICT_MAX && t->dict_size % 2 == 0 &&
           t->base <= UINT64_MAX - span;
}

enum wndl_status wndl_table_open_head(struct wndl_bytes head,
    uint64_t file_size, struct wndl_table *table, struct wndl_error *err)
{
    struct wndl_cursor c = wndl_cursor_at(head, 0, false);
    const uint8_t *magic = wndl_cursor_take(&c, 8);
    *table = (struct wndl_table){.bytes = head};
    if (magic == NULL || head.size < WNDL_TABLE_HEADER)
        return fail(err, WNDL_TRUNCATED, "too short for an unwind table");
    if (__builtin_memcmp(magic, WNDL_TABLE_MAGIC, 8) != 0)
        return fail(err, WNDL_MALFORMED, "not an unwind table");
    table->crc = wndl_cursor_u32(&c);
    if (wndl_cursor_u16(&c) != WNDL_TABLE_VERSION)
        return fail(err, WNDL_UNSUPPORTED,
            "unsupported unwind table version (expected 2)");
    uint32_t size = read_header(&c, table);
    if (size > file_size)
        return fail(err, WNDL_TRUNCATED, "an unwind table cut short");
    if (c.failed || size != file_size || !is_sane(table) ||
        size_of_all(table) != size)
        return fail(
            err, WNDL_MALFORMED, "an unwind table with a damaged header");
    return WNDL_OK;
}

enum wndl_status wndl_table_open(
    struct wndl_bytes bytes, struct wndl_table *table, struct wndl_error *err)
{
    enum wndl_status status =
        wndl_table_open_head(bytes, bytes.size, table, err);
    if (status != WNDL_OK)
        return status;
    lay_out(table);
    table->in_block = (1u << table->block_shift) - 1;
    table->buckets = (uint8_t)(1u << (table->block_shift - WNDL_TABLE_BUCKET));
    table->cpu = this_cpu();
    return WNDL_OK;
}

enum wndl_status wndl_table_is_for(const struct wndl_table *table,
    uint16_t machine, struct wndl_bytes build_id, struct wndl_error *err)
{
    if (table->machine != machine)
        return fail(err, WNDL_MALFORMED, "an unwind table for another machine");
    if (!wndl_bytes_equal(table->build_id, build_id))
        return fail(err, WNDL_MALFORMED,
            "an unwind table for another binary, by its build-id");
    return WNDL_OK;
}
