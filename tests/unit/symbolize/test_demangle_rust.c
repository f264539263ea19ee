/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "symbolize/demangle/rust.h"

#include <stdlib.h>

enum { MOST = 64 * 1024 };

static const char *const names[][2] = {
    /* old ones */
    {"_ZN3foo3bar17h05af221e174051e9E", "foo::bar"},
    {"_ZN3foo17h05af221e174051e9E", "foo"},
    {"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test"
     "$GT$$GT$3bar17h05af221e174051e9E",
        "<Test + 'static as foo::Bar<Test>>::bar"},
    {"_ZN12test$BP$test4foob17h05af221e174051e9E", "test*test::foob"},
    {"_ZN10$RF$$u5b$a3a.b17h05af221e174051e9E", "&[a::a.b"},
    {"_ZN12$u3b1$a$nope4a$SP17h05af221e174051e9E", "αa$nope::a$SP"},
    {"_ZN3foo3bar17h05af221e174051e9E.cold.llvm.1234",
        "foo::bar [clone .cold]"},
    {"_ZN3foo3bar17h05af221e174051e9", NULL},
    {"_ZN3foo3bar17h0000000000000000E", NULL}, /* may be C++'s */
    {"_ZN3foo3bar17hgggggggggggggggge9E", NULL},
    {"_ZN3f-o3bar17h05af221e174051e9E", NULL},
    {"_ZN6foo3b17h05af221e174051e9E", NULL},
    /* paths */
    {"_RNvC6_123foo3bar", "123foo::bar"},
    {"_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
        "utf8_idents::"
        "საჭმელად_"
        "გემრიელი_"
        "სადილი"},
    {"_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_",
        "cc::spawn::{closure#0}::{closure#0}"},
    {"_RNSNvC1a1bs_6vtable", "a::b::{shim:vtable#1}"},
    {"_RNvMC0INtC8arrayvec8ArrayVechKj7b_E3new",
        "<arrayvec::ArrayVec<u8, 123>>::new"},
    {"_RNvXs_C1aNtB4_1SNtB4_1T1f", "<a::S as a::T>::f"},
    {"_RNvYhNtC1a1T1fC1b", "<u8 as a::T>::f"},
    {"_RINvC1a1flEC1b.llvm.7A.part.0", "a::f::<i32> [clone .part.0]"},
    /* types */
    {"_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6"
     "OutputuEL_ECs1iopQbuBiw2_3std",
        "alloc::alloc::box_free::<dyn alloc::boxed::FnBox<(), Output = ()>>"},
    {"_RIC1fFG_RL0_hEuE", "f::<for<'a> fn(&'a u8)>"},
    {"_RIC1fFUK8C_unwindhEtE", "f::<unsafe extern \"C-unwind\" fn(u8) -> u16>"},
    {"_RIC1fFKCbcEzE", "f::<extern \"C\" fn(bool, char) -> !>"},
    {"_RIC1fDG_INtC1m1TL0_Ep1OhNtB9_1UEL_E",
        "f::<dyn for<'a> m::T<'a, O = u8> + m::U>"},
    {"_RIC1fL_TuETlmEQSeAdj2_PxOyRL_fE",
        "f::<'_, ((),), (i32, u32), &mut [str], [f64; 2], *const i64, "
        "*mut u64, &f32>"},
    {"_RIC1fL0_E", NULL}, /* bound by nothing */
    /* constants */
    {"_RIC1fKan80_Kb1_Kc76_Kca_Kc27_Kc2202_KpE",
        "f::<-128, true, 'v', '\\n', '\\'', '∂', _>"},
    {"_RIC1fKn80000000000000000_Ky7b_Kj_E", NULL},
    {"_RIC1fKo80000000000000000_Ky7b_E", "f::<0x80000000000000000, 123>"},
    {"_RIC1fKRe6122e2889e09_Ke61_E", "f::<\"a\\\"∞\\t\", {*\"a\"}>"},
    {"_RIC1fKRee2_E", NULL}, /* cut UTF-8 */
    {"_RMIC1fKRe61_Eu", "<()>"},
    {"_RMIC1fKRe6_Eu", NULL}, /* the same in what is left out */
    {"_RMIC1fKRe616_Eu", NULL},
    {"_RIC1fKRAj1_j2_EKTj1_EKQj1_E", "f::<{&[1, 2]}, {(1,)}, {&mut 1}>"},
    {"_RIC1fKVNtC1m1SS1xj1_1yb0_EKVNtB7_1TTj1_EKVNtB7_1AUE",
        "f::<{m::S { x: 1, y: false }}, {m::T(1)}, {m::A}>"},
    {"_RIC1fKj1_KB4_E", "f::<1, 1>"},
    /* none */
    {"_R", NULL},
    {"_RB_", NULL},       /* leads to itself */
    {"_RNvB_1f", NULL},   /* the same */
    {"_RNvC1f", NULL},    /* cut */
    {"_RNvC1f1gx", NULL}, /* too long */
    {"_RNvC1fu1_", NULL}, /* no punycode */
    {"_RNvC1fu3zzZ", NULL},
    {"main", NULL},
    {"", NULL},
};

static bool read_name(const char *name, size_t size, struct wndl_buf *text)
{
    uint8_t *copy = malloc(size + 1); /* its end is the name's */
    assert_non_null(copy);
    memcpy(copy + 1, name, size);
    bool is_read =
        wndl_rust_demangle((struct wndl_bytes){copy + 1, size}, MOST, text);
    free(copy);
    return is_read;
}

static void names_are_read(void **state)
{
    (void)state;
    struct wndl_buf text;
    wndl_buf_init(&text, wndl_mem_libc());
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool is_read = read_name(names[i][0], strlen(names[i][0]), &text);
        if (is_read != (names[i][1] != NULL))
            print_message("%s\n", names[i][0]);
        assert_int_equal(is_read, names[i][1] != NULL);
        if (!is_read)
            continue;
        wndl_buf_byte(&text, 0);
        assert_string_equal((char *)text.data, names[i][1]);
    }
    wndl_buf_free(&text);
}

static void cut_and_changed_names_are_bounded(void **state)
{
    (void)state;
    struct wndl_buf text;
    wndl_buf_init(&text, wndl_mem_libc());
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t size = 0; size < strlen(names[i][0]); size++) {
            char changed[256];
            assert_true(strlen(names[i][0]) < sizeof changed);
            strcpy(changed, names[i][0]);
            (void)read_name(changed, size, &text);
            assert_true(text.size <= MOST);
            changed[size] = 'B';
            (void)read_name(changed, strlen(changed), &text);
            assert_true(text.size <= MOST);
        }
    wndl_buf_free(&text);
}

/* "_" is 0, "0_" is 1. */
static void put_number(struct wndl_buf *name, size_t number)
{
    static const char digits[] =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    enum { BASE = sizeof digits - 1 };
    if (number > BASE)
        wndl_buf_byte(name, (uint8_t)digits[(number - 1) / BASE]);
    if (number > 0)
        wndl_buf_byte(name, (uint8_t)digits[(number - 1) % BASE]);
    wndl_buf_byte(name, '_');
}

/* Each tuple has the one before twice: the text doubles each time. */
static void name_that_stands_for_2_to_the_30_is_refused(void **state)
{
    (void)state;
    enum { PREFIX = 2 };
    struct wndl_buf name, text;
    wndl_buf_init(&name, wndl_mem_libc());
    wndl_buf_init(&text, wndl_mem_libc());
    wndl_buf_text(&name, "_RIC1f");
    size_t before = name.size - PREFIX;
    wndl_buf_text(&name, "TuuE");
    for (unsigned i = 0; i < 30; i++) {
        size_t here = name.size - PREFIX;
        wndl_buf_text(&name, "TB");
        put_number(&name, before);
        wndl_buf_byte(&name, 'B');
        put_number(&name, before);
        wndl_buf_text(&name, "EE");
        before = here;
        assert_int_equal(
            read_name((char *)name.data, name.size, &text), i < 11);
        assert_true(text.size <= MOST);
        name.size--;
    }
    wndl_buf_free(&name);
    wndl_buf_free(&text);
}

static void deep_names_are_refused(void **state)
{
    static const char *const starts[] = {"_RIC1f", "_RIC1f", "_RIC1fK", "_R"};
    static const char *const parts[] = {"P", "T", "R", "NvNv"};
    (void)state;
    struct wndl_buf name, text;
    wndl_buf_init(&name, wndl_mem_libc());
    wndl_buf_init(&text, wndl_mem_libc());
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        wndl_buf_clear(&name);
        wndl_buf_text(&name, starts[i]);
        while (name.size < 1 << 20)
            wndl_buf_text(&name, parts[i]);
        assert_false(read_name((char *)name.data, name.size, &text));
    }
    wndl_buf_free(&name);
    wndl_buf_free(&text);
}

static void memory_may_be_out(void **state)
{
    (void)state;
    for (long budget = 0; budget < 2; budget++) {
        struct failing_mem heap;
        struct wndl_buf text;
        failing_mem_init(&heap, budget);
        wndl_buf_init(&text, &heap.mem);
        assert_int_equal(
            read_name("_RNvC1a1b", strlen("_RNvC1a1b"), &text), budget > 0);
        wndl_buf_free(&text);
        assert_int_equal(heap.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_read),
        cmocka_unit_test(cut_and_changed_names_are_bounded),
        cmocka_unit_test(name_that_stands_for_2_to_the_30_is_refused),
        cmocka_unit_test(deep_names_are_refused),
        cmocka_unit_test(memory_may_be_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
