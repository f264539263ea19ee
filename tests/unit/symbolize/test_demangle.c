/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "base/buf.h"
#include "symbolize/demangle/cxx.h"
#include "symbolize/demangle/demangle.h"
#include "symbolize/demangle/msvc.h"

#include <stdio.h>
#include <stdlib.h>

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

/* DW_LANG_* */
enum { C = 0x02, PASCAL = 0x09, HASKELL = 0x18, OCAML = 0x1b, ASM = 0x8001 };

static const char *demangled_in(
    void **state, const char *name, uint16_t language)
{
    struct fixture *fixture = *state;
    struct wndl_bytes bytes = {(const uint8_t *)name, strlen(name)};
    const char *text = wndl_demangle_in(&fixture->demangler, bytes, language);
    assert_non_null(text);
    return text;
}

static void names_are_read_as_the_unit_says(void **state)
{
    static const struct {
        uint16_t language;
        const char *name, *text;
    } names[] = {
        {HASKELL, "base_GHCziBase_zpzp_info", "base_GHC.Base_++_info"},
        {HASKELL, "Main_zdwgo1_entry", "Main_$wgo1_entry"},
        {HASKELL, "ghczmprim_GHCziTupleziPrim_Z3T_con_info",
            "ghc-prim_GHC.Tuple.Prim_(,,)_con_info"},
        {HASKELL, "M_Z0T_Z1H_Z2H_info", "M_()_(# #)_(#,#)_info"},
        {HASKELL, "ZLZRZMZNZCZZzzzazbzczezgzhzizlzmznzqzrzsztzuzv",
            "()[]:Zz&|^=>#.<-!'\\/*_%"},
        {HASKELL, "z3bbUx_z20acU", "\316\273x_\342\202\254"},
        {HASKELL, "z1f600U", "\360\237\230\200"},
        {HASKELL, "_Z3fooi", "foo(int)"}, /* no tuple, but C++ */
        {HASKELL, "zx", "zx"},
        {HASKELL, "Z99T", "Z99T"},
        {HASKELL, "z0d800U", "z0d800U"},
        {HASKELL, "z110000U", "z110000U"},
        {HASKELL, "z1U", "z1U"},
        {OCAML, "camlStdlib__List__map_482", "Stdlib.List.map_482"},
        {OCAML, "camlMain__$5e$40_7", "Main.^@_7"},
        {ASM, "camlMain__entry", "Main.entry"},
        {ASM, "caml_alloc1", "caml_alloc1"},
        {OCAML, "camlMain__$zz_7", "camlMain__$zz_7"},
        {C, "camlMain__entry", "camlMain__entry"},
        {C, "base_GHCziBase_zpzp_info", "base_GHCziBase_zpzp_info"},
        {0, "UU_$$_RUN", "UU_$$_RUN"},
        {PASCAL, "P$PROG_$$_NOARGS", "PROG.NOARGS"},
        {PASCAL, "UU_$$_HELPER$LONGINT$DOUBLE$$LONGINT",
            "UU.HELPER(LONGINT, DOUBLE)"},
        {PASCAL, "UU_$$_$plus$TFOO$LONGINT$$LONGINT",
            "UU.$plus(TFOO, LONGINT)"},
        {PASCAL, "UU$_$TFOO_$__$$_CREATE$$TFOO", "UU.TFOO.CREATE"},
        {PASCAL, "P$PROG$_$TG$1$CRC9F312717_$__$$_GET$LONGINT$$LONGINT",
            "PROG.TG$1$CRC9F312717.GET(LONGINT)"},
        {PASCAL, "UU$_$HELPER$LONGINT_$$_INNER",
            "UU$_$HELPER$LONGINT_$$_INNER"},
        {PASCAL, "_$$_X", "_$$_X"},
        {PASCAL, "PASCALMAIN", "PASCALMAIN"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(
            demangled_in(state, names[i].name, names[i].language),
            names[i].text);
}

/* A part of a name is a name or stays, and is never read beyond its end. */
static void cut_names_of_units_are_bounded(void **state)
{
    (void)state;
    static const char *const names[] = {"",
        "ghczmprim_GHCziTuple_Z3T_z3bbU_Z0T", "camlStdlib__List__$5e$40_48",
        "P$PROG$_$TG$1$CRC9_$__$$_GET$LONGINT$DOUBLE$$LONGINT",
        "UU_$$_$plus$TFOO$LONGINT$$LONGINT"};
    static struct wndl_buf text;
    wndl_buf_init(&text, wndl_mem_libc());
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t size = 0; size <= strlen(names[i]); size++) {
            uint8_t *cut = malloc(size + 1);
            assert_non_null(cut);
            memcpy(cut + 1, names[i], size); /* its end is the block's */
            for (unsigned s = 0; s < WNDL_NAME_SCHEMES; s++)
                if (wndl_unit_name_demangle(
                        s, (struct wndl_bytes){cut + 1, size}, &text))
                    assert_true(text.size <= 64 * size);
            free(cut);
        }
    wndl_buf_free(&text);
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
        {"__RNvC1a1b", "a::b"},
        {"__ZN3foo3bar17h05af221e174051e9E", "foo::bar"},
        {"_D8demangle4testFaZv", "demangle.test(char)"},
        {"_Dmain", "D main"},
        {"?walk@shape@ns@@UEAAHH@Z", "ns::shape::walk(int)"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_string_equal(demangled(state, pairs[i][0]), pairs[i][1]);
}

/*
 * What clang 19 and GCC 12 mangle, most of which libiberty does not read. One
 * of the last two names T_ in two functions.
 */
static const char *const todays[][2] = {
    {"_Z2f1ITk3NumiET_S0_", "int f1<int>(int)"},
    {"_Z2f1B1aB2bcITk3NumiET_S0_", "int f1[abi:a][abi:bc]<int>(int)"},
    {"_Z2f2IiQ3NumIT_EES0_S0_", "int f2<int>(int)"},
    {"_Z2f3IiET_S0_Qaa3NumIS0_EeqstS0_Li4E",
        "int f3<int>(int) requires (Num<int> && (sizeof (int) == 4))"},
    {"_ZN1AIiE1fIlQ3NumITL0__EEEvv", "void A<int>::f<long>()"},
    {"_Z2f4ITnDaXadL_ZL4zerovEEEiv", "int f4<&zero()>()"},
    {"_Z3f6bITtTk3NumE2V1Eiv", "int f6b<V1>()"},
    {"_ZNH1S3dedIRS_EEiOT_i", "int S::ded<S&>(this S&, int)"},
    {"_ZNH1S2d2ES_", "S::d2(this S)"},
    {"_ZN1DCI21CIfEET_", "D::D(float)"},
    {"_Z3f11I4HasTEvT_QrQS1__Xplfp_Li1ETNS1_4typeEXcldtfp_1xENR3Nu"
     "mQ3NumIS1_EE",
        "void f11<HasT>(HasT) requires requires (HasT) { ({parm#1} + "
        "1); typename HasT::type; {{parm#1}.x()} noexcept -> Num; "
        "requires Num<HasT>; }"},
    /* gcc counts the type after "sr" as a part; LLVM does not read this. */
    {"_ZSt1aIcENSt1eIXsrSt1rIT_vE1vEPS2_E1tES4_RSaIS2_E",
        "std::e<std::r<char, void>::v, char*>::t "
        "std::a<char>(char*, std::allocator<char>&)"},
    {"_Z3limILi2EEUa9enable_ifIXgtLi2ELi0EEEiv",
        "int lim<2>() [enable_if:(2 > 0)]"},
    {"_Z2biDB17_DU33_", "bi(_BitInt(17), unsigned _BitInt(33))"},
    {"_Z3binILi13EEvDBT__", "void bin<13>(_BitInt(13))"},
    {"_Z6nestedIPFivEEvT_DTclfL0p_EE",
        "void nested<int (*)()>(int (*)(), decltype ({parm#1}()))"},
    {"_Z5quietIiEvT_DTcvbnxcvS0__EE",
        "void quiet<int>(int, decltype ((bool)(noexcept ((int)()))))"},
    {"_Z2f8IJiiEEDTfRplfp_Li0EEDpT_",
        "decltype (({parm#1} + ... + 0)) f8<int, int>(int, int)"},
    {"_Z1gIJLi3ELi4EEEvDUfrplT__",
        "void g<3, 4>(unsigned _BitInt(((3, 4) + ...)))"},
    {"_Z13folded_valuesIJLi1ELi2EEE6NumberIXfRplT_Li7EEEv",
        "Number<((1, 2) + ... + 7)> folded_values<1, 2>()"},
    {"_Z2ntIXtl1LLi1ELi2EEEEiv", "int nt<L{1, 2}>()"},
    {"_ZNK4lam2MUlTyTniRAT0__T_E_clIiLi3EEEDaS2_Q3NumIS0_E",
        "auto lam2::{lambda<typename $T, int $N>($T (&) "
        "[$N])#1}::operator()<int, 3>(int (&) [3]) const requires "
        "Num<int>"},
    {"_ZNK4lam4MUlTpTk3NumDpT_E_clIJilEEEDaS1_",
        "auto lam4::{lambda<Num $T...>($T...)#1}::operator()<int, "
        "long>(int, long) const"},
    {"_ZNK7closureMUlTyTniT_6NumberIXT0_EEE_clIiLi2EEEDaS0_S2_",
        "auto closure::{lambda<typename $T, int $N>($T, Number<$N>)#1}::"
        "operator()<int, 2>(int, Number<2>) const"},
    {"_ZW1mWP4part2exi", "ex@m:part(int)"},
    {"_ZGIW1mWP4part", "initializer for module m:part"},
    {"___ZN2ns1W2goEv_block_invoke",
        "invocation function for block in ns::W::go()"},
    {"____ZN2ns1W2goEv_block_invoke_2.cold",
        "invocation function for block in ns::W::go() [clone .cold]"},
    {"__ZN2ns1W2goEv", "ns::W::go()"},
    {"_ZNK1AcvSt6vectorIiSaIiEEEv",
        "A::operator std::vector<int, std::allocator<int> >() const"},
    {"_ZNK1ScvT_IiEEv", "S::operator int<int>() const"},
    {"_Z1fDF16bDF16_DF32x", "f(std::bfloat16_t, _Float16, _Float32x)"},
    {"_ZTW2tl", "TLS wrapper function for tl"},
    {"_ZN1AF1fES_", "A::friend f(A)"},
    {"_ZDC1a1bE", "[a, b]"},
    {"_Z1fIJEEvDpT_", "void f<>()"},
    {"_Z1fIJilEEvPFvDpT_EDpRKS0_",
        "void f<int, long>(void (*)(int, long), int const&, long "
        "const&)"},
    {"_ZZ1fvEd0_NKUlvE_clEv",
        "f()::{default arg#2}::{lambda()#1}::operator()() const"},
    {"_ZNSsC1Ev", "std::basic_string<char, std::char_traits<char>, "
                  "std::allocator<char> >::basic_string()"},
    {"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEED1Ev",
        "std::__cxx11::basic_string<char, std::char_traits<char>, "
        "std::allocator<char> >::~basic_string()"},
    {"_Z4makeI6mappedIN3MapIilE8iteratorEZ6secondIRS2_EDaOT_EUlRK4pairIilEE_"
     "RKlEE5rangeIS6_ES6_",
        "range<mapped<Map<int, long>::iterator, second<Map<int, long>&>(Map<int"
        ", long>&)::{lambda(pair<int, long> const&)#1}, long const&> > "
        "make<mapped<Map<int, long>::iterator, second<Map<int, "
        "long>&>(Map<int, "
        "long>&)::{lambda(pair<int, long> const&)#1}, long const&> >(mapped<"
        "Map<int, long>::iterator, second<Map<int, long>&>(Map<int, long>&)::"
        "{lambda(pair<int, long> const&)#1}, long const&>)"},
    {"_Z1fIZ1gIlENT_1tES0_EUlvE_KcEvS0_RKT0_",
        "void f<g<long>(g)::{lambda()#1}, char const>(g, char const&)"},
};

static void todays_names_are_read(void **state)
{
    for (size_t i = 0; i < sizeof todays / sizeof *todays; i++)
        assert_string_equal(demangled(state, todays[i][0]), todays[i][1]);
}

/* Ours reads what libiberty reads, too, and nothing crashes it. */
static void our_reader_of_cxx_is_bounded(void **state)
{
    (void)state;
    struct wndl_buf text;
    wndl_buf_init(&text, wndl_mem_libc());
    for (size_t i = 0; i < sizeof todays / sizeof *todays; i++) {
        struct wndl_bytes name = {
            (const uint8_t *)todays[i][0], strlen(todays[i][0])};
        size_t size = strlen(todays[i][1]);
        assert_true(wndl_cxx_demangle(name, size, &text));
        assert_int_equal(text.size, size);
        assert_memory_equal(text.data, todays[i][1], size);
        assert_false(wndl_cxx_demangle(name, size - 1, &text));
        for (size_t cut = 0; cut < name.size; cut++) {
            uint8_t *copy = malloc(cut + 1);
            assert_non_null(copy);
            memcpy(copy + 1, name.data, cut); /* its end is the block's */
            (void)wndl_cxx_demangle(
                (struct wndl_bytes){copy + 1, cut}, 1000, &text);
            assert_true(text.size <= 1000);
            free(copy);
        }
    }
    wndl_buf_free(&text);
}

static void our_reader_of_cxx_survives_a_lack_of_memory(void **state)
{
    (void)state;
    const char *name = todays[9][0];
    bool done = false;
    for (long budget = 0; !done; budget++) {
        struct failing_mem heap;
        struct wndl_buf text;
        failing_mem_init(&heap, budget);
        wndl_buf_init(&text, &heap.mem);
        done = wndl_cxx_demangle(
            (struct wndl_bytes){(const uint8_t *)name, strlen(name)}, 1000,
            &text);
        wndl_buf_free(&text);
        assert_int_equal(heap.live, 0);
        assert_true(budget < 1000);
    }
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
    static const char *const pairs[][2] = {
        {"_RNvNtCs1234_7mycrate3foo3bar.cold",
            "mycrate::foo::bar [clone .cold]"},
        {"_RNvNtCs1234_7mycrate3foo3bar.llvm.123456", "mycrate::foo::bar"},
        {"_RNvNtCs1234_7mycrate3foo3bar.llvm.123456.warm",
            "mycrate::foo::bar [clone .warm]"},
        {"_RNvNtCs1234_7mycrate3foo3bar.0.llvm.1",
            "mycrate::foo::bar [clone .0]"},
        {"_ZN4core3fmt3pad17h0123456789abcdefE.part.0.cold",
            "core::fmt::pad [clone .part.0] [clone .cold]"},
        {"_ZN4core3fmt3pad17h0123456789abcdefE.llvm.1", "core::fmt::pad"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_string_equal(demangled(state, pairs[i][0]), pairs[i][1]);
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
        TEST(names_are_read_as_the_unit_says),
        TEST(cut_names_of_units_are_bounded),
        TEST(todays_names_are_read),
        cmocka_unit_test(our_reader_of_cxx_is_bounded),
        cmocka_unit_test(our_reader_of_cxx_survives_a_lack_of_memory),
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
