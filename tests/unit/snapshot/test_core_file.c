/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "coremake.h"
#include "snapshot/core_file.h"
#include "snapshot/core_memory.h"

#include <elf.h>
#include <stdlib.h>

enum { LOW = 0x10000, HIGH = 0x20000, SIZE = 64 };

struct opened {
    struct wndl_arena arena;
    struct wndl_bytes bytes;
    struct wndl_core_file core;
    struct wndl_error damage;
};

/* Two segments, the higher first; half of the lower one was left out. */
static struct wndl_bytes make(uint16_t machine, bool extended)
{
    static uint8_t low[SIZE / 2], high[SIZE];
    struct wndl_buf notes;
    memset(low, 1, sizeof low);
    memset(high, 2, sizeof high);
    const struct made_memory memory[] = {
        {HIGH, SIZE, PF_R | PF_W, {high, sizeof high}},
        {LOW, SIZE, PF_R | PF_X, {low, sizeof low}},
        {0, 0, PF_R, {NULL, 0}},
    };
    wndl_buf_init(&notes, wndl_mem_libc());
    put_note_of(&notes, "CORE", 77, (struct wndl_bytes){low, 5});
    const struct core_recipe recipe = {machine, &notes, memory, 3, extended};
    struct wndl_bytes bytes = make_core(&recipe);
    wndl_buf_free(&notes);
    return bytes;
}

static enum wndl_status open_core(
    struct opened *o, struct wndl_bytes bytes, struct wndl_error *err)
{
    memset(o, 0, sizeof *o);
    o->bytes = bytes;
    wndl_arena_init(&o->arena, wndl_mem_libc());
    return wndl_core_file_read(&o->core, &o->arena, bytes, &o->damage, err);
}

static void close_core(struct opened *o)
{
    wndl_arena_free(&o->arena);
    free((void *)o->bytes.data);
}

static void check_segments(const struct wndl_core_file *core)
{
    assert_int_equal(core->segments.len, 2);
    const struct wndl_core_segment *s = wndl_core_segment_at(core, LOW);
    assert_int_equal(s->end, LOW + SIZE);
    assert_true(s->is_executable && !s->is_writable);
    assert_ptr_equal(wndl_core_segment_at(core, LOW + SIZE - 1), s);
    assert_null(wndl_core_segment_at(core, LOW + SIZE));
    assert_null(wndl_core_segment_at(core, LOW - 1));
    s = wndl_core_segment_at(core, HIGH);
    assert_true(s->is_writable && !s->is_executable);
}

static void segments_of_all_machines_are_found(void **state)
{
    (void)state;
    static const uint16_t machines[] = {EM_X86_64, EM_386, EM_AARCH64, EM_ARM};
    for (size_t i = 0; i < 8; i++) {
        struct opened o;
        struct wndl_error err = {0};
        assert_int_equal(
            open_core(&o, make(machines[i / 2], i % 2 != 0), &err), WNDL_OK);
        assert_int_equal(o.damage.status, WNDL_OK);
        assert_int_equal(o.core.machine, machines[i / 2]);
        assert_int_equal(o.core.word, core_word(machines[i / 2]));
        assert_int_equal(o.core.notes.len, 1);
        check_segments(&o.core);
        close_core(&o);
    }
}

static void memory_ends_where_it_was_left_out(void **state)
{
    (void)state;
    struct opened o;
    assert_int_equal(open_core(&o, make(EM_X86_64, false), NULL), WNDL_OK);
    assert_int_equal(wndl_core_bytes_at(&o.core, LOW).size, SIZE / 2);
    assert_int_equal(wndl_core_bytes_at(&o.core, LOW + 30).size, 2);
    assert_int_equal(wndl_core_bytes_at(&o.core, LOW + 32).size, 0);
    assert_int_equal(wndl_core_bytes_at(&o.core, HIGH).data[0], 2);
    assert_int_equal(wndl_core_bytes_at(&o.core, HIGH + 1).size, SIZE - 1);
    assert_int_equal(wndl_core_bytes_at(&o.core, HIGH + SIZE).size, 0);
    close_core(&o);
}

static void the_binary_has_what_was_left_out(void **state)
{
    (void)state;
    struct opened o;
    struct wndl_core_memory memory;
    uint8_t file[48], got[8];
    assert_int_equal(open_core(&o, make(EM_X86_64, false), NULL), WNDL_OK);
    wndl_core_memory_init(&memory, &o.arena, &o.core);
    assert_false(wndl_core_memory_read(&memory, LOW + 28, got, 8));
    assert_int_equal(memory.missing, LOW + 32);
    memset(file, 3, sizeof file);
    struct wndl_core_backing *b = wndl_vec_push(&memory.backings);
    *b = (struct wndl_core_backing){LOW, LOW + SIZE, {file, sizeof file}};
    assert_true(wndl_core_memory_read(&memory, LOW + 28, got, 8));
    assert_memory_equal(got, "\1\1\1\1\3\3\3\3", 8);
    assert_true(wndl_core_memory_read(&memory, LOW + 40, got, 8));
    assert_false(wndl_core_memory_read(&memory, LOW + 44, got, 8));
    assert_int_equal(memory.missing, LOW + 48);
    assert_false(wndl_core_memory_read(&memory, UINT64_MAX - 3, got, 8));
    close_core(&o);
}

static void the_headers_say_how_large_the_file_is(void **state)
{
    (void)state;
    for (int extended = 0; extended < 2; extended++) {
        struct wndl_bytes bytes = make(EM_386, extended != 0);
        struct wndl_error err = {0};
        uint64_t size;
        assert_int_equal(wndl_core_extent(bytes, &size, &err), WNDL_OK);
        assert_int_equal(size, bytes.size);
        assert_int_equal(
            wndl_core_extent(wndl_bytes_slice(bytes, 0, 60), &size, &err),
            WNDL_TRUNCATED);
        free((void *)bytes.data);
    }
}

/* Whatever is missing is said. Only the end of a section header is not used. */
static void read_prefix(struct wndl_bytes prefix, void *extended)
{
    struct opened o = {0};
    struct wndl_error err = {0};
    wndl_arena_init(&o.arena, wndl_mem_libc());
    const enum wndl_status status =
        wndl_core_file_read(&o.core, &o.arena, prefix, &o.damage, &err);
    if (status == WNDL_OK)
        assert_true(extended != NULL || o.damage.what[0] != '\0');
    else
        assert_true(err.what[0] != '\0');
    for (uint64_t at = LOW - 8; status == WNDL_OK && at < LOW + SIZE + 8; at++)
        (void)wndl_core_bytes_at(&o.core, at);
    wndl_arena_free(&o.arena);
}

static void a_core_may_end_at_every_byte(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const bool extended = i % 2 != 0;
        struct wndl_bytes bytes = make(i < 2 ? EM_X86_64 : EM_ARM, extended);
        for_each_truncation(bytes, read_prefix, extended ? &i : NULL);
        free((void *)bytes.data);
    }
}

static void refused(size_t at, uint8_t value, const char *what)
{
    struct opened o;
    struct wndl_error err = {0};
    struct wndl_bytes bytes = make(EM_X86_64, false);
    ((uint8_t *)bytes.data)[at] = value;
    assert_int_not_equal(open_core(&o, bytes, &err), WNDL_OK);
    if (strstr(err.what, what) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", what, err.what);
    close_core(&o);
}

static void other_files_are_refused(void **state)
{
    (void)state;
    refused(0, 'x', "not a core file");
    refused(EI_CLASS, 3, "damaged ELF header");
    refused(EI_DATA, ELFDATA2MSB, "big-endian");
    refused(16, ET_DYN, "not a core file");
    refused(18, EM_PPC64, "machine 21 with 64-bit");
    refused(EI_CLASS, ELFCLASS32, "32-bit");
    refused(54, 8, "no program headers");
    refused(56, 0, "no program headers");
}

/* Without their number, headers end where the first bytes of a segment are. */
static void headers_without_a_number_are_read(void **state)
{
    (void)state;
    struct opened o;
    struct wndl_bytes bytes = make(EM_X86_64, true);
    bytes.size -= 40;
    assert_int_equal(open_core(&o, bytes, NULL), WNDL_OK);
    assert_int_equal(o.damage.status, WNDL_TRUNCATED);
    check_segments(&o.core);
    close_core(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_of_all_machines_are_found),
        cmocka_unit_test(memory_ends_where_it_was_left_out),
        cmocka_unit_test(the_binary_has_what_was_left_out),
        cmocka_unit_test(the_headers_say_how_large_the_file_is),
        cmocka_unit_test(a_core_may_end_at_every_byte),
        cmocka_unit_test(headers_without_a_number_are_read),
        cmocka_unit_test(other_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
