#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs for Windows, made by clang and lld: names (mangled, and once not),
# files, lines and inlined frames of every address of their code against
# llvm-symbolizer.
#
#     pdb_vs_llvm.sh FRAMESDUMP PART
#
# The peer is not followed in two things. Where a function has lines of several
# files, or two at one address, it takes some other row than the last that
# begins at or before the address: there llvm-pdbutil shows the row that we
# take. And it names code of a module without symbols after the last symbol of
# the module before.
set -eu
export LC_ALL=C
framesdump=$1
part=$2
here=$(cd "$(dirname "$0")" && pwd)
for tool in clang-19 lld-link-19 ld.lld-19 llvm-symbolizer-19 \
    llvm-readobj-19 llvm-pdbutil-19 python3; do
    command -v $tool >/dev/null || exit 77
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
checked=0

# What of each program's code is where, then both answers.
compare() {
    llvm-readobj-19 --file-headers --sections "$1" |
        awk '/ImageBase/ { base = $2 }
            /^ *Name:/ { name = $2 } /VirtualSize/ { size = $2 }
            /VirtualAddress/ && name == ".text" { print base, $2, size }' |
        head -n 1 >range
    python3 "$here/pdb_vs_llvm.py" addresses <range >addresses
    llvm-symbolizer-19 --obj="$1" ${2---no-demangle} <addresses >want
    "$framesdump" ${2--m} "$1" <addresses >have
    set -- "$1"
    if [ -f "${1%.exe}.pdb" ]; then
        llvm-pdbutil-19 dump -l "${1%.exe}.pdb" >lines
        read -r base start _ <range
        set -- "$1" lines "$((base + start))"
    fi
    program=$1
    shift
    python3 "$here/pdb_vs_llvm.py" compare addresses want have "$@" || {
        echo "FAIL $program"
        failed=1
    }
    checked=$((checked + $(wc -l <addresses)))
}

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

# MACHINE OPTIMIZE
windows() {
    for source in a.cc b.c; do
        clang-19 --target="$1-pc-windows-msvc" "-$2" -g -gcodeview -fno-rtti \
            -ffunction-sections -c $source -o $source.obj
    done
    lld-link-19 /debug /nodefaultlib /entry:start /subsystem:console \
        "/out:$1-$2.exe" "/pdb:$1-$2.pdb" a.cc.obj b.c.obj
    compare "$1-$2.exe"
    [ "$2" != O1 ] || compare "$1-$2.exe" ""
}

case $part in
x64) set -- x86_64 ;;
x86) set -- i686 ;;
arm64) set -- aarch64 ;;
mingw)
    command -v x86_64-w64-mingw32-gcc >/dev/null || exit 77
    cat >c.c <<'END'
#include <stdio.h>
#include <stdlib.h>
static inline __attribute__((always_inline)) int sq(int x)
{
    return x * x + rand();
}
__attribute__((noinline)) static int f(int x) { return sq(x) + sq(x + 1); }
int main(int argc, char **argv)
{
    (void)argv;
    printf("%d\n", f(argc));
    return 0;
}
END
    # With a PDB file, and without all else.
    clang-19 --target=x86_64-w64-mingw32 -O2 -g -gcodeview -fuse-ld=lld \
        --ld-path="$(command -v ld.lld-19)" -Wl,-s,--pdb=pdb.pdb c.c -o pdb.exe
    compare pdb.exe
    x86_64-w64-mingw32-gcc -O2 -g c.c -o dwarf.exe
    compare dwarf.exe
    x86_64-w64-mingw32-gcc -O2 c.c -o symbols.exe
    compare symbols.exe
    set --
    ;;
esac
for machine; do
    for optimize in O0 O1 O2; do
        windows "$machine" $optimize
    done
done
echo "$checked addresses compared"
[ "$checked" -gt 500 ] || failed=1
exit $failed
