# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Writes a program in C and C++ that needs no library: a.cc, b.c, table.inc.
cat >table.inc <<'END'
    case 7: sink = k; s += deep(k); break;
    case 9: sink = s; break;
END
cat >a.cc <<'END'
extern "C" int plain(int x);
extern "C" int twice(int x);
namespace ns {
extern volatile int sink;
volatile int sink;
#define INLINE static inline __attribute__((always_inline))
INLINE int deep(int x)
{
    sink = x;
    return x * 3 + sink;
}
INLINE int mid(int x)
{
    int r = deep(x + 1);
    for (int i = 0; i < x; i++)
        r ^= deep(r + i);
    sink = r;
    return r + deep(x + 2);
}
template <class T> struct box {
    T v;
    inline T get(int k)
    {
        sink = k;
        return v * k + (T)sink;
    }
};
enum class color { red, green };
union both {
    int i;
    float f;
    inline int as_int(color c) { return c == color::red ? i : i + sink; }
};
struct shape {
    int k;
    shape(int k) : k(k) {}
    inline __attribute__((always_inline)) int area(int w) { return mid(w) * k; }
    __attribute__((noinline)) virtual int walk(int n);
    struct inner {
        static int tell(int a) { return deep(a) - mid(a); }
    };
};
int shape::walk(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += area(i) + box<int>{i}.get(n) + box<short>{3}.get(s) +
             both{s}.as_int(color::green) + inner::tell(i);
    auto f = [&](int q) { return deep(q) + s; };
    return f(n) + f(s);
}
namespace {
__attribute__((noinline)) int hidden(int x)
{
    int s = 0;
    int k = x + 2;
    switch (x) {
#include "table.inc"
    default: s = mid(x);
    }
    return s + 1;
}
}
}
extern "C" __attribute__((noinline)) int plain(int x)
{
    return ns::hidden(x) + ns::deep(x) + twice(x);
}
extern "C" int start()
{
    ns::shape s(4);
    return s.walk(plain(3));
}
END
cat >b.c <<'END'
volatile int other;
static inline int square(int x) { return x * other; }
static int cube(int x)
{
    int r = square(x) * x;
    if (r > other)
        r += square(r) + square(other);
    return r;
}
int twice(int x);
int twice(int x)
{
#line 100 "elsewhere/made up.c"
    other = cube(x);
    return cube(other) + square(x);
}
END
