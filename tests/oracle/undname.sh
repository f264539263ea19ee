#!/bin/sh
# SPDX-License-Identifier: MIT
# Names that clang mangles for Windows, whole and as in stacks, against
# llvm-undname; and what changes of letters make of them.
#
#     undname.sh UNDNAME
#
# The peer is not followed in four things. It counts nameless namespaces among
# what digits refer to, as Microsoft's compiler does, but clang does not: the
# hash of one then is in its answer. It reads the symbols of string
# literals, which no code has. In short names it leaves the result and the
# calling convention out of function types too, but not where a name refers
# back to one; those are compared whole. And it reads some names that make no
# sense, with calling conventions that there are not: of what is not what a
# compiler writes, only that is compared which both can read.
set -eu
. "$(dirname "$0")/../lib/have.sh"
export LC_ALL=C
undname=$1
here=$(cd "$(dirname "$0")" && pwd)
need clang-19 llvm-nm-19 llvm-undname-19 python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >a.cc <<'END_OF_SOURCE'
typedef decltype(sizeof 0) size_t;
extern "C" int extern_c(int);
#define KEEP __attribute__((noinline, used))
struct base { KEEP virtual ~base() {} virtual int over(int) const; int b; };
KEEP int base::over(int x) const { return x; }
struct other { KEEP virtual void more() volatile {} };
struct both : base, other {
    KEEP int over(int x) const override { return b + x; }
    KEEP void more() volatile override {}
};
struct virt : virtual base { KEEP int over(int x) const override { return x; } };
struct deep : virt, virtual other { KEEP ~deep() {} };
template <class T, class... More> struct list {
    KEEP list() {}
    KEEP list(const list &) {}
    KEEP list(list &&) {}
    template <class U> KEEP list(U, T) {}
    ~list() {}
    KEEP operator T() const { return T(); }
    template <class U> KEEP operator list<U> *() { return nullptr; }
    KEEP T &operator[](int) & { return held; }
    KEEP T operator[](int) && { return held; }
    KEEP bool operator()(T, More...) const volatile { return true; }
    KEEP list &operator=(const list &) { return *this; }
    KEEP T *operator->() { return &held; }
    KEEP list operator++() { return *this; }
    KEEP list operator++(int) { return *this; }
    static KEEP T make(T a, list<T, T> *, list<T, T> *) { return a; }
    static T shared;
    T held;
    struct inner { template <class V> KEEP V in(T, V v) { return v; } };
};
template <class T, class... More> T list<T, More...>::shared;
#define OPERATOR(op)                                                           \
    template <class T> KEEP bool operator op(const list<T> &, const list<T> &) \
    {                                                                          \
        return true;                                                           \
    }
OPERATOR(+) OPERATOR(-) OPERATOR(*) OPERATOR(/) OPERATOR(%) OPERATOR(^)
OPERATOR(&) OPERATOR(|) OPERATOR(<) OPERATOR(>) OPERATOR(<=) OPERATOR(>=)
OPERATOR(==) OPERATOR(!=) OPERATOR(<<) OPERATOR(>>) OPERATOR(&&) OPERATOR(||)
OPERATOR(+=) OPERATOR(-=) OPERATOR(*=) OPERATOR(/=) OPERATOR(%=) OPERATOR(^=)
OPERATOR(&=) OPERATOR(|=) OPERATOR(<<=) OPERATOR(>>=) OPERATOR(->*)
template <class T> KEEP bool operator!(const list<T> &) { return true; }
template <class T> KEEP bool operator~(const list<T> &) { return true; }
KEEP void *operator new(size_t) { return nullptr; }
KEEP void *operator new[](size_t) { return nullptr; }
KEEP void operator delete(void *) noexcept {}
KEEP void operator delete(void *, size_t) noexcept {}
KEEP void operator delete[](void *) noexcept {}
KEEP long double operator""_deg(long double x) { return x; }
enum plain { one };
enum class scoped : char { two };
union either { int i; float f; };
int global;
KEEP int function(int x) { return x; }
template <int N> KEEP int number() { return N; }
template <auto V> KEEP int value() { return 0; }
template <int (*F)(int)> KEEP int call(int x) { return F(x); }
template <int &R> KEEP int refer() { return R; }
template <int base::*P> KEEP int member(base &b) { return b.*P; }
template <int (base::*P)(int) const> KEEP int method(base &b)
{
    return (b.*P)(1);
}
template <template <class...> class L> KEEP int pattern(L<int>) { return 0; }
template <class T> struct alias_of { template <class U> using type = list<U>; };
template <class T> KEEP int sized(T (&)[3], T (*)[2][4]) { return 0; }
KEEP void types(bool, char, signed char, unsigned char, short, unsigned short,
    long, unsigned long, long long, unsigned long long, float, double,
    long double, wchar_t, char16_t, char32_t, decltype(nullptr), plain, scoped,
    either, int *const *volatile *, const volatile int &, base &&, ...) {}
KEEP void functions(int (*)(int), int (*(*)(char))(long), int base::*,
    int (base::*)(int) const, int (&)(int), void (*const *)(...),
    int (*__restrict)[4], const char *const (&)[2]) {}
KEEP void throws(void (*)() noexcept) noexcept {}
namespace {
struct hidden { KEEP int tell(hidden *) { return 1; } };
template <class T> KEEP T of_hidden(T t, hidden, hidden *) { return t; }
}
namespace a { namespace b { inline namespace c {
struct in { KEEP in *self(in &, a::b::in const *) { return this; } };
} } }
struct made { KEEP made() {} KEEP ~made() {} static made first; };
made made::first;
made later;
static made hidden_later;
thread_local made threads;
KEEP int locals(int x)
{
    static made once;
    struct local { KEEP int tell() { static int calls; return ++calls; } };
    auto f = [x](auto y) { struct nested { KEEP int n() { return 7; } };
        return nested().n() + x + y; };
    return local().tell() + f(1) + f('c');
}
template <class T> KEEP int long_name(T) { return 0; }
template class list<int>;
template class list<char, int, list<const char *, base *>>;
template class list<list<list<list<int>>>>;
template class list<int (*)(int, base &), scoped>;
KEEP int all()
{
    hidden h;
    a::b::in i;
    deep d;
    both t;
    virt v;
    list<int> l;
    int three[3];
    list<int>::inner n;
    typedef list<list<list<int>, list<char>>, list<list<int>, list<char>>> much;
    l[0] = l(1) + !l + ~l + (l + l) + (l - l) + (l * l) + (l / l) + (l % l) +
        (l ^ l) + (l & l) + (l | l) + (l < l) + (l > l) + (l <= l) + (l >= l) +
        (l == l) + (l != l) + (l << l) + (l >> l) + (l && l) + (l || l) +
        (l += l) + (l -= l) + (l *= l) + (l /= l) + (l %= l) + (l ^= l) +
        (l &= l) + (l |= l) + (l <<= l) + (l >>= l) + (l->*l);
    list<char> *made = l;
    types(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, nullptr, one,
        scoped::two, either{1}, nullptr, global, base());
    return h.tell(nullptr) + of_hidden(1, h, &h) + (i.self(i, &i) == &i) +
        number<-5>() + number<1000>() + value<3>() + value<&function>() +
        value<&global>() + value<&base::b>() + call<function>(1) +
        refer<global>() + member<&base::b>(t) + method<&base::over>(d) +
        pattern(l) + sized(three, (int (*)[2][4])0) + locals(1) + v.over(1) +
        (n.in(1, &three) == nullptr) + long_name(much()) + long_name((much *)0) +
        (made == nullptr) + list<int>::make(1, 0, 0) + list<int>::shared;
}
END_OF_SOURCE
for machine in x86_64 i686 aarch64; do
    clang-19 --target=$machine-pc-windows-msvc -std=c++20 -O0 -w \
        -fno-threadsafe-statics -c a.cc -o $machine.obj
    llvm-nm-19 -P $machine.obj | cut -d ' ' -f 1
done | grep '^?' | grep -v '^??_C@' | sort -u >names
python3 "$here/undname.py" change <names >changed
failed=0
# The peer fails for names that it cannot read.
short="--no-access-specifier --no-calling-convention --no-member-type
    --no-return-type"
llvm-undname-19 <names >want 2>/dev/null || true
"$undname" -w <names >have
python3 "$here/undname.py" compare names want have all || failed=1
llvm-undname-19 <changed >want 2>/dev/null || true
"$undname" -w <changed >have
python3 "$here/undname.py" compare changed want have both || failed=1
grep -v '\$\$A[68]\|\$[1HIJE]?\|P[68]\|M[^@]*@' names >plain
# shellcheck disable=SC2086 # a list of words
llvm-undname-19 $short <plain >want 2>/dev/null || true
"$undname" <plain >have
python3 "$here/undname.py" compare plain want have all || failed=1
exit $failed
