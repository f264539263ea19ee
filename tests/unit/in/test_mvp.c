/* SPDX-License-Identifier: MIT */
/* in/mvp.h: every line of a file of results, cut ones; the score. */
#include "in/mvp.h"

#include "model/vm.h"
#include "testlib.h"

#include <stdio.h>
#include <string.h>

static const char sample[] = "windlass-mvp 1\n"
                             "command ./sums 1 2\n"
                             "pid 4711\n"
                             "running\n"
                             "code 401000 47c000 1000 /home/a b/sums\n"
                             "load 40057e 0 4 1000000 31251 977 0 1 0\n"
                             "load 400580 1 2 9 5 1 fffe ffff fff8\n"
                             "wide 400590 0 16 62500 31251 977\n"
                             "mapping 17 /usr/lib/libc.so.6\n"
                             "site 3 7 280 40 40 0 40057e 400600\n"
                             "read 3 40057e 0 4 7 16 56 40 1 4 0 0 1 5\n"
                             "read 3 400582 0 8 7 8 8 0 1 ff 0 1\n"
                             "skim 3 400590 0 16 7 0 0 0\n"
                             "write 3 0 0 1 7 0 39 1\n"
                             "equal 3 7 32 8\n"
                             "pair 3 24 4 7\n"
                             "later words that nobody knows yet\n"
                             "end\n";

static enum wndl_status read_text(struct wndl_mvp *mvp, const char *text)
{
    struct wndl_error err = {0};
    wndl_mvp_init(mvp, wndl_mem_libc());
    return wndl_mvp_read(
        mvp, (struct wndl_bytes){(const uint8_t *)text, strlen(text)}, &err);
}

static void reads_every_line(void **state)
{
    (void)state;
    struct wndl_mvp mvp;
    assert_int_equal(read_text(&mvp, sample), WNDL_OK);
    assert_string_equal(mvp.command, "./sums 1 2");
    assert_int_equal(mvp.pid, 4711);
    assert_true(mvp.is_running);
    assert_string_equal(
        ((struct wndl_vm_code *)wndl_vec_at(&mvp.code, 0))->path,
        "/home/a b/sums");
    assert_int_equal(mvp.sites.len, 3);
    const struct wndl_mvp_site *site = wndl_vec_at(&mvp.sites, 1);
    assert_int_equal(site->ip, 0x400580);
    assert_int_equal(site->index, 1);
    assert_int_equal(site->size, 2);
    assert_false(site->is_wide);
    assert_int_equal(site->loads, 9);
    assert_int_equal(site->sectors, 5);
    assert_int_equal(site->pages, 1);
    assert_int_equal(site->first, 0xfffe);
    assert_int_equal(site->varying, 0xffff);
    assert_int_equal(site->signs, 0xfff8);
    site = wndl_vec_at(&mvp.sites, 2);
    assert_true(site->is_wide);
    assert_int_equal(site->loads, 62500);
    wndl_mvp_free(&mvp);
}

static void reads_lines_of_blocks(void **state)
{
    (void)state;
    struct wndl_mvp mvp;
    assert_int_equal(read_text(&mvp, sample), WNDL_OK);
    const struct wndl_mvp_mapping *mapping = wndl_vec_at(&mvp.mappings, 0);
    assert_int_equal(mapping->loads, 17);
    assert_string_equal(mapping->name, "/usr/lib/libc.so.6");
    const struct wndl_mvp_heap *heap = wndl_vec_at(&mvp.heaps, 0);
    assert_int_equal(heap->number, 3);
    assert_int_equal(heap->blocks, 7);
    assert_int_equal(heap->bytes, 280);
    assert_int_equal(heap->largest, 40);
    assert_int_equal(heap->ip_count, 2);
    assert_int_equal(heap->ips[1], 0x400600);
    assert_int_equal(mvp.uses.len, 4);
    const struct wndl_mvp_use *use = wndl_vec_at(&mvp.uses, 0);
    assert_int_equal(use->kind, WNDL_MVP_READ);
    assert_int_equal(use->high, 56);
    assert_int_equal(use->step, 40);
    assert_int_equal(use->varying, 4);
    assert_int_equal(use->value_count, 2);
    assert_int_equal(use->values[1], 5);
    use = wndl_vec_at(&mvp.uses, 1);
    assert_int_equal(use->value_count, 0);
    assert_true(use->is_pointer);
    use = wndl_vec_at(&mvp.uses, 3);
    assert_int_equal(use->kind, WNDL_MVP_WRITE);
    assert_int_equal(use->high, 39);
    const struct wndl_mvp_equal *equal = wndl_vec_at(&mvp.equals, 0);
    assert_int_equal(equal->same, 8);
    const struct wndl_mvp_pair *pair = wndl_vec_at(&mvp.pairs, 0);
    assert_int_equal(pair->offset, 24);
    assert_int_equal(pair->child, 4);
    wndl_mvp_free(&mvp);
}

static void scores_sites(void **state)
{
    (void)state;
    struct wndl_mvp mvp;
    assert_int_equal(read_text(&mvp, sample), WNDL_OK);
    const struct wndl_mvp_site *sites = mvp.sites.data;
    assert_int_equal(wndl_mvp_constant_bits(&sites[0]), 31);
    assert_int_equal(wndl_mvp_wasted(&sites[0]), 968781);
    /* Of 16 bits, 13 always equal the sign: one of them is needed. */
    assert_int_equal(wndl_mvp_constant_bits(&sites[1]), 12);
    assert_int_equal(wndl_mvp_wasted(&sites[1]), 60);
    assert_int_equal(wndl_mvp_wasted(&sites[2]), 0);
    struct wndl_mvp_site huge = sites[0];
    huge.sectors = UINT64_MAX / 2;
    assert_true(wndl_mvp_wasted(&huge) == UINT64_MAX);
    wndl_mvp_free(&mvp);
}

static void never_takes_a_part_for_the_whole(void **state)
{
    (void)state;
    const size_t whole = strlen(sample) - 1; /* but for the last newline */
    for (size_t size = 0; size < whole; size++) {
        struct wndl_mvp mvp;
        struct wndl_error err = {0};
        wndl_mvp_init(&mvp, wndl_mem_libc());
        enum wndl_status status = wndl_mvp_read(
            &mvp, (struct wndl_bytes){(const uint8_t *)sample, size}, &err);
        assert_true(status == WNDL_TRUNCATED || status == WNDL_MALFORMED);
        wndl_mvp_free(&mvp);
    }
}

static void refuses_lines_that_make_no_sense(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "load 40 0 4 1 1 1 0 0",       /* a field too few */
        "load 40 0 4 1 1 1 0 0 0 0",   /* one too many */
        "load 40 0 3 1 1 1 0 0 0",     /* no size of a value */
        "load 40 0 2 1 1 1 10000 0 0", /* a value that is larger */
        "load 40 256 4 1 1 1 0 0 0",   /* too many loads of an instruction */
        "load 4g 0 4 1 1 1 0 0 0",     /* no digit */
        "wide 40 0 0 1 1 1",           /* no bytes */
        "wide 40 0 16 1 1 1 0 0 0",    /* values */
        "code 2000 1000 0 /a",         /* ends before it starts */
        "site 3 1 8 9 8 0 40",         /* the smallest is the largest */
        "site 3 1 8 8 8 0",            /* no frame */
        "site 3 1 8 8 8 0 40\nsite 3 1 8 8 8 0 40", /* twice */
        "read 3 40 0 4 1 8 4 4 0 0 0 0",            /* ends before it starts */
        "read 3 40 0 4 1 0 6 4 0 0 0 0",     /* not a multiple of the step */
        "read 3 40 0 4 1 0 4 0 0 0 0 0",     /* two offsets and no step */
        "read 3 40 0 3 1 0 0 0 0 0 0 0",     /* no size of a value */
        "read 3 40 0 1 1 0 0 0 0 0 0 0 100", /* a value that is larger */
        "read 3 40 0 1 1 0 0 0 0 f 0 0 1 2 3 4 5 6 7 8 9",
        "read 3 40 0 8 1 0 0 0 0 0 0 2",
        /* neither a pointer nor none */ /* too many */
        "skim 3 40 0 16 1 18446744073709551615 18446744073709551615 0",
        "equal 3 1 8 8", /* itself */
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[256];
        struct wndl_mvp mvp;
        snprintf(text, sizeof text, "windlass-mvp 1\n%s\nend\n", lines[i]);
        assert_int_equal(read_text(&mvp, text), WNDL_MALFORMED);
        wndl_mvp_free(&mvp);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_line),
        cmocka_unit_test(reads_lines_of_blocks),
        cmocka_unit_test(scores_sites),
        cmocka_unit_test(never_takes_a_part_for_the_whole),
        cmocka_unit_test(refuses_lines_that_make_no_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
