/* SPDX-License-Identifier: MIT */
/*
 * tables_lookup: the unwind table of a binary beside other layouts of the same
 * rows.
 *
 *     tables_lookup sizes|speed OBJ
 *     tables_lookup misses OBJ TABLE
 *     tables_lookup lines|lines-kept TABLE
 *
 * sizes: bytes of each layout, and the entropy of the rows. speed: ns of a
 * lookup at random addresses, the best of 5 runs in turns and the worst. Both
 * verify every row first.
 * misses: asks an unwinder for rules at addresses that are new to it. The
 * table's module is where OBJ, a library with as many addresses, is loaded;
 * callgrind counts measured_miss().
 * lines: looks up random addresses with nothing of the table in the cache, or
 * (lines-kept) with its rules and dictionary. The read misses in
 * measured_find() of callgrind's cache of 256 KiB are the lines touched.
 * The last three read a table, because making one under callgrind takes long.
 */
#include "os/file.h"
#include "unwind/fast/cache.h"
#include "unwind/table/set.h"
#include "unwind_tables/table/rows.h"
#include "unwind_tables/table/table.h"

#include <dlfcn.h>
#include <elf.h>
#include <inttypes.h>
#include <link.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <windlass/unwind.h>

enum { QUERIES = 1 << 19, RUNS = 5, MISSES = 5000 };
enum { LOOKUPS = 2000, CACHE = 256 * 1024 };

static struct {
    struct wndl_file file;
    struct wndl_object *object;
    struct wndl_arena arena;
    struct wndl_table_source source;
    struct wndl_table_rows rows;
    struct wndl_buf bytes;
    struct wndl_table_stats stats;
    struct wndl_table table;
} of;

static uint64_t last_random = 1;

static uint64_t next_random(void)
{
    last_random =
        last_random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return last_random >> 24;
}

static bool prepare(const char *path)
{
    struct wndl_table_verdict verdict;
    wndl_arena_init(&of.arena, wndl_mem_libc());
    wndl_buf_init(&of.bytes, wndl_mem_libc());
    return wndl_file_open(path, &of.file, NULL) == WNDL_OK &&
           wndl_object_open(of.file.bytes, path, wndl_mem_libc(), &of.object,
               NULL) == WNDL_OK &&
           wndl_table_source_open(&of.source, of.object, &of.arena, NULL) ==
               WNDL_OK &&
           wndl_table_rows_read(&of.rows, &of.source, &of.arena, NULL) ==
               WNDL_OK &&
           wndl_table_build(of.object, &of.bytes, &of.stats, NULL) == WNDL_OK &&
           wndl_table_open((struct wndl_bytes){of.bytes.data, of.bytes.size},
               &of.table, NULL) == WNDL_OK &&
           wndl_table_verify(&of.table, of.object, &verdict, NULL) == WNDL_OK &&
           verdict.wrong == 0;
}

/* The table alone, of a file. */
static bool load_table(const char *path)
{
    return wndl_file_open(path, &of.file, NULL) == WNDL_OK &&
           wndl_table_open(of.file.bytes, &of.table, NULL) == WNDL_OK;
}

static uint64_t random_address(void)
{
    const uint64_t span = (uint64_t)of.table.block_count
                          << of.table.block_shift;
    return of.table.base + next_random() % span;
}

/* One that the table has a rule for. */
static uint64_t known_address(void)
{
    uint64_t svma;
    do
        svma = random_address();
    while (wndl_table_find(&of.table, svma) == 0);
    return svma;
}

/* ---- sizes */

static const struct wndl_table_run *run_at(size_t i)
{
    return wndl_vec_at(&of.rows.runs, i);
}

static uint32_t rule_at(size_t i)
{
    return *(uint32_t *)wndl_vec_at(&of.rows.rules, run_at(i)->rule);
}

/* Of a frame row entry of SFrame V2: its address, a byte, its offsets. */
static uint64_t sframe_row(uint32_t rule, uint64_t function_size)
{
    const uint64_t address = function_size < 256     ? 1
                             : function_size < 65536 ? 2
                                                     : 4;
    const bool is_a64 = of.table.machine == EM_AARCH64;
    const int64_t cfa = is_a64 ? 16 * (int64_t)(rule >> 12 & 0xfff)
                               : 8 * (int64_t)(rule & 0xffff);
    const int64_t slot =
        8 * (int64_t)(is_a64 ? rule & 0x3ff : rule >> 16 & 0xff);
    const uint64_t each = cfa < 128 && slot <= 128 ? 1 : cfa < 32768 ? 2 : 4;
    /* AArch64 has the slot of x30 too. */
    const uint64_t saved = slot == 0                         ? 0
                           : is_a64 && (rule >> 10 & 1) == 0 ? 2
                                                             : 1;
    return address + 1 + each * (1 + saved);
}

/* 28 bytes, 20 for each function, and its rows. */
static uint64_t sframe_size(void)
{
    uint64_t size = 28;
    const struct wndl_table_function *f = of.source.functions.data;
    size_t run = 0;
    for (size_t i = 0; i < of.source.functions.len; i++) {
        size += 20;
        while (run + 1 < of.rows.runs.len &&
               run_at(run + 1)->start + of.rows.base <= f[i].start)
            run++;
        for (size_t r = run;
             r < of.rows.runs.len && run_at(r)->start + of.rows.base < f[i].end;
             r++)
            size += sframe_row(rule_at(r), f[i].end - f[i].start);
    }
    return size;
}

/* 6 bytes of address, length and rule: a byte of length. */
static uint64_t seward_size(void)
{
    uint64_t records = 0;
    for (size_t i = 0; i + 1 < of.rows.runs.len; i++)
        records += (run_at(i + 1)->start - run_at(i)->start + 254) / 255;
    return 6 * records;
}

static uint64_t span(void)
{
    return run_at(of.rows.runs.len - 1)->start;
}

/* ---- entropy */

/* In bytes, of what occurs so often. */
static double entropy(const uint32_t *counts, size_t n)
{
    double all = 0, bits = 0;
    for (size_t i = 0; i < n; i++)
        all += counts[i];
    for (size_t i = 0; i < n; i++) {
        if (counts[i] != 0)
            bits += counts[i] * log2(all / counts[i]);
    }
    return bits / 8;
}

/* Lengths of 64 KiB and more are as one: they are few. */
static bool print_entropy(void)
{
    enum { LENGTHS = 1 << 16 };
    uint32_t *lengths = wndl_arena_calloc(&of.arena, LENGTHS, sizeof *lengths);
    if (lengths == NULL)
        return false;
    for (size_t i = 0; i + 1 < of.rows.runs.len; i++) {
        const uint32_t length = run_at(i + 1)->start - run_at(i)->start;
        lengths[length < LENGTHS ? length : LENGTHS - 1]++;
    }
    printf("entropy, of order 0: lengths %.0f bytes, rules %.0f\n",
        entropy(lengths, LENGTHS),
        entropy(of.rows.counts.data, of.rows.counts.len));
    return true;
}

static bool print_sizes(void)
{
    const uint64_t deltas = 4 * of.rows.runs.len + 24 * (span() / 65536 + 1);
    const struct {
        const char *name;
        uint64_t size;
    } all[] = {
        {".eh_frame and header", of.stats.source_size},
        {"SFrame V2", sframe_size()},
        {"6 bytes a record", 6 * of.rows.runs.len},
        {"the same, a byte of length", seward_size()},
        {"4-byte stack deltas", deltas},
        {"unwind table", of.bytes.size},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        printf("%-28s %10" PRIu64 " bytes %6.3f %6.2f per row %6.2f per "
               "function\n",
            all[i].name, all[i].size,
            (double)all[i].size / (double)of.stats.source_size,
            (double)all[i].size / (double)of.stats.rows,
            (double)all[i].size / (double)of.stats.functions);
    printf("%" PRIu64 " functions, %" PRIu64 " rows, all verified\n",
        (uint64_t)of.stats.functions, (uint64_t)of.stats.rows);
    return print_entropy();
}

/* ---- speed */

/* Rows of 4 bytes, in pages of 64 KiB: as in eBPF profilers. */
static struct {
    uint32_t *pages;
    struct {
        uint16_t low, rule;
    } * rows;
} deltas;

static bool make_deltas(void)
{
    const size_t pages = (size_t)(span() >> 16) + 1;
    deltas.pages = wndl_arena_calloc(&of.arena, pages + 1, sizeof(uint32_t));
    deltas.rows =
        wndl_arena_calloc(&of.arena, of.rows.runs.len, sizeof *deltas.rows);
    if (deltas.pages == NULL || deltas.rows == NULL)
        return false;
    for (size_t i = 0, page = 0; i < of.rows.runs.len; i++) {
        while (page <= run_at(i)->start >> 16)
            deltas.pages[page++] = (uint32_t)i;
        deltas.pages[pages] = (uint32_t)of.rows.runs.len;
        deltas.rows[i].low = (uint16_t)run_at(i)->start;
        deltas.rows[i].rule = (uint16_t)run_at(i)->rule;
    }
    return true;
}

static uint32_t find_delta(uint64_t svma)
{
    const uint64_t offset = svma - of.rows.base;
    uint32_t low = deltas.pages[offset >> 16];
    uint32_t high = deltas.pages[(offset >> 16) + 1];
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (deltas.rows[middle].low <= (uint16_t)offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? 0 : deltas.rows[low - 1].rule;
}

static uint32_t find_table(uint64_t svma)
{
    return wndl_table_find(&of.table, svma);
}

static uint32_t find_popcnt(uint64_t svma)
{
    return wndl_table_find_by(&of.table, svma, WNDL_TABLE_POPCNT);
}

static uint32_t find_portable(uint64_t svma)
{
    return wndl_table_find_by(&of.table, svma, WNDL_TABLE_ANY_CPU);
}

static volatile uint32_t sink;

static double ns_of(uint32_t (*find)(uint64_t), const uint64_t *addresses)
{
    struct timespec before, after;
    uint32_t sum = 0;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    for (unsigned i = 0; i < QUERIES; i++)
        sum += find(addresses[i]);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    sink = sum;
    return ((double)(after.tv_sec - before.tv_sec) * 1e9 +
               (double)(after.tv_nsec - before.tv_nsec)) /
           QUERIES;
}

static bool print_speed(void)
{
    static uint32_t (*const finds[])(uint64_t) = {
        find_delta, find_table, find_popcnt, find_portable};
    static const char *const names[] = {"4-byte rows, binary search",
        "unwind table", "unwind table without BMI2",
        "unwind table without popcnt"};
    enum { FINDS = sizeof finds / sizeof finds[0] };
    double best[FINDS] = {1e9, 1e9, 1e9, 1e9}, worst[FINDS] = {0};
    uint64_t *addresses =
        wndl_arena_calloc(&of.arena, QUERIES, sizeof *addresses);
    if (addresses == NULL || !make_deltas())
        return false;
    for (unsigned i = 0; i < QUERIES; i++)
        addresses[i] = of.rows.base + next_random() % span();
    for (unsigned run = 0; run < RUNS; run++)
        for (unsigned i = 0; i < FINDS; i++) {
            const double ns = ns_of(finds[i], addresses);
            best[i] = ns < best[i] ? ns : best[i];
            worst[i] = ns > worst[i] ? ns : worst[i];
        }
    for (unsigned i = 0; i < FINDS; i++)
        printf("%-28s %6.1f ns (to %.1f), %.2f times as fast\n", names[i],
            best[i], worst[i], best[0] / best[i]);
    return true;
}

/* ---- misses */

static uint64_t library_start;

static const struct wndl_table *load(const struct wndl_dlmodule *module)
{
    return module->map_start == library_start ? &of.table : NULL;
}

uint8_t measured_miss(struct wndl_unwinder *u, uint64_t pc);

__attribute__((noinline, used)) uint8_t measured_miss(
    struct wndl_unwinder *u, uint64_t pc)
{
    return wndl_cache_find(u, pc, wndl_cache_generation(u)).rule.kind;
}

static bool print_misses(const char *library)
{
    struct link_map *map = NULL;
    struct wndl_dlmodule module;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    void *memory = aligned_alloc(64, (wndl_unwinder_size() + 63) & ~63ul);
    if (handle == NULL || memory == NULL ||
        dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 ||
        !wndl_dlfind(map->l_addr + random_address(), &module))
        return false;
    memset(memory, 0, wndl_unwinder_size());
    struct wndl_unwinder *u = wndl_unwinder_init(memory);
    library_start = module.map_start;
    wndl_table_set_init(load);
    unsigned found = 0;
    for (unsigned i = 0; i < MISSES; i++)
        found +=
            measured_miss(u, map->l_addr + known_address()) < WNDL_ENTRY_NO_FDE;
    printf("%u %u\n", MISSES, found);
    return true;
}

/* ---- cache lines */

void measured_find(uint64_t svma);

__attribute__((noinline, used)) void measured_find(uint64_t svma)
{
    sink = wndl_table_find(&of.table, svma);
}

static void touch(const void *start, size_t size)
{
    const volatile uint8_t *bytes = start;
    for (size_t at = 0; at < size; at += 16)
        (void)bytes[at];
}

static void print_lines(bool kept)
{
    static uint8_t others[2 * CACHE];
    const struct wndl_table *t = &of.table;
    for (unsigned i = 0; i < LOOKUPS; i++) {
        const uint64_t svma = random_address();
        touch(others, sizeof others);
        touch(t, sizeof *t);
        if (kept)
            touch(t->dict, (size_t)(t->rows - t->dict));
        measured_find(svma);
    }
    printf("%u\n", LOOKUPS);
}

int main(int argc, char **argv)
{
    const bool measures_file = argc == 3 && (strcmp(argv[1], "sizes") == 0 ||
                                                strcmp(argv[1], "speed") == 0);
    if (argc != 3 && argc != 4)
        return 1;
    if (!(measures_file ? prepare(argv[2]) : load_table(argv[argc - 1])))
        return 1;
    if (strcmp(argv[1], "sizes") == 0)
        return !print_sizes();
    if (strcmp(argv[1], "speed") == 0)
        return !print_speed();
    else if (strncmp(argv[1], "lines", 5) == 0)
        print_lines(argv[1][5] != '\0');
    else
        return !print_misses(argv[2]);
    return 0;
}
