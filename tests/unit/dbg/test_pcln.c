/* SPDX-License-Identifier: MIT */
/*
 * Go's table of functions, made here: two functions, the second with an
 * inlined call in an inlined call, in the layouts of four versions of Go.
 */
#include "testlib.h"

#include "base/buf.h"
#include "dbg/go/pcln.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum version { GO_1_2, GO_1_16, GO_1_18, GO_1_20 };

enum { TEXT = 0x401000, SMALL = 0x401000, LARGE = 0x401040, END = 0x401080 };

struct made {
    enum version version;
    unsigned word_size;
    bool big_endian;
    struct wndl_buf table;
    struct wndl_buf inlined;
};

static void put(
    struct made *m, struct wndl_buf *to, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++) {
        unsigned place = m->big_endian ? size - 1 - i : i;
        uint8_t byte = (uint8_t)(value >> (8 * place));
        wndl_buf_add(to, &byte, 1);
    }
}

static void set(struct made *m, size_t at, uint64_t value, unsigned size)
{
    struct wndl_buf bytes;
    wndl_buf_init(&bytes, wndl_mem_libc());
    put(m, &bytes, value, size);
    memcpy(m->table.data + at, bytes.data, size);
    wndl_buf_free(&bytes);
}

static uint32_t add_text(struct made *m, size_t base, const char *text)
{
    uint32_t at = (uint32_t)(m->table.size - base);
    wndl_buf_add(&m->table, text, strlen(text) + 1);
    return at;
}

/* Pairs of a value and the bytes for which it holds; ends with no bytes. */
static uint32_t add_values(struct made *m, size_t base, const int (*runs)[2])
{
    uint32_t at = (uint32_t)(m->table.size - base);
    int last = -1;
    for (; (*runs)[1] != 0; runs++) {
        int by = (*runs)[0] - last;
        last = (*runs)[0];
        uint32_t zigzag = (uint32_t)(by < 0 ? -2 * by - 1 : 2 * by);
        uint8_t bytes[] = {(uint8_t)(zigzag | 0x80), (uint8_t)(zigzag >> 7),
            (uint8_t)(*runs)[1]};
        wndl_buf_add(&m->table, bytes, sizeof bytes);
    }
    wndl_buf_add(&m->table, "", 1);
    return at;
}

struct record {
    uint64_t start;
    uint32_t name, files, lines, calls;
    bool has_calls;
};

static void put_address(struct made *m, uint64_t address)
{
    if (m->version < GO_1_18)
        put(m, &m->table, address, m->word_size);
    else
        put(m, &m->table, address - TEXT, 4);
}

static void add_record(struct made *m, const struct record *r)
{
    struct wndl_buf *to = &m->table;
    put_address(m, r->start);
    put(m, to, r->name, 4);
    for (int i = 0; i < 3; i++)
        put(m, to, 0xabab, 4); /* arguments, deferred calls, stack */
    put(m, to, r->files, 4);
    put(m, to, r->lines, 4);
    put(m, to, r->has_calls ? 3 : 0, 4);
    if (m->version >= GO_1_16)
        put(m, to, 1, 4); /* the first file of the unit */
    if (m->version >= GO_1_20)
        put(m, to, 7, 4); /* the first line */
    put(m, to, 0, 3);     /* kind, flags */
    put(m, to, r->has_calls ? 4 : 0, 1);
    for (int i = 0; i < 3 && r->has_calls; i++)
        put(m, to, i == 2 ? r->calls : 0, 4);
    for (int i = 0; i < 4 && r->has_calls; i++)
        put(m, to, i == 3 ? 0 : UINT32_MAX, 4);
}

/* An inlined call of `name`, at the line of the code `at`. */
static void add_call(struct made *m, uint32_t name, uint32_t at)
{
    bool is_old = m->version < GO_1_20;
    for (int i = 0; i < (is_old ? 3 : 1); i++)
        put(m, &m->inlined, 0, 4);
    put(m, &m->inlined, name, 4);
    put(m, &m->inlined, at, 4);
    if (!is_old)
        put(m, &m->inlined, 7, 4);
}

/* Files are counted from the unit's first one, or from 1. */
static const int small_files[][2][2] = {
    {{1, 0x38}, {0, 0}}, {{0, 0x38}, {0, 0}}};
static const int small_lines[][2] = {{100, 0x10}, {90, 0x28}, {0, 0}};
static const int large_files[][3][2] = {
    {{1, 0x20}, {2, 0x18}, {0, 0}}, {{0, 0x20}, {1, 0x18}, {0, 0}}};
static const int large_lines[][2] = {
    {10, 8}, {200, 8}, {300, 8}, {11, 8}, {12, 0x18}, {0, 0}};
static const int large_calls[][2] = {
    {-1, 8}, {0, 8}, {1, 8}, {-1, 0x20}, {0, 0}};

static void make_header(struct made *m)
{
    static const uint32_t magics[] = {
        0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1};
    put(m, &m->table, magics[m->version], 4);
    put(m, &m->table, 0, 2);
    put(m, &m->table, 1, 1);
    put(m, &m->table, m->word_size, 1);
    put(m, &m->table, 2, m->word_size);
}

/* The parts of all versions; the names of functions are given as offsets. */
struct parts {
    uint32_t names[4], files[2], values[5];
};

static void make_names(struct made *m, struct parts *p, size_t base)
{
    const char *const names[] = {
        "main.small", "main.(*T).large", "strings.first", "strings.second"};
    for (int i = 0; i < 4; i++)
        p->names[i] = add_text(m, base, names[i]);
}

static void make_values(struct made *m, struct parts *p, size_t base)
{
    bool is_new = m->version >= GO_1_16;
    /* offset 0 means that there are none */
    wndl_buf_add(&m->table, "", 1);
    p->values[0] = add_values(m, base, small_files[is_new]);
    p->values[1] = add_values(m, base, small_lines);
    p->values[2] = add_values(m, base, large_files[is_new]);
    p->values[3] = add_values(m, base, large_lines);
    p->values[4] = add_values(m, base, large_calls);
}

static void make_functions(struct made *m, const struct parts *p, size_t base)
{
    const struct record records[] = {
        {SMALL, p->names[0], p->values[0], p->values[1], 0, false},
        {LARGE, p->names[1], p->values[2], p->values[3], p->values[4], true},
    };
    unsigned size = m->version < GO_1_18 ? m->word_size : 4;
    size_t at[2];
    for (int i = 0; i < 2; i++) {
        put_address(m, records[i].start);
        at[i] = m->table.size;
        put(m, &m->table, 0, size);
    }
    put_address(m, END);
    if (m->version == GO_1_2)
        put(m, &m->table, p->files[0], 4);
    for (int i = 0; i < 2; i++) {
        set(m, at[i], m->table.size - base, size);
        add_record(m, &records[i]);
    }
}

/* Since Go 1.16: five parts, whose offsets are in the header. */
static void make_new(struct made *m)
{
    struct parts p;
    size_t offsets = m->table.size + m->word_size;
    put(m, &m->table, 2, m->word_size);
    if (m->version >= GO_1_18) {
        put(m, &m->table, 0, m->word_size);
        offsets += m->word_size;
    }
    for (int i = 0; i < 5; i++)
        put(m, &m->table, 0, m->word_size);
    size_t parts[5] = {m->table.size};
    make_names(m, &p, parts[0]);
    parts[2] = m->table.size;
    p.files[0] = add_text(m, parts[2], "/src/main.go");
    p.files[1] = add_text(m, parts[2], "/src/strings.go");
    parts[1] = m->table.size;
    put(m, &m->table, UINT32_MAX, 4);
    put(m, &m->table, p.files[0], 4);
    put(m, &m->table, p.files[1], 4);
    parts[3] = m->table.size;
    make_values(m, &p, parts[3]);
    parts[4] = m->table.size;
    make_functions(m, &p, parts[4]);
    for (unsigned i = 0; i < 5; i++)
        set(m, offsets + i * m->word_size, parts[i], m->word_size);
    add_call(m, p.names[2], 0);
    add_call(m, p.names[3], 8);
}

/* Before: all in one, after a header that is followed by functions. */
static void make_old(struct made *m)
{
    struct parts p = {0};
    size_t functions = m->table.size;
    make_functions(m, &p, 0);
    make_names(m, &p, 0);
    p.files[0] = add_text(m, 0, "/src/main.go");
    p.files[1] = add_text(m, 0, "/src/strings.go");
    uint32_t files = (uint32_t)m->table.size;
    put(m, &m->table, 2, 4); /* their number */
    put(m, &m->table, p.files[0], 4);
    put(m, &m->table, p.files[1], 4);
    make_values(m, &p, 0);
    p.files[0] = files;
    struct wndl_buf whole = m->table;
    wndl_buf_init(&m->table, wndl_mem_libc());
    wndl_buf_add(&m->table, whole.data, functions);
    make_functions(m, &p, 0);
    memcpy(whole.data, m->table.data, m->table.size);
    wndl_buf_free(&m->table);
    m->table = whole;
}

static void make(struct made *m)
{
    wndl_buf_init(&m->table, wndl_mem_libc());
    wndl_buf_init(&m->inlined, wndl_mem_libc());
    make_header(m);
    if (m->version < GO_1_16)
        make_old(m);
    else
        make_new(m);
    assert_false(m->table.failed);
}

static void unmake(struct made *m)
{
    wndl_buf_free(&m->table);
    wndl_buf_free(&m->inlined);
}

static struct wndl_pcln_source source_of(const struct made *m)
{
    return (struct wndl_pcln_source){
        .table = {m->table.data, m->table.size},
        .text = {TEXT},
        .inlined = {m->inlined.data, m->inlined.size},
        .big_endian = m->big_endian,
        .path = "a.exe",
    };
}

/* "NAME FILE:LINE@START" of each frame, innermost first; "" for none. */
static const char *look_up(struct wndl_pcln *pcln, uint64_t addr)
{
    static char text[400];
    struct wndl_pcln_frames frames;
    size_t size = 0;
    text[0] = '\0';
    if (wndl_pcln_lookup(pcln, (wndl_svma){addr}, &frames) != WNDL_OK)
        return text;
    for (size_t i = 0; i < frames.count; i++) {
        const struct wndl_pcln_frame *f = &frames.frames[i];
        assert_int_equal(f->inlined, i + 1 < frames.count);
        size += (size_t)snprintf(text + size, sizeof text - size,
            "%s%s %s:%u@%lx", i == 0 ? "" : ", ", (const char *)f->name.data,
            (const char *)f->file.data, f->line,
            (unsigned long)f->function_start.v);
    }
    return text;
}

static void check_inlined(struct wndl_pcln *pcln, enum version version)
{
    bool known = version >= GO_1_18;
    assert_string_equal(look_up(pcln, LARGE + 8),
        known ? "strings.first /src/main.go:200@401048, "
                "main.(*T).large /src/main.go:10@401040"
              : "main.(*T).large /src/main.go:200@401040");
    assert_string_equal(look_up(pcln, LARGE + 0x17),
        known ? "strings.second /src/main.go:300@401050, "
                "strings.first /src/main.go:200@401048, "
                "main.(*T).large /src/main.go:10@401040"
              : "main.(*T).large /src/main.go:300@401040");
}

static void check_functions(struct wndl_pcln *pcln)
{
    struct wndl_pcln_function function;
    assert_int_equal(wndl_pcln_count(pcln), 2);
    assert_true(wndl_pcln_function(pcln, 1, &function));
    assert_true(wndl_bytes_is(function.name, "main.(*T).large"));
    assert_int_equal(function.start.v, LARGE);
    assert_int_equal(function.end.v, LARGE + 0x38);
}

static void check(struct made *m)
{
    struct wndl_pcln *pcln;
    struct wndl_error err = {0};
    make(m);
    const struct wndl_pcln_source source = source_of(m);
    assert_int_equal(
        wndl_pcln_open(&source, wndl_mem_libc(), &pcln, &err), WNDL_OK);
    assert_string_equal(look_up(pcln, SMALL - 1), "");
    assert_string_equal(
        look_up(pcln, SMALL), "main.small /src/main.go:100@401000");
    assert_string_equal(
        look_up(pcln, SMALL + 0x10), "main.small /src/main.go:90@401000");
    assert_string_equal(
        look_up(pcln, LARGE), "main.(*T).large /src/main.go:10@401040");
    check_inlined(pcln, m->version);
    assert_string_equal(look_up(pcln, LARGE + 0x37),
        "main.(*T).large /src/strings.go:12@401040");
    assert_string_equal(look_up(pcln, END), "");
    check_functions(pcln);
    assert_null(wndl_pcln_damage(pcln));
    wndl_pcln_close(pcln);
    unmake(m);
}

static void tables_of_all_versions(void **state)
{
    (void)state;
    for (int version = GO_1_2; version <= GO_1_20; version++)
        for (int i = 0; i < 4; i++) {
            struct made m = {.version = (enum version)version,
                .word_size = (i & 1) == 0 ? 8 : 4,
                .big_endian = (i & 2) != 0};
            check(&m);
        }
}

static void padding_is_in_no_function(void **state)
{
    (void)state;
    struct made m = {.version = GO_1_20, .word_size = 8};
    struct wndl_pcln *pcln;
    make(&m);
    const struct wndl_pcln_source source = source_of(&m);
    assert_int_equal(
        wndl_pcln_open(&source, wndl_mem_libc(), &pcln, NULL), WNDL_OK);
    assert_string_equal(
        look_up(pcln, SMALL + 0x37), "main.small /src/main.go:90@401000");
    assert_string_equal(look_up(pcln, SMALL + 0x38), "");
    assert_string_equal(look_up(pcln, LARGE + 0x38), "");
    wndl_pcln_close(pcln);
    unmake(&m);
}

static void answers_change_at_runs(void **state)
{
    (void)state;
    struct made m = {.version = GO_1_18, .word_size = 8};
    struct wndl_arena arena;
    struct wndl_vec places;
    struct wndl_pcln *pcln;
    make(&m);
    const struct wndl_pcln_source source = source_of(&m);
    assert_int_equal(
        wndl_pcln_open(&source, wndl_mem_libc(), &pcln, NULL), WNDL_OK);
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&places, &arena, sizeof(uint64_t));
    assert_int_equal(
        wndl_pcln_changes(pcln, (wndl_svma){SMALL}, (wndl_svma){END}, &places),
        WNDL_OK);
    for (uint64_t at = SMALL + 1; at < END; at++) {
        char before[400];
        bool found = false;
        strcpy(before, look_up(pcln, at - 1));
        for (size_t i = 0; i < places.len; i++)
            found |= *(uint64_t *)wndl_vec_at(&places, i) == at;
        if (strcmp(before, look_up(pcln, at)) != 0)
            assert_true(found);
    }
    wndl_arena_free(&arena);
    wndl_pcln_close(pcln);
    unmake(&m);
}

static void calls_within_themselves_end(void **state)
{
    (void)state;
    struct made m = {.version = GO_1_18, .word_size = 8};
    struct wndl_pcln *pcln;
    make(&m);
    /* the second call is where it is called */
    memcpy(m.inlined.data + 36, "\x10\0\0\0", 4);
    const struct wndl_pcln_source source = source_of(&m);
    assert_int_equal(
        wndl_pcln_open(&source, wndl_mem_libc(), &pcln, NULL), WNDL_OK);
    struct wndl_pcln_frames frames;
    assert_int_equal(
        wndl_pcln_lookup(pcln, (wndl_svma){LARGE + 0x10}, &frames), WNDL_OK);
    assert_int_equal(frames.count, 257);
    assert_string_equal(
        (const char *)frames.frames[256].name.data, "main.(*T).large");
    assert_non_null(wndl_pcln_damage(pcln));
    wndl_pcln_close(pcln);
    unmake(&m);
}

/* Asks for everything; a copy of exactly `size` bytes shows reads past it. */
static void ask_all(const struct made *m, size_t size)
{
    struct wndl_pcln_source source = source_of(m);
    struct wndl_pcln *pcln;
    struct wndl_error err = {0};
    uint8_t *copy = malloc(size + 1);
    memcpy(copy, source.table.data, size);
    copy[size] = 'x';
    source.table = (struct wndl_bytes){copy, size};
    enum wndl_status status =
        wndl_pcln_open(&source, wndl_mem_libc(), &pcln, &err);
    if (status == WNDL_OK) {
        for (uint64_t at = SMALL; at < END; at += 4)
            (void)look_up(pcln, at);
        for (size_t i = 0; i < wndl_pcln_count(pcln); i++) {
            struct wndl_pcln_function function;
            (void)!wndl_pcln_function(pcln, i, &function);
        }
        wndl_pcln_close(pcln);
    } else {
        assert_int_not_equal(err.status, WNDL_OK);
    }
    free(copy);
}

static void tables_that_are_cut_short(void **state)
{
    (void)state;
    for (int version = GO_1_2; version <= GO_1_20; version++) {
        struct made m = {.version = (enum version)version, .word_size = 8};
        make(&m);
        for (size_t size = 0; size <= m.table.size; size++)
            ask_all(&m, size);
        unmake(&m);
    }
}

static void other_tables_are_unsupported(void **state)
{
    (void)state;
    struct made m = {.version = GO_1_20, .word_size = 8};
    struct wndl_pcln *pcln;
    struct wndl_error err = {0};
    make(&m);
    set(&m, 0, 0xfffffff2, 4);
    const struct wndl_pcln_source source = source_of(&m);
    assert_int_equal(wndl_pcln_open(&source, wndl_mem_libc(), &pcln, &err),
        WNDL_UNSUPPORTED);
    assert_null(pcln);
    unmake(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_all_versions),
        cmocka_unit_test(padding_is_in_no_function),
        cmocka_unit_test(answers_change_at_runs),
        cmocka_unit_test(calls_within_themselves_end),
        cmocka_unit_test(tables_that_are_cut_short),
        cmocka_unit_test(other_tables_are_unsupported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
