#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""units.py FOLDER UNITS FUNCTIONS: writes C++ units of templates that are inlined
into each other and need no header of any system. bench/fetch makes a large PDB
file of them.
"""
import os
import sys

folder, units, functions = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

COMMON = """\
#define INLINE inline __attribute__((always_inline))
#define APART __attribute__((noinline))
template <class T> INLINE T twist(T a, int by)
{
    volatile T kept = a;
    return (kept << (by & 7)) ^ (kept >> 3);
}
template <class A, class B> struct Pair {
    A first;
    B second;
    INLINE A sum() const { return first + A(second); }
    INLINE Pair swap(int by) const { return Pair{A(second), B(twist(first, by))}; }
};
template <class T, int N> struct Row {
    T items[N];
    INLINE T fold() const
    {
        T sum = 0;
        for (int i = 0; i < N; i++)
            sum = sum * 31 + twist(items[i], i);
        return sum;
    }
    template <class F> INLINE void each(F f)
    {
        for (int i = 0; i < N; i++)
            items[i] = f(items[i], i);
    }
};
template <int K, class T, class Tag = void> struct Tower {
    Tower<K - 1, T, Pair<T, Tag *>> inner;
    Row<T, K> row;
    INLINE T top(T a)
    {
        Pair<T, int> pair{a, K};
        row.each([a](T item, int i) { return item + twist(a, i); });
        return row.fold() + pair.swap(K).sum() + inner.top(a);
    }
};
template <class T, class Tag> struct Tower<0, T, Tag> {
    T last;
    INLINE T top(T a) { return last = twist(a, 5); }
};
"""

with open(os.path.join(folder, "common.h"), "w") as out:
    out.write(COMMON)
for unit in range(units):
    with open(os.path.join(folder, f"unit{unit}.cc"), "w") as out:
        out.write('#include "common.h"\n')
        out.write(f"namespace unit{unit} {{\n")
        for i in range(functions):
            out.write(f"""\
template <class T> struct Kind{i} : Row<T, {i % 5 + 2}> {{
    Tower<{i % 3 + 2}, T> tower;
    Pair<T, Kind{i} *> link;
    APART T work(T a)
    {{
        T sum = tower.top(a) + this->fold();
        if (link.second != nullptr)
            sum += link.second->first(a);
        return twist(sum, {i % 7});
    }}
    INLINE T first(T a) {{ return twist(this->items[0] + a, {i % 11}); }}
}};
static APART int use{i}(int a)
{{
    Kind{i}<int> narrow{{}};
    Kind{i}<long> wide{{}};
    narrow.link.second = &narrow;
    return narrow.work(a) + int(wide.work(a)) + twist(a, {i});
}}
""")
        out.write("}\n")
        out.write(f"int enter{unit}(int a)\n{{\n    int sum = a;\n")
        for i in range(functions):
            out.write(f"    sum ^= unit{unit}::use{i}(sum);\n")
        out.write("    return sum;\n}\n")
with open(os.path.join(folder, "main.cc"), "w") as out:
    for unit in range(units):
        out.write(f"int enter{unit}(int a);\n")
    out.write("int main(int argc, char **)\n{\n    return 0")
    for unit in range(units):
        out.write(f"\n        ^ enter{unit}(argc)")
    out.write(";\n}\n")
