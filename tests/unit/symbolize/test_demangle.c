/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "base/buf.h"
#include "symbolize/demangle/demangle.h"
#include "symbolize/demangle/msvc.h"

#include <stdio.h>

struct fixture {
    struct wndl_arena arena;
    struct wndl_demangler demangler;
};

static int setup(void **state)
{
    static struct fixture fixture;
    wndl_arena_init(&fixture.arena, wndl_mem_libc());
    *state = &fixture;
    return wndl_demangler_init(&fixture.demangler, &fixture.arena) ? 0 : -1;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    wndl_arena_free(&fixture->arena);
    return 0;
}

static const char *demangled(void **state, const char *name)
{
    struct fixture *fixture = *state;
    struct wndl_bytes bytes = {(const uint8_t *)name, strlen(name)};
    const char *text = wndl_demangle(&fixture->demangler, bytes);
    assert_non_null(text);
    return text;
}

static void every_scheme_is_read(void **state)
{
    static const char *const pairs[][2] = {
        {"_Z3fooi", "foo(int)"},
        {"_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const"},
        {"_ZN3FooC2Ev", "Foo::Foo()"},
        {"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
            "core::fmt::Formatter::pad"},
        {"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
        {"_D8demangle4testFaZv", "demangle.test(char)"},
        {"_Dmain", "D main"},
        {"?walk@shape@ns@@UEAAHH@Z", "ns::shape::walk(int)"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_string_equal(demangled(state, pairs[i][0]), pairs[i][1]);
}

/* What clang mangles for Windows, and what LLVM tells of it. */
static void microsofts_names_are_read(void **state)
{
    static const char *const pairs[][2] = {
        {"?f@@YAXXZ", "f(void)"},
        {"?f@@YAXHZZ", "f(int, ...)"},
        {"?f@@YAXPEAY01$$CBH@Z", "f(int const (*)[2])"},
        {"?f@@YAXP8A@@EAAXXZ@Z", "f(void (__cdecl A::*)(void))"},
        {"?f@?A0x12@@YAXXZ", "`anonymous namespace'::f(void)"},
        {"??$?0H@?$A@H@@QEAA@H@Z", "A<int>::A<int><int>(int)"},
        {"??1?$A@H@@QEAA@XZ", "A<int>::~A<int>(void)"},
        {"??Bfoo@@QEBAHXZ", "foo::operator int(void) const"},
        {"??__E?x@A@@2HA@@YAXXZ", "`dynamic initializer for `int A::x''(void)"},
        {"?x@?1??f@@YAXXZ@4HA", "int `void __cdecl f(void)'::`2'::x"},
        {"?f@A@@$4PPPPPPPM@A@EAAHXZ", "[thunk]: A::f`vtordisp{-4, 0}'(void)"},
        {"??$f@$1?g@@YAXXZ@@YAXXZ", "f<&g(void)>(void)"},
        {"??$f@$$A6AXH@Z@@YAXXZ", "f<void __cdecl(int)>(void)"},
        {"??$f@$0BA@$0?0@@YA_NAEBV?$b@H@@0@Z",
            "f<16, -1>(class b<int> const &, class b<int> const &)"},
        {"??_7Foo@@6BBar@@@", "const Foo::`vftable'{for `Bar'}"},
        {".?AVFoo@@", "class Foo `RTTI Type Descriptor Name'"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_string_equal(demangled(state, pairs[i][0]), pairs[i][1]);
}

static void broken_names_of_microsofts_stay(void **state)
{
    static const char name[] =
        "?work@?$Kind@H@unit@@QEAAHHP6AXPEAY01HAEBV12@@ZV?$b@$0BA@@@@Z";
    static const char *const others[] = {"?", "??", "?f", "?f@@", "?f@@YA",
        "?f@@YAX0@Z", "?0@@YAXXZ", "??0@@YAXXZ", "?f@@YAXY@H@Z",
        "??@0123456789abcdef0123456789abcdef@", "??_C@_03MFOJKJNK@abc?$AA@"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_string_equal(demangled(state, others[i]), others[i]);
    assert_memory_equal(
        demangled(state, name), "unit::Kind<int>::work(int", 22);
    for (size_t size = 0; size < sizeof name - 1; size++) {
        char cut[sizeof name] = "";
        memcpy(cut, name, size);
        assert_string_equal(demangled(state, cut), cut);
    }
}

/* Each parameter is a function of the one before, ten times. */
static void microsofts_name_that_stands_for_10_to_the_9_stays(void **state)
{
    char name[512] = "?f@@YAXPEAH";
    for (int i = 0; i < 9; i++) {
        size_t size = strlen(name);
        strcpy(name + size, "@Z");
        const char *text = demangled(state, name);
        if (i == 2)
            assert_true(strlen(text) > 100 * strlen("int *"));
        if (i == 8)
            assert_string_equal(text, name);
        snprintf(name + size, sizeof name - size, "P6AX%d%d%d%d%d%d%d%d%d%d@Z",
            i, i, i, i, i, i, i, i, i, i);
    }
}

static void what_is_not_mangled_stays(void **state)
{
    static const char *const names[] = {"main", "", "_", "_Z", "_R", "_D",
        "_Znonsense", "_Data", "foo.cold", "foo.part.0", "@", "@@V1", "a b"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(demangled(state, names[i]), names[i]);
}

static void clone_marks_are_kept_beside_the_signature(void **state)
{
    assert_string_equal(
        demangled(state, "_Z3fooi.cold"), "foo(int) [clone .cold]");
    assert_string_equal(demangled(state, "_Z3fooi.part.0.isra.0"),
        "foo(int) [clone .part.0] [clone .isra.0]");
}

static void symbol_versions_are_left_out(void **state)
{
    assert_string_equal(demangled(state, "memcpy@@GLIBC_2.14"), "memcpy");
    assert_string_equal(demangled(state, "_Z3fooi@V1"), "foo(int)");
}

static void same_name_is_worked_out_once(void **state)
{
    struct fixture *fixture = *state;
    char copy[] = "_Z3fooi";
    const char *first = demangled(state, "_Z3fooi");
    assert_ptr_equal(demangled(state, copy), first);
    assert_int_equal(wndl_intern_count(&fixture->demangler.names), 2);
}

/* "S_", "S0_", ... "SZ_": the reference to a part of a C++ name. */
static void put_reference(struct wndl_buf *buf, unsigned index)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    wndl_buf_byte(buf, 'S');
    if (index > 0)
        wndl_buf_byte(buf, (uint8_t)digits[index - 1]);
    wndl_buf_byte(buf, '_');
}

/* Each argument is a pair of the one before: the text doubles each time. */
static void name_that_stands_for_2_to_the_30_stays_mangled(void **state)
{
    struct wndl_buf name;
    wndl_buf_init(&name, wndl_mem_libc());
    wndl_buf_text(&name, "_Z1f4pairIiiE");
    for (unsigned i = 0; i < 30; i++) {
        wndl_buf_text(&name, "S_I");
        put_reference(&name, i + 1);
        put_reference(&name, i + 1);
        wndl_buf_byte(&name, 'E');
        wndl_buf_byte(&name, 0);
        const char *text = (const char *)name.data;
        size_t size = strlen(demangled(state, text));
        if (i == 4)
            assert_true(size > 1000);
        if (i == 29)
            assert_string_equal(demangled(state, text), text);
        name.size--;
    }
    wndl_buf_free(&name);
}

/* Each parameter is an array of the one before, indexed by the same. */
static void d_name_that_stands_for_2_to_the_40_stays_mangled(void **state)
{
    char name[256] = "_D1fFHiiHQeQg";
    for (int i = 0; i < 40; i++) {
        size_t size = strlen(name);
        strcpy(name + size, "Zv");
        const char *text = demangled(state, name);
        if (i == 3)
            assert_true(strlen(text) > 100);
        if (i == 39)
            assert_string_equal(text, name);
        strcpy(name + size, "HQgQi");
    }
}

static void names_of_some_thousand_characters_are_read(void **state)
{
    struct wndl_buf name;
    wndl_buf_init(&name, wndl_mem_libc());
    wndl_buf_text(&name, "_Z1fI");
    while (name.size < 3000)
        wndl_buf_text(&name, "4pairIilE");
    wndl_buf_text(&name, "EvT_");
    wndl_buf_byte(&name, 0);
    const char *text = demangled(state, (const char *)name.data);
    const char start[] = "void f<pair<int, long>, pair<int, long>";
    assert_memory_equal(text, start, strlen(start));
    wndl_buf_free(&name);
}

static void deep_and_long_names_stay_mangled(void **state)
{
    static const char *const starts[] = {
        "_Z1f", "_R", "_D3foo", "?x@@3", "??$f@", "??1", "?f@@YAX"};
    static const char *const parts[] = {
        "P", "INvC3foo3bar", "Q", "PEA", "V?$A@", "??1", "P6AX"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct wndl_buf name;
        wndl_buf_init(&name, wndl_mem_libc());
        wndl_buf_text(&name, starts[i]);
        while (name.size < 100000) {
            wndl_buf_text(&name, parts[i]);
            if (name.size % 50 != 0 && name.size > 1000)
                continue;
            wndl_buf_byte(&name, 0);
            (void)demangled(state, (const char *)name.data);
            name.size--;
        }
        wndl_buf_byte(&name, 0);
        const char *text = (const char *)name.data;
        assert_string_equal(demangled(state, text), text);
        wndl_buf_free(&name);
    }
}

/* 1,670 scopes come close to the limit of what is put together; a long word
 * steps over it. */
static void a_word_is_within_the_limit_too(void **state)
{
    (void)state;
    enum { SCOPES = 1670, LONG = 10000, MORE = 1000, LIMIT = 4 << 20 };
    struct wndl_buf name, text;
    wndl_buf_init(&name, wndl_mem_libc());
    wndl_buf_init(&text, wndl_mem_libc());
    wndl_buf_add(&name, "?f@", 3);
    for (unsigned i = 0; i < SCOPES; i++)
        wndl_buf_add(&name, "a@", 2);
    for (unsigned i = 0; i < LONG; i++)
        wndl_buf_byte(&name, 'w');
    for (unsigned i = 0; i < MORE; i++)
        wndl_buf_add(&name, "@a", 2);
    wndl_buf_add(&name, "@@YAXXZ", 7);
    assert_false(
        wndl_msvc_demangle((struct wndl_bytes){name.data, name.size}, &text));
    assert_true(text.size <= LIMIT);
    wndl_buf_free(&name);
    wndl_buf_free(&text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_scheme_is_read),
        TEST(microsofts_names_are_read),
        cmocka_unit_test(a_word_is_within_the_limit_too),
        TEST(broken_names_of_microsofts_stay),
        TEST(microsofts_name_that_stands_for_10_to_the_9_stays),
        TEST(what_is_not_mangled_stays),
        TEST(clone_marks_are_kept_beside_the_signature),
        TEST(symbol_versions_are_left_out),
        TEST(same_name_is_worked_out_once),
        TEST(name_that_stands_for_2_to_the_30_stays_mangled),
        TEST(d_name_that_stands_for_2_to_the_40_stays_mangled),
        TEST(names_of_some_thousand_characters_are_read),
        TEST(deep_and_long_names_stay_mangled),
    };
    return cmocka_run_group_tests_name("demangle", tests, NULL, NULL);
}
