/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "model/short_name.h"
#include "obj/core/object.h"
#include "os/file.h"
#include "symbolize/demangle/demangle.h"

enum { USUAL = 80 };

static struct wndl_bytes bytes_of_text(const char *text)
{
    return (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
}

static void expect(const char *name, size_t limit, const char *wanted)
{
    struct wndl_buf out;
    wndl_buf_init(&out, wndl_mem_libc());
    wndl_short_name(bytes_of_text(name), limit, &out);
    wndl_buf_byte(&out, '\0');
    assert_false(out.failed);
    assert_string_equal((const char *)out.data, wanted);
    wndl_buf_free(&out);
}

static void expect_same(const char *name)
{
    expect(name, 0, name);
}

#define STRING                                                                 \
    "std::__cxx11::basic_string<char, std::char_traits<char>, "                \
    "std::allocator<char> >"

static void standard_types_are_spelled_as_in_source(void **state)
{
    (void)state;
    expect(STRING "::_M_data() const", USUAL, "std::string::_M_data() const");
    expect("f(std::__cxx11::basic_string<char>)", USUAL, "f(std::string)");
    expect("std::__1::basic_string<wchar_t, std::__1::char_traits<wchar_t>, "
           "std::__1::allocator<wchar_t> >::clear()",
        USUAL, "std::wstring::clear()");
    expect("f(std::basic_ostream<char, std::char_traits<char> >&)", USUAL,
        "f(std::ostream&)");
    expect("std::_V2::error_category::name()", USUAL,
        "std::error_category::name()");
    expect("f[abi:cxx11](int)", USUAL, "f(int)");
    expect("std::basic_string<Wide, std::char_traits<Wide>, Pool>::data()",
        USUAL, "std::basic_string<Wide, std::char_traits<Wide>, Pool>::data()");
    expect_same("my_std::__cxx11::f()");
    expect("std::basic_string<char16_t>::f()", USUAL,
        "std::basic_string<char16_t>::f()");
}

static void default_arguments_are_left_out(void **state)
{
    (void)state;
    expect("std::vector<int, std::allocator<int> >::f()", USUAL,
        "std::vector<int>::f()");
    expect("std::map<" STRING ", int, std::less<" STRING
           " >, std::allocator<std::pair<" STRING " const, int> > >::f()",
        USUAL, "std::map<std::string, int>::f()");
    expect("std::unique_ptr<A, std::default_delete<A> >::get()", USUAL,
        "std::unique_ptr<A>::get()");
}

static void arguments_that_somebody_chose_stay(void **state)
{
    (void)state;
    expect("std::set<int, std::less<void>, std::allocator<int> >::f()", USUAL,
        "std::set<int, std::less<void>>::f()");
    expect("std::set<int, Less, Pool<int> >::f()", USUAL,
        "std::set<int, Less, Pool<int>>::f()");
    expect("mine::set<int, std::allocator<int> >::f()", USUAL,
        "mine::set<int, std::allocator<int>>::f()");
    expect("std::is_same<std::allocator<int>, int>::f()", USUAL,
        "std::is_same<std::allocator<int>, int>::f()");
}

static void arguments_go_before_parameters_innermost_first(void **state)
{
    (void)state;
    const char *name =
        "ns::A<B<int, char>, long>::f(C<unsigned>, unsigned) const";
    expect(name, 57, name);
    expect(name, 56, "ns::A<B<...>, long>::f(C<unsigned>, unsigned) const");
    expect(name, 50, "ns::A<B<...>, long>::f(C<...>, unsigned) const");
    expect(name, 45, "ns::A<...>::f(C<...>, unsigned) const");
    expect(name, 30, "ns::A<...>::f(...) const");
    expect(name, 0, "ns::A<...>::f(...) const");
}

static void brackets_of_operators_are_no_lists(void **state)
{
    (void)state;
    expect("a::operator< <int>(X<int>)", 0, "a::operator< <int>(...)");
    expect("a::operator<< <Longer>(X)", 0, "a::operator<< <...>(X)");
    expect("a::operator-><Longer>()", 0, "a::operator-><...>()");
    expect("P<Longer>::operator->() const", 0, "P<...>::operator->() const");
    expect("P<Longer>::operator->*(int) const", 0,
        "P<...>::operator->*(int) const");
    expect("F<Longer>::operator()(Arguments) const", 0,
        "F<...>::operator()(...) const");
    expect("F<Longer>::operator()<Longer>(Arguments) const", 0,
        "F<...>::operator()<...>(...) const");
    expect("operator>>(Stream&, T&)", 0, "operator>>(...)");
    expect("operator<=>(Value, T)", 0, "operator<=>(...)");
    expect("A<Longer>::operator[](unsigned)", 0, "A<...>::operator[](...)");
    expect("A::operator std::vector<Longer>() const", 0,
        "A::operator std::vector<...>() const");
    expect("A::operator new[](unsigned long)", 0, "A::operator new[](...)");
    expect("my_operator<Longer>::f()", 0, "my_operator<...>::f()");
    expect("E<((sizeof (T))<(8)), (((A)->b)>(2))>::f()", 0, "E<...>::f()");
    expect("E<((1)<<(3))>::f(Longer)", 0, "E<...>::f(...)");
}

static void lambdas_and_unnamed_scopes_stay(void **state)
{
    (void)state;
    expect("f(Longer)::{lambda(int, long)#1}::operator()(int, long) const", 0,
        "f(...)::{lambda(...)#1}::operator()(...) const");
    expect("(anonymous namespace)::f<Longer>((anonymous namespace)::T)", 0,
        "(anonymous namespace)::f<...>(...)");
    expect("words(std::mt19937&)::<lambda(auto:1&, auto:2&)>", 0,
        "words(...)::<lambda(...)>");
    expect("void (*choose<Longer>(Number))(char const*)", 0,
        "void (*choose<...>(...))(...)");
    expect("f(Longer) [clone .cold]", 0, "f(...) [clone .cold]");
}

static void names_of_other_languages_keep_their_shape(void **state)
{
    (void)state;
    expect_same("main");
    expect_same("__memcpy_avx512_unaligned_erms");
    expect_same("libc.so.6+0x1234");
    expect_same("main.(*Server).Serve");
    expect_same("-[NSString stringByAppendingString:]");
    expect("<alloc::vec::Vec<T, Global> as core::ops::drop::Drop>::drop", 0,
        "<alloc::vec::Vec<...> as core::ops::drop::Drop>::drop");
    expect("core::ptr::drop_in_place::<alloc::string::String>", 0,
        "core::ptr::drop_in_place::<...>");
    expect("run::<fn(u8) -> u8>::{closure#0}", 0, "run::<...>::{closure#0}");
    expect_same("memcmp@plt");
}

static void nonsense_is_left_as_it_is(void **state)
{
    (void)state;
    expect_same("");
    expect_same("f(long_argument");
    expect_same("f<long_argument");
    expect_same("f)(");
    expect_same("f<a(b>c)");
    expect_same("f]");
    expect_same("[abi:cxx11]");
    char deep[2 * USUAL + 1] = {0};
    memset(deep, '(', USUAL);
    memset(deep + USUAL, ')', USUAL);
    expect_same(deep);
}

static void memory_that_runs_out_is_told(void **state)
{
    (void)state;
    struct wndl_bytes name = bytes_of_text(STRING "::f(int) const");
    for (long budget = 0; budget < 20; budget++) {
        struct failing_mem heap;
        struct wndl_buf out;
        failing_mem_init(&heap, budget);
        wndl_buf_init(&out, &heap.mem);
        wndl_short_name(name, 0, &out);
        bool failed = out.failed;
        wndl_buf_free(&out);
        assert_int_equal(heap.live, 0);
        if (!failed)
            return;
    }
    fail_msg("never succeeds");
}

/* ---- real names */

static size_t count(struct wndl_bytes s, char c)
{
    size_t found = 0;
    for (size_t i = 0; i < s.size; i++)
        found += s.data[i] == (uint8_t)c;
    return found;
}

static bool has(struct wndl_bytes s, const char *part)
{
    return memmem(s.data, s.size, part, strlen(part)) != NULL;
}

/* Whether each '<' and '>' in it is a bracket. */
static bool is_plain(struct wndl_bytes s)
{
    return !has(s, "operator") && !has(s, "->") && !has(s, ")<") &&
           !has(s, ")>");
}

/* The end without the bracket that ends there, told by counting alone. */
static size_t before_bracket(struct wndl_bytes s, size_t end, char open)
{
    char close = open == '(' ? ')' : '>';
    size_t depth = 0;
    if (end == 0 || s.data[end - 1] != (uint8_t)close)
        return end;
    for (size_t i = end; i > 0; i--) {
        depth += s.data[i - 1] == (uint8_t)close;
        depth -= s.data[i - 1] == (uint8_t)open;
        if (depth == 0)
            return i - 1;
    }
    return end;
}

static struct wndl_bytes last_component(struct wndl_bytes s, bool plain)
{
    static const char qualifier[] = " const";
    size_t end = s.size;
    if (end > strlen(qualifier) && memcmp(s.data + end - strlen(qualifier),
                                       qualifier, strlen(qualifier)) == 0)
        end -= strlen(qualifier);
    end = before_bracket(s, end, '(');
    if (plain)
        end = before_bracket(s, end, '<');
    size_t start = end;
    while (start > 0 && strchr(":(){}<>, *&.", s.data[start - 1]) == NULL)
        start--;
    return wndl_bytes_slice(s, start, end - start);
}

static void check_result(struct wndl_bytes name, struct wndl_bytes result)
{
    static const char brackets[] = "()[]{}";
    assert_true(result.size <= name.size);
    for (size_t i = 0; brackets[i] != '\0'; i += 2)
        assert_int_equal(
            count(result, brackets[i]) + count(name, brackets[i + 1]),
            count(result, brackets[i + 1]) + count(name, brackets[i]));
    bool plain = is_plain(name);
    if (plain)
        assert_int_equal(count(result, '<'), count(result, '>'));
    struct wndl_bytes wanted = last_component(name, plain);
    struct wndl_bytes have = last_component(result, plain);
    bool respelled = has(name, "[abi:") || has(name, "operator std::");
    if (!respelled && !wndl_bytes_equal(wanted, have))
        fail_msg("%.*s\nbecame %.*s", (int)name.size, (const char *)name.data,
            (int)result.size, (const char *)result.data);
}

static void check_name(struct wndl_bytes name, struct wndl_buf bufs[2])
{
    static const size_t limits[] = {0, 40, USUAL, SIZE_MAX};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct wndl_bytes results[2];
        for (size_t k = 0; k < 2; k++) {
            wndl_buf_clear(&bufs[k]);
            wndl_short_name(name, limits[i], &bufs[k]);
            results[k] = (struct wndl_bytes){bufs[k].data, bufs[k].size};
        }
        assert_true(wndl_bytes_equal(results[0], results[1]));
        check_result(name, results[0]);
        /* What it gives is a name that it takes. */
        wndl_buf_clear(&bufs[1]);
        wndl_short_name(results[0], limits[i], &bufs[1]);
        results[1] = (struct wndl_bytes){bufs[1].data, bufs[1].size};
        assert_true(wndl_bytes_equal(results[0], results[1]));
    }
}

static void check_functions(struct wndl_object *object)
{
    enum { MAX_NAMES = 20000 };
    struct wndl_arena arena;
    struct wndl_demangler demangler;
    struct wndl_buf bufs[2];
    const struct wndl_symbol *symbols;
    size_t all;
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_buf_init(&bufs[0], wndl_mem_libc());
    wndl_buf_init(&bufs[1], wndl_mem_libc());
    assert_true(wndl_demangler_init(&demangler, &arena));
    assert_int_equal(
        wndl_object_functions(object, &symbols, &all, NULL), WNDL_OK);
    for (size_t i = 0; i < all; i += 1 + all / MAX_NAMES)
        check_name(
            bytes_of_text(wndl_demangle(&demangler, symbols[i].name)), bufs);
    wndl_buf_free(&bufs[0]);
    wndl_buf_free(&bufs[1]);
    wndl_arena_free(&arena);
}

/* Of libraries that this machine may have. */
static void real_names_keep_brackets_and_last_component(void **state)
{
    (void)state;
    static const char *const paths[] = {
        "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
        "/usr/lib/x86_64-linux-gnu/libLLVM.so.19.1",
        "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
        "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus",
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct wndl_file file;
        struct wndl_object *object;
        if (wndl_file_open(paths[i], &file, NULL) != WNDL_OK)
            continue;
        if (wndl_object_open(file.bytes, paths[i], wndl_mem_libc(), &object,
                NULL) == WNDL_OK) {
            check_functions(object);
            wndl_object_close(object);
        }
        wndl_file_close(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(standard_types_are_spelled_as_in_source),
        cmocka_unit_test(default_arguments_are_left_out),
        cmocka_unit_test(arguments_that_somebody_chose_stay),
        cmocka_unit_test(arguments_go_before_parameters_innermost_first),
        cmocka_unit_test(brackets_of_operators_are_no_lists),
        cmocka_unit_test(lambdas_and_unnamed_scopes_stay),
        cmocka_unit_test(names_of_other_languages_keep_their_shape),
        cmocka_unit_test(nonsense_is_left_as_it_is),
        cmocka_unit_test(memory_that_runs_out_is_told),
        cmocka_unit_test(real_names_keep_brackets_and_last_component),
    };
    return cmocka_run_group_tests_name("short_name", tests, NULL, NULL);
}
