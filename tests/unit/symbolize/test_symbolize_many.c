/* SPDX-License-Identifier: MIT */
/*
 * windlass/symbolize.h beyond one address of one file: memory and readers,
 * batches, streams, functions, names, threads.
 */
#include "testlib.h"

#include "dbg/dwarf/internal.h"
#include "marked.h"
#include "symbolize/core/symbolizer_impl.h"
#include "symbolize/symbolizer.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define FIXTURE(name) WNDL_BUILT_FIXTURES "/symbolize/" name

enum { DW_LANG_C11 = 0x1d, SPAN = 0x3000 };

static struct wndl_symbolizer *open_or_fail(const char *path)
{
    struct wndl_symbolizer *s;
    struct wndl_error err = {0};
    if (wndl_symbolizer_open(path, NULL, &s, &err) != WNDL_OK)
        fail_msg("%s: %s", err.file, err.what);
    return s;
}

static void expect_chain(const struct wndl_symbols *answer)
{
    assert_int_equal(answer->count, 3);
    assert_string_equal(answer->frames[0].function, "innermost");
    assert_string_equal(answer->frames[1].function, "middle");
    assert_string_equal(answer->frames[2].function, "outer");
    assert_int_equal(answer->frames[0].line, LINE_INNERMOST);
    assert_int_equal(answer->frames[2].line, LINE_OUTER);
}

static void expect_marked(struct wndl_symbolizer *s)
{
    struct wndl_symbols answer;
    uint64_t rva = marked_rva(FIXTURE("fixed"));
    assert_int_equal(wndl_symbolizer_lookup(s, rva, &answer, NULL), WNDL_OK);
    expect_chain(&answer);
}

/* Equal in all that they say; of two symbolizers. */
static void expect_same(
    const struct wndl_symbols *a, const struct wndl_symbols *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_string_equal(a->frames[i].function, b->frames[i].function);
        assert_string_equal(a->frames[i].mangled, b->frames[i].mangled);
        assert_string_equal(a->frames[i].file, b->frames[i].file);
        assert_int_equal(a->frames[i].line, b->frames[i].line);
        assert_int_equal(a->frames[i].column, b->frames[i].column);
        assert_int_equal(a->frames[i].function_rva, b->frames[i].function_rva);
        assert_int_equal(a->frames[i].language, b->frames[i].language);
    }
}

static void memory_is_as_good_as_a_file(void **state)
{
    (void)state;
    struct wndl_symbolizer *s;
    struct wndl_symbolizer_info info;
    struct wndl_bytes elf = read_whole_file(FIXTURE("fixed"));
    assert_int_equal(
        wndl_symbolizer_open_memory(elf.data, elf.size, NULL, &s, NULL),
        WNDL_OK);
    expect_marked(s);
    wndl_symbolizer_get_info(s, &info);
    assert_true(info.has_dwarf);
    assert_string_equal(info.debug_file, "");
    assert_int_equal(info.image_base, 0x400000);
    assert_int_equal(info.address_size, 8);
    wndl_symbolizer_close(s);
    free((void *)elf.data);
}

static void damage_in_memory_is_told_by_the_name_given(void **state)
{
    (void)state;
    struct wndl_symbolizer *s;
    struct wndl_error err;
    struct wndl_symbolizer_options options = {
        .size = sizeof options, .name = "the thing"};
    assert_int_equal(
        wndl_symbolizer_open_memory("#!/bin/sh", 9, &options, &s, &err),
        WNDL_UNSUPPORTED);
    assert_null(s);
    assert_string_equal(err.file, "the thing");
    assert_int_not_equal(
        wndl_symbolizer_open_memory(NULL, 0, NULL, &s, &err), WNDL_OK);
}

static void debug_file_of_memory_is_found_by_its_name(void **state)
{
    (void)state;
    struct wndl_symbolizer *s;
    struct wndl_bytes elf = read_whole_file(FIXTURE("linked/fixed"));
    struct wndl_symbolizer_options options = {
        .size = sizeof options, .name = FIXTURE("linked/fixed")};
    assert_int_equal(
        wndl_symbolizer_open_memory(elf.data, elf.size, &options, &s, NULL),
        WNDL_OK);
    expect_marked(s);
    wndl_symbolizer_close(s);
    free((void *)elf.data);
}

/* A reader over bytes that refuses from `bad` on. */
struct readable {
    struct wndl_bytes bytes;
    uint64_t bad;
    unsigned calls;
};

static int read_at(void *context, uint64_t offset, void *to, size_t size)
{
    struct readable *r = context;
    struct wndl_bytes from = wndl_bytes_slice(r->bytes, offset, size);
    r->calls++;
    if (offset + size > r->bad)
        return EIO;
    assert_int_equal(from.size, size);
    memcpy(to, from.data, size);
    return 0;
}

static void reader_is_as_good_as_a_file(void **state)
{
    (void)state;
    struct wndl_symbolizer *s;
    struct wndl_error err;
    struct readable r = {
        .bytes = read_whole_file(FIXTURE("fixed")), .bad = UINT64_MAX};
    struct wndl_symbolizer_reader reader = {r.bytes.size, read_at, &r};
    assert_int_equal(
        wndl_symbolizer_open_reader(&reader, NULL, &s, &err), WNDL_OK);
    unsigned calls = r.calls;
    expect_marked(s);
    assert_int_equal(r.calls, calls);
    wndl_symbolizer_close(s);
    r.bad = 100;
    assert_int_equal(
        wndl_symbolizer_open_reader(&reader, NULL, &s, &err), WNDL_IO);
    assert_int_equal(err.sys_errno, EIO);
    assert_null(s);
    free((void *)r.bytes.data);
}

static void open_prefix(struct wndl_bytes prefix, void *context)
{
    struct wndl_symbolizer *s;
    struct wndl_symbols answer;
    const uint64_t *rva = context;
    const struct wndl_symbol_function *functions;
    const struct wndl_symbol_range *found;
    size_t count;
    if (wndl_symbolizer_open_memory(prefix.data, prefix.size, NULL, &s, NULL) !=
        WNDL_OK)
        return;
    (void)!wndl_symbolizer_lookup_batch(s, rva, 1, &answer, NULL);
    assert_int_equal(
        wndl_symbolizer_functions(s, &functions, &count, NULL), WNDL_OK);
    (void)!wndl_symbolizer_find(s, "outer", &found, &count, NULL);
    wndl_symbolizer_close(s);
}

static void files_may_end_anywhere(void **state)
{
    (void)state;
    struct wndl_bytes elf = read_whole_file(FIXTURE("fixed"));
    uint64_t rva = marked_rva(FIXTURE("fixed"));
    for_each_truncation(elf, open_prefix, &rva);
    free((void *)elf.data);
}

static void options_of_a_later_version_must_be_zero(void **state)
{
    (void)state;
    struct {
        struct wndl_symbolizer_options known;
        char later[8];
    } options = {.known.size = sizeof options};
    struct wndl_symbolizer *s;
    assert_int_equal(
        wndl_symbolizer_open(FIXTURE("fixed"), &options.known, &s, NULL),
        WNDL_OK);
    wndl_symbolizer_close(s);
    options.later[7] = 1;
    assert_int_equal(
        wndl_symbolizer_open(FIXTURE("fixed"), &options.known, &s, NULL),
        WNDL_UNSUPPORTED);
    assert_null(s);
}

/* `count` addresses all over the image, in no order, some twice. */
static void scatter(uint64_t *rvas, size_t count)
{
    for (size_t i = 0; i < count; i++)
        rvas[i] = i * 7919 % SPAN;
}

static void batch_answers_in_the_order_asked(void **state)
{
    (void)state;
    enum { COUNT = 2 * SPAN };
    static uint64_t rvas[COUNT];
    static struct wndl_symbols answers[COUNT];
    struct wndl_symbolizer *s = open_or_fail(FIXTURE("pie"));
    struct wndl_symbolizer *other = open_or_fail(FIXTURE("pie"));
    scatter(rvas, COUNT);
    struct wndl_symbols one;
    size_t known = 0;
    (void)!wndl_symbolizer_lookup(s, rvas[5], &one, NULL);
    assert_int_equal(
        wndl_symbolizer_lookup_batch(s, rvas, COUNT, answers, NULL), WNDL_OK);
    for (size_t i = 0; i < COUNT; i++) {
        enum wndl_status status =
            wndl_symbolizer_lookup(other, rvas[i], &one, NULL);
        assert_int_equal(status == WNDL_OK, answers[i].count != 0);
        expect_same(&answers[i], &one);
        (void)!wndl_symbolizer_lookup(s, rvas[i], &one, NULL);
        assert_true(one.count == 0 || one.frames == answers[i].frames);
        known += answers[i].count != 0;
    }
    assert_true(known > 100);
    assert_int_equal(
        wndl_symbolizer_lookup_batch(s, NULL, 0, NULL, NULL), WNDL_OK);
    wndl_symbolizer_close(s);
    wndl_symbolizer_close(other);
}

/* Reads units by `threads`, however small they are. */
static struct wndl_symbolizer *open_for(
    struct wndl_bytes elf, const char *path, unsigned threads)
{
    struct wndl_symbolizer *s;
    enum wndl_status status =
        path != NULL
            ? wndl_symbolizer_open(path, NULL, &s, NULL)
            : wndl_symbolizer_open_memory(elf.data, elf.size, NULL, &s, NULL);
    if (status != WNDL_OK)
        return NULL;
    s->workers = (struct wndl_dwarf_workers){threads, 0};
    return s;
}

/* Returns how many units are damaged. */
static size_t expect_same_info(
    const struct wndl_symbolizer *a, const struct wndl_symbolizer *b)
{
    struct wndl_symbolizer_info x, y;
    wndl_symbolizer_get_info(a, &x);
    wndl_symbolizer_get_info(b, &y);
    assert_int_equal(x.units_damaged, y.units_damaged);
    assert_int_equal(x.files_missing, y.files_missing);
    assert_int_equal(x.first_damage.status, y.first_damage.status);
    assert_string_equal(x.first_damage.section, y.first_damage.section);
    assert_int_equal(x.first_damage.offset, y.first_damage.offset);
    assert_string_equal(x.first_damage.what, y.first_damage.what);
    return x.units_damaged;
}

/* By one thread and by several: how many helpers were at work, how many units
 * are damaged. */
struct compared {
    size_t helpers;
    size_t damaged;
};

static struct compared compare_workers(struct wndl_bytes elf, const char *path)
{
    enum { COUNT = 0x4000, THREADS = 4 };
    static uint64_t rvas[COUNT];
    static struct wndl_symbols by_one[COUNT], by_many[COUNT];
    struct wndl_symbolizer *one = open_for(elf, path, 1);
    struct wndl_symbolizer *many = open_for(elf, path, THREADS);
    assert_int_equal(one == NULL, many == NULL);
    if (one == NULL)
        return (struct compared){0};
    for (size_t i = 0; i < COUNT; i++)
        rvas[i] = i * 7919 % COUNT;
    assert_int_equal(
        wndl_symbolizer_lookup_batch(one, rvas, COUNT, by_one, NULL), WNDL_OK);
    assert_int_equal(
        wndl_symbolizer_lookup_batch(many, rvas, COUNT, by_many, NULL),
        WNDL_OK);
    for (size_t i = 0; i < COUNT; i++)
        expect_same(&by_one[i], &by_many[i]);
    size_t damaged = expect_same_info(one, many);
    size_t helpers = many->dwarf == NULL ? 0 : many->dwarf->helpers.len;
    wndl_symbolizer_close(one);
    wndl_symbolizer_close(many);
    return (struct compared){helpers, damaged};
}

static void units_are_read_by_several_threads(void **state)
{
    (void)state;
    static const char *const paths[] = {FIXTURE("units/aranges"),
        FIXTURE("units/no-aranges"), FIXTURE("units/split")};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        assert_int_equal(
            compare_workers((struct wndl_bytes){0}, paths[i]).helpers, 4);
}

/* Whatever is wrong with them. */
static void threads_find_the_same_damage(void **state)
{
    (void)state;
    struct wndl_bytes elf = read_whole_file(FIXTURE("units/aranges"));
    uint8_t *bytes = (uint8_t *)elf.data;
    size_t sections = elf.size / 4; /* code is before, headers behind */
    size_t damaged = 0;
    for (size_t round = 1; round <= 8; round++) {
        for (size_t at = sections; at < elf.size - sections; at += 449)
            bytes[(at + 37 * round) % elf.size] ^= (uint8_t)(1 << round % 8);
        damaged += compare_workers(elf, NULL).damaged;
    }
    assert_true(damaged > 8);
    free(bytes);
}

static bool next_rva(void *context, uint64_t *rva)
{
    uint64_t *next = context;
    if (*next == SPAN)
        return false;
    *rva = (*next)++;
    return true;
}

static void stream_answers_one_after_the_other(void **state)
{
    (void)state;
    struct wndl_symbolizer *s = open_or_fail(FIXTURE("pie"));
    struct wndl_symbolizer *other = open_or_fail(FIXTURE("pie"));
    struct wndl_symbol_stream *stream;
    struct wndl_symbols answer, one;
    struct wndl_error err;
    uint64_t source = 0;
    uint64_t rva;
    assert_int_equal(
        wndl_symbol_stream_open(s, next_rva, &source, &stream, &err), WNDL_OK);
    for (uint64_t i = 0; i < SPAN; i++) {
        assert_int_equal(
            wndl_symbol_stream_next(stream, &rva, &answer, &err), WNDL_OK);
        assert_int_equal(rva, i);
        (void)!wndl_symbolizer_lookup(other, rva, &one, NULL);
        expect_same(&answer, &one);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(wndl_symbol_stream_next(stream, &rva, &answer, &err),
            WNDL_NOT_FOUND);
    wndl_symbol_stream_close(stream);
    wndl_symbolizer_close(s);
    wndl_symbolizer_close(other);
}

static const struct wndl_symbol_function *function_named(
    struct wndl_symbolizer *s, const char *name)
{
    const struct wndl_symbol_function *functions;
    size_t count;
    assert_int_equal(
        wndl_symbolizer_functions(s, &functions, &count, NULL), WNDL_OK);
    for (size_t i = 1; i < count; i++)
        assert_true(
            functions[i - 1].ranges[0].rva <= functions[i].ranges[0].rva);
    for (size_t i = 0; i < count; i++)
        if (strcmp(functions[i].function, name) == 0)
            return &functions[i];
    return NULL;
}

static void functions_are_those_of_dwarf_and_of_the_symbol_table(void **state)
{
    (void)state;
    struct wndl_symbolizer *s = open_or_fail(FIXTURE("fixed"));
    uint64_t rva = marked_rva(FIXTURE("fixed"));
    const struct wndl_symbol_function *outer = function_named(s, "outer");
    assert_non_null(outer);
    assert_int_equal(outer->range_count, 1);
    assert_true(rva - outer->ranges[0].rva < outer->ranges[0].size);
    /* C99 or C11: compilers have a default of their own. */
    assert_int_equal(wndl_symbol_language_name(outer->language)[0], 'C');
    const struct wndl_symbol_function *start = function_named(s, "_start");
    assert_non_null(start);
    assert_int_equal(start->language, 0);
    assert_null(function_named(s, "innermost")); /* inlined everywhere */
    wndl_symbolizer_close(s);
}

static void what_has_only_symbols_has_functions_too(void **state)
{
    (void)state;
    struct wndl_symbolizer *s = open_or_fail(FIXTURE("symtab"));
    assert_non_null(function_named(s, "outer"));
    assert_non_null(function_named(s, "main"));
    wndl_symbolizer_close(s);
}

static void binary_without_code_has_none(void **state)
{
    (void)state;
    const Elf64_Ehdr header = {
        .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_ehsize = sizeof header,
    };
    struct wndl_symbolizer *s;
    const struct wndl_symbol_function *functions;
    size_t count = 7;
    assert_int_equal(
        wndl_symbolizer_open_memory(&header, sizeof header, NULL, &s, NULL),
        WNDL_OK);
    assert_int_equal(
        wndl_symbolizer_functions(s, &functions, &count, NULL), WNDL_OK);
    assert_int_equal(count, 0);
    wndl_symbolizer_close(s);
}

static void names_lead_to_addresses(void **state)
{
    (void)state;
    struct wndl_symbolizer *s = open_or_fail(FIXTURE("fixed"));
    const struct wndl_symbol_range *found;
    struct wndl_error err;
    size_t count;
    const struct wndl_symbol_function *outer = function_named(s, "outer");
    assert_int_equal(
        wndl_symbolizer_find(s, "outer", &found, &count, &err), WNDL_OK);
    assert_int_equal(count, 1);
    assert_int_equal(found->rva, outer->ranges[0].rva);
    assert_int_equal(found->size, outer->ranges[0].size);
    assert_int_equal(wndl_symbolizer_find(s, "nobody", &found, &count, &err),
        WNDL_NOT_FOUND);
    assert_int_equal(count, 0);
    assert_int_equal(
        wndl_symbolizer_find(s, "", &found, &count, &err), WNDL_NOT_FOUND);
    wndl_symbolizer_close(s);
}

static void languages_have_names(void **state)
{
    (void)state;
    assert_string_equal(wndl_symbol_language_name(DW_LANG_C11), "C11");
    assert_string_equal(wndl_symbol_language_name(0x1c), "Rust");
    assert_string_equal(wndl_symbol_language_name(0x8001), "assembler");
    assert_string_equal(wndl_symbol_language_name(0), "");
    assert_string_equal(wndl_symbol_language_name(0x29), "");
    assert_string_equal(wndl_symbol_language_name(UINT16_MAX), "");
}

/* Each of several threads asks for all there is, in an order of its own. */
struct asker {
    struct wndl_symbolizer *s;
    unsigned number;
    size_t known;
};

static void *ask_everything(void *context)
{
    struct asker *asker = context;
    const struct wndl_symbol_range *found;
    const struct wndl_symbol_function *functions;
    struct wndl_symbolizer_info info;
    size_t count;
    for (uint64_t i = 0; i < SPAN; i += 3) {
        uint64_t rvas[2] = {(i * (asker->number + 1)) % SPAN, SPAN - i};
        struct wndl_symbols answers[2];
        if (i % 2 == 0)
            (void)!wndl_symbolizer_lookup(asker->s, rvas[0], &answers[0], NULL);
        else
            (void)!wndl_symbolizer_lookup_batch(
                asker->s, rvas, 2, answers, NULL);
        for (size_t f = 0; f < answers[0].count; f++)
            asker->known += strlen(answers[0].frames[f].function);
    }
    wndl_symbolizer_get_info(asker->s, &info);
    (void)!wndl_symbolizer_functions(asker->s, &functions, &count, NULL);
    (void)!wndl_symbolizer_find(asker->s, "main", &found, &count, NULL);
    asker->known += count;
    return NULL;
}

static void threads_share_a_symbolizer(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    struct wndl_symbolizer *s = open_or_fail(FIXTURE("pie"));
    struct asker askers[THREADS];
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        askers[i] = (struct asker){s, i, 0};
        assert_int_equal(
            pthread_create(&threads[i], NULL, ask_everything, &askers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(askers[i].known > 0);
    }
    wndl_symbolizer_close(s);
}

/* Everything that takes memory, on a heap that may fail. */
static enum wndl_status use_everything(struct wndl_symbolizer *s, uint64_t rva)
{
    const uint64_t rvas[] = {rva, 0, rva + 1, rva};
    struct wndl_symbols answers[4];
    struct wndl_symbol_stream *stream;
    const struct wndl_symbol_range *found;
    const struct wndl_symbol_function *functions;
    uint64_t source = SPAN - 100;
    size_t count;
    enum wndl_status status =
        wndl_symbolizer_lookup_batch(s, rvas, 4, answers, NULL);
    if (status == WNDL_OK)
        expect_chain(&answers[3]);
    else
        assert_int_equal(answers[0].count, 0);
    if (status == WNDL_OK)
        status = wndl_symbolizer_functions(s, &functions, &count, NULL);
    if (status == WNDL_OK &&
        wndl_symbolizer_find(s, "nobody", &found, &count, NULL) == WNDL_NOMEM)
        status = WNDL_NOMEM;
    if (status == WNDL_OK)
        status = wndl_symbol_stream_open(s, next_rva, &source, &stream, NULL);
    if (status != WNDL_OK)
        return status;
    while (status == WNDL_OK)
        status = wndl_symbol_stream_next(stream, &rva, answers, NULL);
    wndl_symbol_stream_close(stream);
    return status == WNDL_NOT_FOUND ? WNDL_OK : status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uint64_t rva = marked_rva(FIXTURE("fixed"));
    struct readable r = {
        .bytes = read_whole_file(FIXTURE("fixed")), .bad = UINT64_MAX};
    struct wndl_symbolizer_reader reader = {r.bytes.size, read_at, &r};
    enum wndl_status status = WNDL_NOMEM;
    for (long budget = 0; status == WNDL_NOMEM; budget++) {
        struct failing_mem mem;
        struct wndl_symbolizer *s;
        failing_mem_init(&mem, budget);
        status =
            wndl_symbolizer_open_reader_with(&mem.mem, &reader, NULL, &s, NULL);
        if (status == WNDL_OK)
            status = use_everything(s, rva);
        wndl_symbolizer_close(s);
        assert_int_equal(mem.live, 0);
        assert_true(budget < 1000);
    }
    assert_int_equal(status, WNDL_OK);
    free((void *)r.bytes.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_as_good_as_a_file),
        cmocka_unit_test(damage_in_memory_is_told_by_the_name_given),
        cmocka_unit_test(debug_file_of_memory_is_found_by_its_name),
        cmocka_unit_test(reader_is_as_good_as_a_file),
        cmocka_unit_test(files_may_end_anywhere),
        cmocka_unit_test(options_of_a_later_version_must_be_zero),
        cmocka_unit_test(batch_answers_in_the_order_asked),
        cmocka_unit_test(units_are_read_by_several_threads),
        cmocka_unit_test(threads_find_the_same_damage),
        cmocka_unit_test(stream_answers_one_after_the_other),
        cmocka_unit_test(functions_are_those_of_dwarf_and_of_the_symbol_table),
        cmocka_unit_test(what_has_only_symbols_has_functions_too),
        cmocka_unit_test(binary_without_code_has_none),
        cmocka_unit_test(names_lead_to_addresses),
        cmocka_unit_test(languages_have_names),
        cmocka_unit_test(threads_share_a_symbolizer),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("symbolize_many", tests, NULL, NULL);
}
