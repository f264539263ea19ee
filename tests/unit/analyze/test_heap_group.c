/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "analyze/heap/alloc_fn.h"
#include "analyze/heap/records.h"

#include <math.h>
#include <stdio.h>

static struct wndl_bytes bytes(const char *text)
{
    return (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
}

/* The stack of names from the outermost on, separated by '>'. */
static uint32_t stack(struct wndl_heap_list *list, const char *names)
{
    char text[200];
    uint32_t frame = 0;
    char *rest = NULL;
    snprintf(text, sizeof text, "%s", names);
    for (char *name = strtok_r(text, ">", &rest); name != NULL;
         name = strtok_r(NULL, ">", &rest))
        assert_true(wndl_heap_list_frame(list, frame, bytes(name), &frame));
    return frame;
}

static struct wndl_heap_blocks blocks(struct wndl_heap_list *list,
    const char *names, int64_t count, uint64_t requested, uint64_t slop)
{
    return (struct wndl_heap_blocks){
        .stacks = {stack(list, names)},
        .count = count,
        .requested = requested,
        .slop = slop,
        .weight = 1,
    };
}

static void add(struct wndl_heap_list *list, const char *names, int64_t count,
    uint64_t requested, uint64_t slop)
{
    struct wndl_heap_blocks b = blocks(list, names, count, requested, slop);
    assert_true(wndl_heap_list_add(list, &b));
}

static const char *const no_filters[] = {NULL};

static const struct wndl_heap_grouping usual = {
    .max_frames = 2,
    .filters = no_filters,
};

static void spell_sizes(const struct wndl_heap_records *r,
    const struct wndl_heap_record *record, char *text, size_t size)
{
    for (uint32_t i = 0; i < record->size_count; i++) {
        const struct wndl_heap_size *s =
            wndl_vec_at(&r->sizes, record->first_size + i);
        size_t used = strlen(text);
        snprintf(
            text + used, size - used, " %dx%d", (int)s->usable, (int)s->blocks);
    }
}

/* "blocks requested+slop frame<frame: size x number...; ..." */
static void spell(const struct wndl_heap_records *r, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < r->records.len; i++) {
        const struct wndl_heap_record *record = wndl_vec_at(&r->records, i);
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%d %d+%d ", i == 0 ? "" : "; ",
            (int)record->figures.blocks, (int)record->figures.requested,
            (int)record->figures.slop);
        uint32_t at = record->stacks[0].leaf;
        for (uint32_t f = 0; f < record->stacks[0].count; f++) {
            const struct wndl_heap_frame *frame =
                wndl_heap_frame_at(r->list, at);
            used = strlen(text);
            snprintf(text + used, size - used, "%s%s", f == 0 ? "" : "<",
                wndl_intern_text(&r->list->strings, frame->text));
            at = frame->caller;
        }
        spell_sizes(r, record, text, size);
    }
}

static void assert_records(const struct wndl_heap_list *list,
    const struct wndl_heap_grouping *how, const char *expected)
{
    struct wndl_heap_records r;
    char text[1000];
    assert_true(wndl_heap_records_fill(&r, list, how, wndl_mem_libc()));
    spell(&r, text, sizeof text);
    assert_string_equal(text, expected);
    wndl_heap_records_free(&r);
}

static void make(struct wndl_heap_list *list)
{
    assert_true(wndl_heap_list_init(list, wndl_mem_libc()));
}

static void stacks_are_told_apart_by_what_is_shown(void **state)
{
    (void)state;
    struct wndl_heap_list list;
    make(&list);
    add(&list, "main>f>g", 2, 10, 6);
    add(&list, "start>f>g", 3, 10, 6);
    add(&list, "main>h>g", 1, 100, 12);
    add(&list, "main>f>g", 1, 40, 0);
    add(&list, "", 1, 1, 0);
    assert_records(
        &list, &usual, "6 90+30 g<f 40x1 16x5; 1 100+12 g<h 112x1; 1 1+0  1x1");
    wndl_heap_list_free(&list);
}

static void order_is_as_asked_for(void **state)
{
    (void)state;
    struct wndl_heap_list list;
    make(&list);
    add(&list, "a", 1, 100, 0);
    add(&list, "b", 9, 1, 0);
    add(&list, "c", 1, 2, 50);
    struct wndl_heap_grouping how = usual;
    how.sort = WNDL_HEAP_BY_BLOCKS;
    assert_records(&list, &how, "9 9+0 b 1x9; 1 100+0 a 100x1; 1 2+50 c 52x1");
    how.sort = WNDL_HEAP_BY_SLOP;
    assert_records(&list, &how, "1 2+50 c 52x1; 1 100+0 a 100x1; 9 9+0 b 1x9");
    how.sort = WNDL_HEAP_BY_REQUESTED;
    assert_records(&list, &how, "1 100+0 a 100x1; 9 9+0 b 1x9; 1 2+50 c 52x1");
    /* As many usable bytes: the requested ones decide, then the blocks. */
    add(&list, "d", 1, 60, 40);
    add(&list, "e", 5, 12, 8);
    how.sort = WNDL_HEAP_BY_USABLE;
    assert_records(&list, &how,
        "1 100+0 a 100x1; 5 60+40 e 20x5; 1 60+40 d 100x1; 1 2+50 c 52x1; "
        "9 9+0 b 1x9");
    wndl_heap_list_free(&list);
}

static void filters_look_at_whole_stacks(void **state)
{
    (void)state;
    static const char *const in_main[] = {"main", NULL};
    static const char *const not_f[] = {"main", "!f", NULL};
    static const char *const escaped[] = {"\\!f", NULL};
    struct wndl_heap_list list;
    make(&list);
    add(&list, "main>e>f>g", 1, 1, 0);
    add(&list, "start>e>f>g", 1, 2, 0);
    add(&list, "main>x", 1, 4, 0);
    add(&list, "oh !f", 1, 8, 0);
    struct wndl_heap_grouping how = usual;
    how.filters = in_main;
    assert_records(&list, &how, "1 4+0 x<main 4x1; 1 1+0 g<f 1x1");
    how.filters = not_f;
    assert_records(&list, &how, "1 4+0 x<main 4x1");
    how.filters = escaped;
    assert_records(&list, &how, "1 8+0 oh !f 8x1");
    wndl_heap_list_free(&list);
}

static void alloc_fns_go_from_the_top(void **state)
{
    (void)state;
    struct wndl_heap_list list;
    make(&list);
    add(&list, "main>malloc (b.c:1)>f>operator new(unsigned long) (n.cc:9)", 1,
        4, 0);
    add(&list, "main>malloc (b.c:1)>f>malloc (m.c:2)", 1, 3, 0);
    add(&list, "malloc (b.c:1)", 1, 1, 0);
    struct wndl_heap_grouping how = usual;
    how.ignore_alloc_fns = true;
    assert_records(&list, &how,
        "2 7+0 f<malloc (b.c:1) 4x1 3x1; 1 1+0 malloc (b.c:1) 1x1");
    assert_false(wndl_heap_alloc_fn(bytes("malloc_stats (m.c:1)")));
    assert_true(wndl_heap_alloc_fn(bytes("malloc")));
    static const char *const others[] = {"replace_posix_memalign (r.c:1)",
        "js_malloc(unsigned long)", "vpx_calloc", "malloc_zone_malloc",
        "bool* mozilla::MallocAllocPolicy::pod_realloc<bool>(bool*, long)",
        "char* js::MallocProvider<js::Zone>::pod_malloc<char>(unsigned long)",
        "float* js_pod_malloc<float>(unsigned long)", "_rjem_malloc",
        "mi_heap_malloc_aligned", "tc_new", "g_try_malloc_n",
        "__rg_alloc_zeroed", "runtime.mallocgc", "node::UncheckedMalloc(long)",
        "char* node::Malloc<char>(unsigned long)", "calloc.part.0 (c.c:1)",
        /* of a program with cgo, Go 1.19, and of one of Rust 1.95 */
        "_cgo_6f857fe2a6ce_Cfunc__Cmalloc (/tmp/h.go:3)", "runtime.makechan",
        "main._cgo_cmalloc.abi0", "a/b._Cfunc_CString (/tmp/h.go:3)",
        "__rustc::__rust_alloc", "__rustc::__rdl_realloc",
        "alloc::raw_vec::finish_grow (raw_vec.rs:1)",
        "<alloc::raw_vec::RawVecInner<_>>::reserve::do_reserve_and_handle::<x>",
        "void* node::mem::NgLibMemoryManager<A, b>::MallocImpl(unsigned long)"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_true(wndl_heap_alloc_fn(bytes(others[i])));
    assert_false(wndl_heap_alloc_fn(bytes("mi_malloc_size (m.c:1)")));
    assert_false(wndl_heap_alloc_fn(bytes("int app::pod_malloc<int>(long)")));
    assert_false(wndl_heap_alloc_fn(bytes("js::f(js::T::pod_malloc<int>)")));
    assert_false(wndl_heap_alloc_fn(bytes("void* f(malloc)")));
    assert_false(wndl_heap_alloc_fn(bytes("node::wasi::WASI::FdAllocate(x)")));
    assert_false(wndl_heap_alloc_fn(bytes("main.f (x._Cfunc_CString)")));
    assert_false(wndl_heap_alloc_fn(bytes("_cgo_12_Cfunc_free")));
    assert_false(wndl_heap_alloc_fn(bytes("_cgo_")));
    assert_false(wndl_heap_alloc_fn(bytes("")));
    assert_true(wndl_heap_alloc_fn(bytes("std::allocator<int>::allocate(")));
    wndl_heap_list_free(&list);
}

static void differences_cancel_out(void **state)
{
    (void)state;
    struct wndl_heap_list list;
    make(&list);
    add(&list, "same", -3, 10, 6);
    add(&list, "same", 3, 10, 6);
    add(&list, "less", -5, 8, 0);
    add(&list, "less", 1, 8, 0);
    add(&list, "other", -1, 10, 6);
    add(&list, "other", 1, 12, 4);
    assert_records(&list, &usual, "-4 -32+0 less 8x-4; 0 2+-2 other");
    wndl_heap_list_free(&list);
}

static void samples_stand_for_more_with_an_error(void **state)
{
    (void)state;
    struct wndl_heap_list list;
    make(&list);
    struct wndl_heap_blocks b = blocks(&list, "f", 3, 1000, 24);
    b.weight = 4;
    b.freed = 2;
    b.temporary = 1;
    b.lifetime = 30;
    assert_true(wndl_heap_list_add(&list, &b));
    add(&list, "f", 1, 5000, 0);
    struct wndl_heap_records r;
    assert_true(wndl_heap_records_fill(&r, &list, &usual, wndl_mem_libc()));
    const struct wndl_heap_record *record = wndl_vec_at(&r.records, 0);
    const struct wndl_heap_figures *f = &record->figures;
    assert_int_equal(f->blocks, 13);
    assert_int_equal(f->requested, 17000);
    assert_int_equal(f->slop, 288);
    assert_true(fabs(f->blocks_error - 6) < 1e-9); /* 3 * 4 * 3 = 6 * 6 */
    assert_true(fabs(f->bytes_error - 6 * 1024) < 1e-6);
    assert_int_equal(f->freed, 8);
    assert_int_equal(f->temporary, 4);
    assert_int_equal(f->mean_lifetime, 15);
    assert_int_equal(r.total.blocks, 13);
    const struct wndl_heap_size *sizes = r.sizes.data;
    assert_false(sizes[0].sampled);
    assert_true(sizes[1].sampled);
    wndl_heap_records_free(&r);
    wndl_heap_list_free(&list);
}

static void reported_stacks_tell_records_apart(void **state)
{
    (void)state;
    struct wndl_heap_list list;
    make(&list);
    struct wndl_heap_blocks b = blocks(&list, "f", 1, 8, 0);
    assert_true(wndl_heap_list_add(&list, &b));
    b.stacks[WNDL_HEAP_REPORTED] = stack(&list, "reporter");
    assert_true(wndl_heap_list_add(&list, &b));
    struct wndl_heap_records r;
    assert_true(wndl_heap_records_fill(&r, &list, &usual, wndl_mem_libc()));
    assert_int_equal(r.records.len, 2);
    const struct wndl_heap_record *records = r.records.data;
    assert_int_equal(records[0].stacks[WNDL_HEAP_REPORTED].count, 0);
    assert_int_equal(records[1].stacks[WNDL_HEAP_REPORTED].count, 1);
    wndl_heap_records_free(&r);
    wndl_heap_list_free(&list);
}

/* Whether all of it could be done with that much memory. */
static bool group_with(long budget)
{
    struct failing_mem f;
    struct wndl_heap_list list;
    struct wndl_heap_records r;
    failing_mem_init(&f, budget);
    if (!wndl_heap_list_init(&list, &f.mem))
        return false;
    struct wndl_heap_blocks b = {.count = 1, .requested = 8, .weight = 1};
    bool done = wndl_heap_list_frame(&list, 0, bytes("f"), &b.stacks[0]) &&
                wndl_heap_list_add(&list, &b);
    if (done) {
        done = wndl_heap_records_fill(&r, &list, &usual, &f.mem);
        wndl_heap_records_free(&r);
    }
    wndl_heap_list_free(&list);
    assert_int_equal(f.live, 0);
    return done;
}

static void lack_of_memory_is_told(void **state)
{
    (void)state;
    long budget = 0;
    while (!group_with(budget))
        budget++;
    assert_true(budget > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_are_told_apart_by_what_is_shown),
        cmocka_unit_test(order_is_as_asked_for),
        cmocka_unit_test(filters_look_at_whole_stacks),
        cmocka_unit_test(alloc_fns_go_from_the_top),
        cmocka_unit_test(differences_cancel_out),
        cmocka_unit_test(samples_stand_for_more_with_an_error),
        cmocka_unit_test(reported_stacks_tell_records_apart),
        cmocka_unit_test(lack_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
