/* SPDX-License-Identifier: MIT */
/*
 * Unwind tables: what is built is held against the binary's rows, also where
 * every limit of the format is passed; what is damaged is refused by name, or
 * looked up in without harm.
 */
#include "elfmake.h"
#include "os/file.h"
#include "testlib.h"
#include "unwind/table/set.h"
#include "unwind_tables/table/table.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 0x10000, VERSION_AT = 12, MACHINE_AT = 14, SIZE_AT = 20 };

static const uint8_t build_id[20] = {1, 2, 3, 4, 5};

/* ---- binaries to make tables of */

static uint32_t seed;

static uint32_t next_random(void)
{
    seed = seed * 1664525 + 1013904223;
    return seed >> 8;
}

static void put_cie(struct wndl_buf *out)
{
    static const uint8_t cie[] = {20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16,
        0x0c, 7, 8, 0x90, 1, 0, 0, 0, 0, 0, 0};
    wndl_buf_add(out, cie, sizeof cie);
}

static size_t begin_fde(struct wndl_buf *out, uint64_t start, uint64_t size)
{
    const size_t at = out->size;
    wndl_buf_u32le(out, 0);
    wndl_buf_u32le(out, (uint32_t)at + 4);
    wndl_buf_u64le(out, start);
    wndl_buf_u64le(out, size);
    return at;
}

static void end_fde(struct wndl_buf *out, size_t at)
{
    const uint32_t size = (uint32_t)(out->size - at - 4);
    memcpy(out->data + at, &size, sizeof size);
}

static void put_advance(struct wndl_buf *out, uint32_t by)
{
    wndl_buf_byte(out, 0x04);
    wndl_buf_u32le(out, by);
}

static void put_def_cfa(struct wndl_buf *out, uint8_t reg, uint32_t offset)
{
    wndl_buf_byte(out, 0x0c);
    wndl_buf_byte(out, reg);
    wndl_buf_uleb(out, offset);
}

/* A row for each byte, by one of `kinds` offsets from either register. */
static void put_rows(struct wndl_buf *out, unsigned size, unsigned kinds)
{
    const size_t fde = begin_fde(out, TEXT, size);
    for (unsigned i = 0; i < size; i++) {
        put_def_cfa(out, (next_random() & 1) != 0 ? 6 : 7,
            8 * (1 + next_random() % kinds));
        wndl_buf_byte(out, 0x41);
    }
    end_fde(out, fde);
}

/* Hardly two are alike: no phrase occurs twice. */
static void put_dense(struct wndl_buf *out)
{
    put_rows(out, 200000, 65535);
}

/* All occur often, and hardly two of them together: each is a phrase. */
static void put_many_starts(struct wndl_buf *out)
{
    put_rows(out, 60000, 1500);
}

/* Few rows, but no two of them near enough for a phrase. */
static void put_sparse(struct wndl_buf *out)
{
    for (unsigned i = 0; i < 2000; i++) {
        const size_t fde = begin_fde(out, TEXT + UINT64_C(600) * i, 600);
        put_advance(out, 300);
        put_def_cfa(out, 7, 16 + 8 * (next_random() % 100));
        end_fde(out, fde);
    }
}

/* Of the first rows of functions. */
static uint32_t first_cfa = 16;

/* Functions with holes of all sizes between them, and rows in full. */
static void put_functions(struct wndl_buf *out)
{
    uint64_t at = TEXT;
    for (unsigned i = 0; i < 2000; i++) {
        const uint32_t size = 1 + next_random() % 300;
        const size_t fde = begin_fde(out, at, size);
        put_advance(out, 1 + next_random() % 40);
        put_def_cfa(out, 7, first_cfa);
        wndl_buf_add(out, (uint8_t[]){0x86, 2}, 2); /* RBP at CFA-16 */
        put_advance(out, 1 + next_random() % 40);
        if (i % 50 == 0)
            put_def_cfa(out, 10, 16 + i); /* by R10 */
        else
            put_def_cfa(out, 6, 16);
        if (i % 70 == 0)
            wndl_buf_add(out, (uint8_t[]){0x07, 16}, 2); /* RA undefined */
        end_fde(out, fde);
        at += size + (i % 3 == 0 ? next_random() % 40 : 0) +
              (i % 500 == 499 ? 100000 : 0);
    }
}

struct made {
    struct wndl_bytes file;
    struct wndl_object *object;
};

static struct made make(void (*put_frame)(struct wndl_buf *), uint16_t machine)
{
    struct wndl_buf frame, note;
    struct made made;
    wndl_buf_init(&frame, wndl_mem_libc());
    wndl_buf_init(&note, wndl_mem_libc());
    seed = 1;
    put_cie(&frame);
    put_frame(&frame);
    wndl_buf_u32le(&frame, 0);
    struct elf_recipe recipe = {
        .is_64 = true, .type = ET_DYN, .machine = machine};
    put_build_id(&note, &recipe, build_id, sizeof build_id);
    const struct made_section sections[] = {
        {.name = ".eh_frame",
            .type = SHT_PROGBITS,
            .flags = SHF_ALLOC,
            .addr = 0x1000,
            .data = bytes_of(&frame)},
        {.name = ".note.gnu.build-id",
            .type = SHT_NOTE,
            .flags = SHF_ALLOC,
            .data = bytes_of(&note)},
    };
    const struct made_segment segments[] = {
        {.type = PT_LOAD,
            .flags = PF_R | PF_X,
            .addr = TEXT,
            .mem_size = 16 * 1024 * 1024,
            .alignment = 4096},
    };
    recipe.sections = sections;
    recipe.section_count = 2;
    recipe.segments = segments;
    recipe.segment_count = 1;
    made.file = make_elf(&recipe);
    assert_int_equal(wndl_object_open(made.file, "made", wndl_mem_libc(),
                         &made.object, NULL),
        WNDL_OK);
    wndl_buf_free(&frame);
    wndl_buf_free(&note);
    return made;
}

static void unmake(struct made *made)
{
    wndl_object_close(made->object);
    free((void *)made->file.data);
}

/* Memory of exactly that size: what is read beyond it, sanitizers see. */
static uint8_t *exact(const uint8_t *bytes, size_t size)
{
    void *copy = NULL;
    assert_int_equal(
        posix_memalign(&copy, WNDL_TABLE_ALIGN, size == 0 ? 1 : size), 0);
    memcpy(copy, bytes, size);
    return copy;
}

static struct wndl_buf build(
    struct wndl_object *object, struct wndl_table_stats *stats)
{
    struct wndl_buf out;
    wndl_buf_init(&out, wndl_mem_libc());
    assert_int_equal(wndl_table_build(object, &out, stats, NULL), WNDL_OK);
    return out;
}

/* Builds and verifies; the table's bytes are the caller's to free. */
static uint8_t *check(struct wndl_object *object, size_t *size,
    struct wndl_table_stats *stats, struct wndl_table *table)
{
    struct wndl_table_verdict verdict;
    struct wndl_buf out = build(object, stats);
    uint8_t *bytes = exact(out.data, out.size);
    *size = out.size;
    assert_int_equal(
        wndl_table_open((struct wndl_bytes){bytes, out.size}, table, NULL),
        WNDL_OK);
    wndl_buf_free(&out);
    assert_int_equal(wndl_table_verify(table, object, &verdict, NULL), WNDL_OK);
    assert_true(verdict.rows > 0 && verdict.looked_up >= 3 * verdict.rows);
    assert_int_equal(verdict.wrong, 0);
    return bytes;
}

/* A binary that was made, and its table. */
struct checked {
    struct made made;
    struct wndl_table table;
    struct wndl_table_stats stats;
    uint8_t *bytes;
};

static struct checked make_checked(void (*put_frame)(struct wndl_buf *))
{
    size_t size;
    struct checked c = {.made = make(put_frame, EM_X86_64)};
    c.bytes = check(c.made.object, &size, &c.stats, &c.table);
    return c;
}

static void unmake_checked(struct checked *c)
{
    free(c->bytes);
    unmake(&c->made);
}

static void functions_and_holes_are_told_apart(void **state)
{
    (void)state;
    struct checked c = make_checked(put_functions);
    assert_int_equal(c.stats.functions, 2000);
    assert_int_equal(c.stats.lost, 0);
    assert_int_equal(c.stats.plain_blocks, 0);
    assert_true(c.stats.uniform_blocks > 0);
    assert_int_equal(wndl_table_find(&c.table, TEXT - 1), 0);
    assert_int_equal(wndl_table_find(&c.table, UINT64_MAX), 0);
    assert_int_equal(
        wndl_table_find(&c.table, TEXT), wndl_table_rule(WNDL_TABLE_SP, 0, 1));
    unmake_checked(&c);
}

static void more_rules_than_numbers_are_written_out(void **state)
{
    (void)state;
    struct checked c = make_checked(put_dense);
    assert_true(c.table.rule_count > 65536);
    assert_true(c.stats.plain_blocks > 50);
    assert_true(c.table.record_shift > 0);
    unmake_checked(&c);
}

static void more_starts_than_a_byte_counts_are_written_out(void **state)
{
    (void)state;
    struct checked c = make_checked(put_many_starts);
    assert_in_range(c.stats.phrases, c.table.rule_count - 1, 20000);
    assert_true(c.stats.plain_blocks > 20);
    unmake_checked(&c);
}

/* 16 KiB would have 55 rows, in 150 bytes and more. */
static void large_records_make_blocks_smaller(void **state)
{
    (void)state;
    struct checked c = make_checked(put_sparse);
    const uint32_t records =
        c.table.block_count - (uint32_t)c.stats.uniform_blocks;
    assert_int_equal(c.table.block_shift, 13);
    assert_true(c.table.records_size <= records * 96);
    unmake_checked(&c);
}

/* ---- a real library */

struct libc {
    struct wndl_file file;
    struct wndl_object *object;
    uint8_t *bytes;
    size_t size;
    struct wndl_table table;
    struct wndl_table_stats stats;
};

static int open_libc(void **state)
{
    static struct libc libc;
    Dl_info info;
    assert_int_not_equal(dladdr(dlsym(RTLD_DEFAULT, "fopen"), &info), 0);
    assert_int_equal(wndl_file_open(info.dli_fname, &libc.file, NULL), WNDL_OK);
    assert_int_equal(wndl_object_open(libc.file.bytes, info.dli_fname,
                         wndl_mem_libc(), &libc.object, NULL),
        WNDL_OK);
    libc.bytes = check(libc.object, &libc.size, &libc.stats, &libc.table);
    *state = &libc;
    return 0;
}

static int close_libc(void **state)
{
    struct libc *libc = *state;
    wndl_object_close(libc->object);
    wndl_file_close(&libc->file);
    free(libc->bytes);
    return 0;
}

static void libc_takes_a_fifth(void **state)
{
    const struct libc *libc = *state;
    assert_true(libc->stats.functions > 1000);
    assert_true(libc->size * 5 < libc->stats.source_size);
}

static enum wndl_status open_bytes(
    uint8_t *bytes, size_t size, struct wndl_error *err)
{
    struct wndl_table table;
    return wndl_table_open((struct wndl_bytes){bytes, size}, &table, err);
}

static void expect_refusal(uint8_t *bytes, size_t size, const char *why)
{
    struct wndl_error err = {0};
    assert_int_not_equal(open_bytes(bytes, size, &err), WNDL_OK);
    if (strstr(err.what, why) == NULL)
        fail_msg("'%s' does not say '%s'", err.what, why);
}

/* Of a binary with the same build-id whose rows differ. */
static void wrong_rows_are_counted(void **state)
{
    (void)state;
    struct checked c = make_checked(put_functions);
    struct wndl_table_verdict verdict;
    first_cfa = 24;
    struct made other = make(put_functions, EM_X86_64);
    first_cfa = 16;
    assert_int_equal(
        wndl_table_verify(&c.table, other.object, &verdict, NULL), WNDL_OK);
    assert_in_range(verdict.wrong, 2000, verdict.looked_up - 2000);
    assert_in_range(verdict.first_wrong, TEXT + 1, TEXT + 40);
    unmake(&other);
    unmake_checked(&c);
}

static void others_tables_are_refused_by_name(void **state)
{
    const struct libc *libc = *state;
    struct wndl_error err = {0};
    struct wndl_table_verdict verdict;
    uint8_t *bytes = exact(libc->bytes, libc->size);
    bytes[VERSION_AT]++;
    expect_refusal(bytes, libc->size, "(expected 2)");
    bytes[0]++;
    expect_refusal(bytes, libc->size, "not an unwind table");
    free(bytes);
    struct made made = make(put_functions, EM_X86_64);
    assert_int_equal(
        wndl_table_verify(&libc->table, made.object, &verdict, &err),
        WNDL_MALFORMED);
    assert_non_null(strstr(err.what, "build-id"));
    unmake(&made);
    assert_int_equal(
        wndl_table_is_for(&libc->table, EM_AARCH64, libc->table.build_id, &err),
        WNDL_MALFORMED);
    assert_non_null(strstr(err.what, "another machine"));
}

static void damage_is_found_by_checksum(void **state)
{
    const struct libc *libc = *state;
    uint8_t *bytes = exact(libc->bytes, libc->size);
    for (size_t at = SIZE_AT + 4; at < libc->size; at += 97) {
        struct wndl_table table;
        bytes[at] ^= 4;
        if (wndl_table_open((struct wndl_bytes){bytes, libc->size}, &table,
                NULL) == WNDL_OK)
            assert_int_equal(wndl_table_check(&table, NULL), WNDL_MALFORMED);
        bytes[at] ^= 4;
    }
    free(bytes);
}

/* Lookups in what may be anything. */
static void look_up_everywhere(const struct wndl_table *table)
{
    for (unsigned i = 0; i < 300; i++) {
        struct wndl_cfi_row row;
        const uint64_t span = (uint64_t)table->block_count
                              << table->block_shift;
        const uint64_t svma =
            table->base +
            ((uint64_t)next_random() << 16 | next_random()) % (span + 4096);
        const uint32_t rule = wndl_table_find(table, svma);
        for (enum wndl_table_cpu cpu = WNDL_TABLE_ANY_CPU; cpu < table->cpu;
             cpu++)
            assert_int_equal(rule, wndl_table_find_by(table, svma, cpu));
        if (wndl_table_row(table, WNDL_ARCH_HERE, rule, &row) == WNDL_OK)
            assert_int_not_equal(
                wndl_table_step_rule(table, rule, svma).kind, WNDL_ENTRY_EMPTY);
    }
}

static enum wndl_status open_head(
    const struct libc *libc, size_t size, uint64_t file_size)
{
    struct wndl_table table;
    uint8_t *bytes = exact(libc->bytes, size);
    enum wndl_status status = wndl_table_open_head(
        (struct wndl_bytes){bytes, size}, file_size, &table, NULL);
    free(bytes);
    return status;
}

static void a_table_cut_anywhere_is_refused(void **state)
{
    const struct libc *libc = *state;
    for (size_t size = 0; size < libc->size; size++) {
        if (open_bytes(libc->bytes, size, NULL) == WNDL_OK)
            fail_msg("a table of %zu bytes was taken", size);
        if (open_head(libc, size, libc->size) == WNDL_OK &&
            size < WNDL_TABLE_HEADER)
            fail_msg("a header of %zu bytes was taken", size);
    }
    assert_int_equal(open_head(libc, WNDL_TABLE_HEADER, libc->size), WNDL_OK);
    assert_int_equal(
        open_head(libc, WNDL_TABLE_HEADER, libc->size - 1), WNDL_TRUNCATED);
    assert_int_equal(
        open_head(libc, WNDL_TABLE_HEADER, libc->size + 1), WNDL_MALFORMED);
    /* The same where the header tells of the cut: its parts do not fit. */
    for (size_t size = WNDL_TABLE_HEADER; size < libc->size; size += 101) {
        uint8_t *bytes = exact(libc->bytes, size);
        const uint32_t told = (uint32_t)size;
        memcpy(bytes + SIZE_AT, &told, sizeof told);
        assert_int_not_equal(open_bytes(bytes, size, NULL), WNDL_OK);
        free(bytes);
    }
}

static void lies_do_no_harm(void **state)
{
    const struct libc *libc = *state;
    uint8_t *bytes = exact(libc->bytes, libc->size);
    seed = 7;
    for (unsigned round = 0; round < 3000; round++) {
        struct wndl_table table;
        const size_t from = round % 2 == 0 ? 16 : WNDL_TABLE_HEADER;
        for (unsigned i = 0; i < 4; i++)
            bytes[from + ((size_t)next_random() << 8 | next_random() % 256) %
                             (libc->size - from)] = (uint8_t)next_random();
        const uint32_t told = (uint32_t)libc->size;
        memcpy(bytes + SIZE_AT, &told, sizeof told);
        if (wndl_table_open((struct wndl_bytes){bytes, libc->size}, &table,
                NULL) == WNDL_OK)
            look_up_everywhere(&table);
        else
            memcpy(bytes, libc->bytes, WNDL_TABLE_HEADER);
    }
    free(bytes);
}

/* A phrase may be called by a name that no frequent one has. */
static void a_name_of_no_phrase_leads_nowhere(void **state)
{
    (void)state;
    enum { RULES = 128 + 64, RECORD = RULES + 4, SIZE = RECORD + 4 + 64 };
    const uint32_t size = SIZE, one = 1, record_size = 4;
    const uint16_t version = WNDL_TABLE_VERSION, machine = EM_X86_64,
                   uniform = 0xe000;
    uint8_t bytes[SIZE] = WNDL_TABLE_MAGIC;
    memcpy(bytes + 12, &version, sizeof version);
    memcpy(bytes + 14, &machine, sizeof machine);
    bytes[16] = 11; /* the block's shift */
    memcpy(bytes + SIZE_AT, &size, sizeof size);
    memcpy(bytes + 32, &one, sizeof one); /* blocks */
    memcpy(bytes + 36, &one, sizeof one); /* rules; no frequent phrases */
    memcpy(bytes + 52, &record_size, sizeof record_size);
    for (unsigned i = 1; i < 30; i++)
        memcpy(bytes + 128 + 4 + 2 * i, &uniform, sizeof uniform);
    bytes[RECORD + 3] = 255;
    uint8_t *copy = exact(bytes, SIZE);
    struct wndl_table table;
    assert_int_equal(
        wndl_table_open((struct wndl_bytes){copy, SIZE}, &table, NULL),
        WNDL_OK);
    assert_int_equal(wndl_table_find(&table, 0), 0);
    assert_int_equal(wndl_table_find_by(&table, 100, WNDL_TABLE_ANY_CPU), 0);
    free(copy);
}

/* ---- what is no source */

static void put_nothing(struct wndl_buf *out)
{
    (void)out;
}

static void assert_refused(void (*put_frame)(struct wndl_buf *),
    uint16_t machine, enum wndl_status status, const char *what)
{
    struct wndl_buf out;
    struct wndl_table_stats stats;
    struct wndl_error err = {0};
    struct made made = make(put_frame, machine);
    wndl_buf_init(&out, wndl_mem_libc());
    assert_int_equal(wndl_table_build(made.object, &out, &stats, &err), status);
    assert_non_null(strstr(err.what, what));
    wndl_buf_free(&out);
    unmake(&made);
}

static void a_binary_without_rows_is_refused(void **state)
{
    (void)state;
    assert_refused(
        put_functions, EM_PPC64, WNDL_UNSUPPORTED, "unsupported machine");
    assert_refused(
        put_nothing, EM_X86_64, WNDL_NOT_FOUND, ".eh_frame has no rules for");
}

/* ---- the tables of a process */

static struct {
    const struct wndl_table *table;
    unsigned calls;
    unsigned unloads; /* calls that overlap the unloading of some module */
} loader;

static const struct wndl_table *load(const struct wndl_dlmodule *module)
{
    (void)module;
    if (loader.calls++ < loader.unloads)
        wndl_table_set_forget();
    return loader.table;
}

static void a_table_loaded_across_an_unload_is_asked_for_again(void **state)
{
    struct libc *l = *state;
    const struct wndl_dlmodule module = {
        .map_start = 0x10000, .map_end = 0x20000};
    loader.table = &l->table;
    loader.calls = 0;
    loader.unloads = 2;
    wndl_table_set_init(load);
    for (unsigned i = 0; i < 5; i++)
        assert_ptr_equal(wndl_table_set_find(&module), &l->table);
    assert_int_equal(loader.calls, 3);
    wndl_table_set_forget();
    loader.table = NULL;
    for (unsigned i = 0; i < 5; i++)
        assert_null(wndl_table_set_find(&module));
    assert_int_equal(loader.calls, 4);
}

static void rules_are_those_of_the_module_that_is_there(void **state)
{
    struct libc *l = *state;
    struct wndl_dlmodule module;
    const uint64_t pc = (uintptr_t)&qsort;
    assert_true(wndl_dlfind(pc, &module));
    const struct wndl_rule wanted = wndl_table_step_rule(
        &l->table, wndl_table_find(&l->table, pc - module.bias.v), pc);
    loader.table = &l->table;
    loader.calls = loader.unloads = 0;
    wndl_table_set_init(load);
    wndl_table_set_forget();
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(
            wndl_rule_bits(wndl_table_set_rule(pc)), wndl_rule_bits(wanted));
    }
    assert_int_equal(loader.calls, 1);
    loader.table = NULL;
    wndl_table_set_forget();
    assert_int_equal(wndl_table_set_rule(pc).kind, WNDL_ENTRY_EMPTY);
    assert_int_equal(wndl_table_set_rule(pc).kind, WNDL_ENTRY_EMPTY);
    assert_int_equal(loader.calls, 2);
}

int main(void)
{
    const struct CMUnitTest made[] = {
        cmocka_unit_test(functions_and_holes_are_told_apart),
        cmocka_unit_test(more_rules_than_numbers_are_written_out),
        cmocka_unit_test(more_starts_than_a_byte_counts_are_written_out),
        cmocka_unit_test(large_records_make_blocks_smaller),
        cmocka_unit_test(a_name_of_no_phrase_leads_nowhere),
        cmocka_unit_test(a_binary_without_rows_is_refused),
        cmocka_unit_test(wrong_rows_are_counted),
    };
    const struct CMUnitTest real[] = {
        cmocka_unit_test(libc_takes_a_fifth),
        cmocka_unit_test(others_tables_are_refused_by_name),
        cmocka_unit_test(damage_is_found_by_checksum),
        cmocka_unit_test(a_table_cut_anywhere_is_refused),
        cmocka_unit_test(lies_do_no_harm),
        cmocka_unit_test(a_table_loaded_across_an_unload_is_asked_for_again),
        cmocka_unit_test(rules_are_those_of_the_module_that_is_there),
    };
    int failed = cmocka_run_group_tests(made, NULL, NULL);
    return failed + cmocka_run_group_tests(real, open_libc, close_libc);
}
