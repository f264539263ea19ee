/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "coremake.h"
#include "snapshot/core_images.h"

#include <elf.h>
#include <signal.h>
#include <stdlib.h>

static const uint16_t machines[] = {EM_X86_64, EM_386, EM_AARCH64, EM_ARM};

enum { MACHINES = 4 };

struct opened {
    struct wndl_arena arena;
    struct wndl_bytes bytes;
    struct wndl_core_file core;
    struct wndl_core_notes notes;
    struct wndl_error damage;
};

static void read_core(struct opened *o, struct wndl_bytes bytes)
{
    struct wndl_error err = {0};
    memset(o, 0, sizeof *o);
    o->bytes = bytes;
    wndl_arena_init(&o->arena, wndl_mem_libc());
    if (wndl_core_file_read(&o->core, &o->arena, bytes, &o->damage, &err) ==
        WNDL_OK)
        assert_int_equal(wndl_core_notes_read(
                             &o->notes, &o->arena, &o->core, &o->damage, &err),
            WNDL_OK);
}

/* Reads a core of these notes alone, and frees them. */
static void read_notes(
    struct opened *o, uint16_t machine, struct wndl_buf *notes)
{
    const struct core_recipe recipe = {.machine = machine, .notes = notes};
    read_core(o, make_core(&recipe));
    wndl_buf_free(notes);
}

static void close_core(struct opened *o)
{
    wndl_arena_free(&o->arena);
    free((void *)o->bytes.data);
}

/* All kinds, as the kernel orders them. */
static void put_all(struct wndl_buf *notes, uint16_t machine)
{
    const struct made_thread first = {100, SIGSEGV, 0x1000, 0x2000, 0x3000, -1};
    const struct made_thread second = {101, 0, 0x1001, 0x2001, 0x3001, 7};
    const struct made_signal signal = {SIGSEGV, SEGV_MAPERR, 0x4000, 0};
    const struct made_signal other = {SIGTRAP, TRAP_BRKPT, 0x5000, 0};
    const struct made_file files[] = {
        {0x20000, 0x21000, 2, "/b"}, {0x10000, 0x12000, 0, "/a (deleted)"}};
    wndl_buf_init(notes, wndl_mem_libc());
    put_thread(notes, machine, &first);
    put_process(notes, machine, 99, "name", "./name -x  ");
    put_signal(notes, machine, &signal);
    put_auxiliary(notes, machine, AT_SYSINFO_EHDR, 0x7000);
    put_files(notes, machine, files, 2);
    put_note_of(notes, "LINUX", NT_PRSTATUS, (struct wndl_bytes){0});
    put_thread(notes, machine, &second);
    put_signal(notes, machine, &other);
}

static void notes_of_all_machines_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < MACHINES; i++) {
        struct opened o;
        struct wndl_buf notes;
        put_all(&notes, machines[i]);
        read_notes(&o, machines[i], &notes);
        assert_int_equal(o.damage.status, WNDL_OK);
        assert_int_equal(o.notes.threads.len, 2);
        const struct wndl_core_thread *t = wndl_vec_at(&o.notes.threads, 0);
        const struct wndl_regs regs = wndl_regs_start(&t->regs);
        assert_int_equal(t->tid, 100);
        assert_int_equal(regs.ip, 0x1000);
        assert_int_equal(regs.sp, 0x2000);
        assert_int_equal(regs.fp, 0x3000);
        assert_int_equal(o.notes.pid, 99);
        assert_true(wndl_bytes_is(o.notes.name, "name"));
        assert_true(wndl_bytes_is(o.notes.command, "./name -x"));
        assert_int_equal(o.notes.vdso, 0x7000);
        close_core(&o);
    }
}

static void the_signal_is_that_of_the_first_thread(void **state)
{
    (void)state;
    for (size_t i = 0; i < MACHINES; i++) {
        struct opened o;
        struct wndl_buf notes;
        put_all(&notes, machines[i]);
        read_notes(&o, machines[i], &notes);
        assert_int_equal(o.notes.signal.number, SIGSEGV);
        assert_int_equal(o.notes.signal.code, SEGV_MAPERR);
        assert_true(o.notes.signal.has_address && !o.notes.signal.has_sender);
        assert_int_equal(o.notes.signal.address, 0x4000);
        close_core(&o);
    }
}

static void a_signal_may_be_sent(void **state)
{
    (void)state;
    for (size_t i = 0; i < MACHINES; i++) {
        const struct made_thread thread = {.tid = 1, .signal = SIGABRT};
        const struct made_signal signal = {SIGABRT, SI_TKILL, 12, 34};
        struct opened o;
        struct wndl_buf notes;
        wndl_buf_init(&notes, wndl_mem_libc());
        put_thread(&notes, machines[i], &thread);
        put_signal(&notes, machines[i], &signal);
        read_notes(&o, machines[i], &notes);
        assert_true(o.notes.signal.has_sender && !o.notes.signal.has_address);
        assert_int_equal(o.notes.signal.sender, 12);
        assert_int_equal(o.notes.signal.user, 34);
        close_core(&o);
    }
}

/* Without NT_SIGINFO, the registers' note has the number. */
static void a_signal_may_be_a_number_alone(void **state)
{
    (void)state;
    const struct made_thread thread = {.tid = 1, .signal = SIGFPE};
    struct opened o;
    struct wndl_buf notes;
    wndl_buf_init(&notes, wndl_mem_libc());
    put_thread(&notes, EM_X86_64, &thread);
    read_notes(&o, EM_X86_64, &notes);
    assert_int_equal(o.notes.signal.number, SIGFPE);
    assert_false(o.notes.signal.has_sender || o.notes.signal.has_address);
    close_core(&o);
}

static void mappings_are_sorted(void **state)
{
    (void)state;
    struct opened o;
    struct wndl_buf notes;
    put_all(&notes, EM_386);
    read_notes(&o, EM_386, &notes);
    assert_int_equal(o.notes.mappings.len, 2);
    const struct wndl_core_mapping *m = wndl_vec_at(&o.notes.mappings, 0);
    assert_int_equal(m[0].start, 0x10000);
    assert_int_equal(m[0].end, 0x12000);
    assert_true(wndl_bytes_is(m[0].path, "/a (deleted)"));
    assert_int_equal(m[1].offset, 2 * 4096);
    close_core(&o);
}

/* The note with this descriptor is lost, and that is said; others are not. */
static void is_damaged(uint32_t type, struct wndl_bytes desc, const char *what)
{
    const struct made_thread thread = {.tid = 7};
    struct opened o;
    struct wndl_buf notes;
    wndl_buf_init(&notes, wndl_mem_libc());
    put_note_of(&notes, "CORE", type, desc);
    put_thread(&notes, EM_X86_64, &thread);
    read_notes(&o, EM_X86_64, &notes);
    assert_string_equal(o.damage.section, "notes");
    assert_string_equal(o.damage.what, what);
    assert_true(o.damage.offset != 0);
    assert_int_equal(o.notes.threads.len, 1);
    assert_int_equal(o.notes.mappings.len, 0);
    close_core(&o);
}

static void a_damaged_note_is_lost_alone(void **state)
{
    (void)state;
    static const uint8_t many[16] = {255, 255, 255, 255, 255, 255, 255, 255};
    static const uint8_t nameless[40] = {1, 0, 0, 0, 0, 0, 0, 0, 1};
    static const uint8_t zeros[300];
    is_damaged(NT_PRSTATUS, (struct wndl_bytes){zeros, sizeof zeros},
        "the registers of a thread end early");
    is_damaged(NT_FILE, (struct wndl_bytes){many, sizeof many},
        "the list of mapped files ends early");
    is_damaged(NT_FILE, (struct wndl_bytes){nameless, sizeof nameless},
        "a mapped file has no name");
    is_damaged(
        NT_FILE, (struct wndl_bytes){0}, "the list of mapped files ends early");
}

static void read_prefix(struct wndl_bytes prefix, void *context)
{
    struct opened o;
    (void)context;
    read_core(&o, prefix);
    wndl_arena_free(&o.arena); /* the prefix is not ours */
}

static void notes_may_end_at_every_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < MACHINES; i++) {
        struct wndl_buf notes;
        put_all(&notes, machines[i]);
        const struct core_recipe recipe = {
            .machine = machines[i], .notes = &notes};
        struct wndl_bytes bytes = make_core(&recipe);
        for_each_truncation(bytes, read_prefix, NULL);
        free((void *)bytes.data);
        wndl_buf_free(&notes);
    }
}

/* A core's first bytes have the form of a binary's, with a note of its own. */
static void the_build_id_is_in_the_first_page(void **state)
{
    (void)state;
    for (size_t i = 0; i < MACHINES; i++) {
        static const uint8_t id[] = {1, 2, 3, 4, 5};
        struct wndl_buf notes;
        wndl_buf_init(&notes, wndl_mem_libc());
        put_note_of(&notes, "GNU", 1, (struct wndl_bytes){id, 4});
        put_note_of(
            &notes, "GNU", NT_GNU_BUILD_ID, (struct wndl_bytes){id, sizeof id});
        const struct core_recipe recipe = {
            .machine = machines[i], .notes = &notes};
        struct wndl_bytes bytes = make_core(&recipe);
        const struct wndl_bytes found = wndl_core_build_id(bytes);
        assert_int_equal(found.size, sizeof id);
        assert_memory_equal(found.data, id, sizeof id);
        bytes.size -= 16;
        assert_int_equal(wndl_core_build_id(bytes).size, 0);
        free((void *)bytes.data);
        wndl_buf_free(&notes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notes_of_all_machines_are_read),
        cmocka_unit_test(the_signal_is_that_of_the_first_thread),
        cmocka_unit_test(a_signal_may_be_sent),
        cmocka_unit_test(a_signal_may_be_a_number_alone),
        cmocka_unit_test(mappings_are_sorted),
        cmocka_unit_test(a_damaged_note_is_lost_alone),
        cmocka_unit_test(notes_may_end_at_every_byte),
        cmocka_unit_test(the_build_id_is_in_the_first_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
