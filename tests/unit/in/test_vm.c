/* SPDX-License-Identifier: MIT */
/* in/vm.h: every line of a file of results, cut and damaged ones. */
#include "in/vm.h"

#include "testlib.h"

#include <stdio.h>
#include <string.h>

static const char sample[] = "windlass-vmprof 1\n"
                             "command ./walk 1 2\n"
                             "pid 4711\n"
                             "page 4096\n"
                             "instructions 544384\n"
                             "data 277690\n"
                             "pages 456\n"
                             "mapped 2498661\n"
                             "memory 0 409600 212 37 2 2 419 7016 9664\n"
                             "memory 1 819200 197 37 0 4 419 3644 7739\n"
                             "code 401000 47c000 1000 /home/a b/walk\n"
                             "ran 4016b0 7 3\n"
                             "fault 401780 1 0 0 1 2 3 4\n"
                             "path 0 0 0 0 0 5 6 401780 402a80\n"
                             "mapping 1 1 2 3 4 5 6 [heap]\n"
                             "heap 0 8 900 0 0 0 0 0 1 401780\n"
                             "spans 65536\n"
                             "span 3 0 0 0 0 0 0 9\n"
                             "start 401000 401020\n"
                             "running\n"
                             "stacks 500\n"
                             "stack 1 1000 2 401780 402a80 403000\n"
                             "stack 1 1500 1 401780 402a80 cut\n"
                             "later words that nobody knows yet\n"
                             "end\n";

static struct wndl_bytes bytes_of(const char *text)
{
    return (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
}

static enum wndl_status read_text(struct wndl_vm *vm, const char *text)
{
    struct wndl_error err = {0};
    wndl_vm_init(vm, wndl_mem_libc());
    return wndl_vm_read(vm, bytes_of(text), &err);
}

static const struct wndl_vm_row *row_of(
    const struct wndl_vm *vm, enum wndl_vm_row_kind kind)
{
    for (size_t i = 0; i < vm->rows.len; i++) {
        const struct wndl_vm_row *row = wndl_vec_at(&vm->rows, i);
        if (row->kind == kind)
            return row;
    }
    fail_msg("no row of kind %d", (int)kind);
    return NULL;
}

static void reads_the_head(void **state)
{
    (void)state;
    struct wndl_vm vm;
    assert_int_equal(read_text(&vm, sample), WNDL_OK);
    assert_string_equal(vm.command, "./walk 1 2");
    assert_int_equal(vm.pid, 4711);
    assert_true(vm.is_running);
    assert_int_equal(vm.page, 4096);
    assert_int_equal(vm.instructions, 544384);
    assert_int_equal(vm.data, 277690);
    assert_int_equal(vm.pages, 456);
    assert_int_equal(vm.mapped, 2498661);
    assert_int_equal(vm.span_length, 65536);
    assert_int_equal(vm.memory_count, 2);
    assert_int_equal(vm.memories[1].bytes, 819200);
    assert_int_equal(vm.memories[1].swapped, 197);
    assert_int_equal(vm.memories[1].total.n[WNDL_VM_FETCH][WNDL_VM_DIRTY], 4);
    assert_int_equal(vm.memories[1].total.n[WNDL_VM_DATA][WNDL_VM_FIRST], 419);
    wndl_vm_free(&vm);
}

static void reads_code_and_instructions(void **state)
{
    (void)state;
    struct wndl_vm vm;
    assert_int_equal(read_text(&vm, sample), WNDL_OK);
    const struct wndl_vm_code *code = wndl_vec_at(&vm.code, 0);
    assert_int_equal(code->start, 0x401000);
    assert_int_equal(code->end, 0x47c000);
    assert_int_equal(code->offset, 0x1000);
    assert_string_equal(code->path, "/home/a b/walk");
    const struct wndl_vm_ran *ran = wndl_vec_at(&vm.ran, 0);
    assert_int_equal(ran->ip, 0x4016b0);
    assert_int_equal(ran->fetches, 7);
    assert_int_equal(ran->data, 3);
    const struct wndl_vm_start *start = wndl_vec_at(&vm.starts, 0);
    assert_int_equal(start->end, 0x401020);
    const struct wndl_vm_stack *stack = wndl_vec_at(&vm.stacks, 0);
    assert_int_equal(vm.stacks_every, 500);
    assert_int_equal(stack->weight, 2);
    assert_int_equal(stack->ip_count, 3);
    assert_int_equal(stack->ips[2], 0x403000);
    assert_false(stack->cut);
    stack = wndl_vec_at(&vm.stacks, 1);
    assert_int_equal(stack->ip_count, 2);
    assert_true(stack->cut);
    wndl_vm_free(&vm);
}

static void reads_counts_of_every_kind(void **state)
{
    (void)state;
    struct wndl_vm vm;
    assert_int_equal(read_text(&vm, sample), WNDL_OK);
    const struct wndl_vm_row *at = row_of(&vm, WNDL_VM_AT);
    assert_int_equal(at->memory, 1);
    assert_int_equal(at->ips[0], 0x401780);
    assert_int_equal(at->counts.n[WNDL_VM_DATA][WNDL_VM_DIRTY], 4);
    const struct wndl_vm_row *path = row_of(&vm, WNDL_VM_PATH);
    assert_int_equal(path->ip_count, 2);
    assert_int_equal(path->ips[1], 0x402a80);
    assert_string_equal(row_of(&vm, WNDL_VM_MAPPING)->name, "[heap]");
    const struct wndl_vm_row *site = row_of(&vm, WNDL_VM_SITE);
    assert_int_equal(site->blocks, 8);
    assert_int_equal(site->bytes, 900);
    const struct wndl_vm_row *span = row_of(&vm, WNDL_VM_SPAN);
    assert_int_equal(span->index, 3);
    assert_int_equal(span->counts.n[WNDL_VM_DATA][WNDL_VM_DIRTY], 9);
    wndl_vm_free(&vm);
}

static void never_takes_a_part_for_the_whole(void **state)
{
    (void)state;
    const size_t whole = strlen(sample) - 1; /* but for the last newline */
    for (size_t size = 0; size < whole; size++) {
        struct wndl_vm vm;
        struct wndl_error err = {0};
        wndl_vm_init(&vm, wndl_mem_libc());
        enum wndl_status status = wndl_vm_read(
            &vm, (struct wndl_bytes){(const uint8_t *)sample, size}, &err);
        assert_true(status == WNDL_TRUNCATED || status == WNDL_MALFORMED);
        wndl_vm_free(&vm);
    }
}

static void refuses_lines_that_make_no_sense(void **state)
{
    (void)state;
    static const char head[] = "windlass-vmprof 1\npage 4096\n"
                               "memory 0 4096 0 0 0 0 0 0 0\n";
    static const char *const lines[] = {
        "ran 4016b0 7",                /* a field too few */
        "ran 4016b0 7 3 1",            /* one too many */
        "ran 4016bg 7 3",              /* no digit */
        "ran 4016B0 7 3",              /* not as it is written */
        "ran 4016b0  3",               /* an empty field */
        "data 18446744073709551616",   /* 2^64 */
        "data -1",                     /* negative */
        "fault 401780 1 0 0 0 0 0 0",  /* there is no such memory */
        "memory 2 4096 0 0 0 0 0 0 0", /* not the next number */
        "path 0 0 0 0 0 0 0",          /* no address */
        "path 0 0 0 0 0 0 0 cut",      /* no address either */
        "stack 1 1 1 40 cut 50",       /* what is after its end */
        "code 2000 1000 0 /a",         /* ends before it starts */
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[256];
        struct wndl_vm vm;
        snprintf(text, sizeof text, "%s%s\nend\n", head, lines[i]);
        assert_int_equal(read_text(&vm, text), WNDL_MALFORMED);
        wndl_vm_free(&vm);
    }
}

static void wants_the_size_of_memory(void **state)
{
    (void)state;
    struct wndl_vm vm;
    assert_int_equal(
        read_text(&vm, "windlass-vmprof 1\npage 4096\nend\n"), WNDL_MALFORMED);
    wndl_vm_free(&vm);
}

static void knows_its_files(void **state)
{
    (void)state;
    assert_true(wndl_vm_is(bytes_of(sample)));
    assert_false(wndl_vm_is(bytes_of("windlass-vmprof 2\n")));
    assert_false(wndl_vm_is(bytes_of("windlass-vmprof 12\n")));
    assert_false(wndl_vm_is(bytes_of("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_head),
        cmocka_unit_test(reads_code_and_instructions),
        cmocka_unit_test(reads_counts_of_every_kind),
        cmocka_unit_test(never_takes_a_part_for_the_whole),
        cmocka_unit_test(refuses_lines_that_make_no_sense),
        cmocka_unit_test(wants_the_size_of_memory),
        cmocka_unit_test(knows_its_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
