/* SPDX-License-Identifier: MIT */
#include "collect/code/made_tables.h"

#include "cfi_import/elf/frames.h"
#include "cfi_import/open.h"
#include "collect/code/binaries.h"
#include "unwind_tables/table/table.h"

#include <elf.h>
#include <string.h>

/* A process waits meanwhile: about a second for so much on this machine. */
enum { DEBUG_FRAME_MAX = 128 * 1024 * 1024 };

/* ---- making */

/* Whether .debug_frame has rules for code that .eh_frame leaves out. */
static bool adds_rules(struct wndl_object *object)
{
    struct wndl_arena arena;
    struct wndl_cfi_source cfi;
    wndl_arena_init(&arena, wndl_mem_libc());
    const bool adds =
        wndl_cfi_source_open(&cfi, object, &arena, NULL) == WNDL_OK &&
        (cfi.more != NULL ? cfi.origins.len != 0 : cfi.frame.debug_frame);
    wndl_arena_free(&arena);
    return adds;
}

/* 32-bit Arm has its index for all of its code. */
static bool is_wanted(struct wndl_object *object, const char *const *dirs)
{
    struct wndl_bytes bytes;
    return wndl_object_machine(object) != EM_ARM &&
           wndl_elf_cfi_add_debug_file(object, dirs, wndl_mem_libc()) ==
               WNDL_OK &&
           wndl_object_has_section(object, ".debug_frame") &&
           wndl_object_section_bytes(
               object, ".debug_frame", &bytes, NULL, NULL) == WNDL_OK &&
           bytes.size <= DEBUG_FRAME_MAX && adds_rules(object);
}

struct wndl_bytes wndl_made_table_of(struct wndl_object *object,
    const char *const *dirs, struct wndl_arena *arena)
{
    struct wndl_table_stats stats;
    struct wndl_buf table;
    struct wndl_bytes copy = {0};
    if (!is_wanted(object, dirs))
        return copy;
    wndl_buf_init(&table, wndl_mem_libc());
    if (wndl_table_build(object, &table, &stats, NULL) == WNDL_OK)
        copy.data =
            (const uint8_t *)wndl_arena_copy(arena, table.data, table.size);
    copy.size = copy.data == NULL ? 0 : table.size;
    wndl_buf_free(&table);
    return copy;
}

/* ---- giving */

/* A binary that gets a larger table later gets another row. */
static bool has_it(const struct wndl_made_tables *given,
    const struct wndl_binary *binary, uint64_t bias)
{
    for (uint32_t i = 0; i < given->count; i++) {
        if (given->all[i].table == binary->made_table.data &&
            given->all[i].bias == bias)
            return true;
    }
    return false;
}

static void give(struct wndl_made_tables *given, struct wndl_shm *shm,
    const struct wndl_binary *binary, uint64_t bias)
{
    const struct wndl_bytes table = binary->made_table;
    const uint64_t room =
        (table.size + WNDL_TABLE_ALIGN - 1) & ~(uint64_t)(WNDL_TABLE_ALIGN - 1);
    if (has_it(given, binary, bias) || given->count == WNDL_SHM_MADE ||
        room > WNDL_SHM_MADE_BYTES - given->bytes)
        return;
    memcpy(shm->made_bytes + given->bytes, table.data, table.size);
    shm->made[given->count] = (struct wndl_shm_made){
        .start = binary->start + bias,
        .end = binary->end + bias,
        .bias = bias,
        .offset = given->bytes,
        .size = (uint32_t)table.size,
    };
    given->all[given->count].table = table.data;
    given->all[given->count].bias = bias;
    given->bytes += (uint32_t)room;
    given->count++;
    atomic_store_explicit(&shm->made_count, given->count, memory_order_release);
}

void wndl_made_tables_give(struct wndl_made_tables *given, struct wndl_shm *shm,
    const struct wndl_made_for *code)
{
    for (size_t i = 0; i < code->count; i++) {
        if (code->binaries[i]->made_table.size != 0)
            give(given, shm, code->binaries[i], code->modules[i].bias);
    }
}
