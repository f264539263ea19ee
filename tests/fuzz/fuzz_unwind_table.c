/* SPDX-License-Identifier: MIT */
/*
 * fuzz_unwind_table: any bytes as an unwind table, its magic, version and size
 * mended so that what is behind those is reached. Both ways of looking up have
 * to agree, and each answer be a row or a refusal.
 */
#include "unwind/table/table.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 16, LOOKUPS = 200 };

static void mend(uint8_t *bytes, size_t size)
{
    const uint32_t told = (uint32_t)size;
    memcpy(bytes, WNDL_TABLE_MAGIC, 8);
    bytes[12] = WNDL_TABLE_VERSION;
    bytes[13] = 0;
    memcpy(bytes + 20, &told, sizeof told);
}

static void look_up(const struct wndl_table *table)
{
    const uint64_t span = ((uint64_t)table->block_count << table->block_shift);
    const uint64_t step = span / LOOKUPS + 1;
    for (uint64_t at = 0; at < span + step; at += step) {
        struct wndl_cfi_row row;
        const uint32_t rule = wndl_table_find(table, table->base + at);
        for (enum wndl_table_cpu cpu = WNDL_TABLE_ANY_CPU; cpu < table->cpu;
             cpu++)
            if (rule != wndl_table_find_by(table, table->base + at, cpu))
                abort();
        (void)!!wndl_table_row(table, &wndl_arch_aarch64, rule, &row);
        if (wndl_table_row(table, WNDL_ARCH_HERE, rule, &row) == WNDL_OK)
            (void)wndl_table_step_rule(table, rule, at);
    }
    for (uint32_t b = 0; b < table->block_count && b < LOOKUPS; b++)
        (void)wndl_table_block_is_uniform(table, b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_table table;
    void *bytes = NULL;
    if (size < 24 || size > MOST ||
        posix_memalign(&bytes, WNDL_TABLE_ALIGN, size) != 0)
        return 0;
    memcpy(bytes, data, size);
    mend(bytes, size);
    if (wndl_table_open((struct wndl_bytes){bytes, size}, &table, NULL) ==
        WNDL_OK)
        look_up(&table);
    free(bytes);
    return 0;
}
