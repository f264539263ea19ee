#!/bin/sh
# SPDX-License-Identifier: MIT
# dwarf_variants.sh FRAMESDUMP GROUP: every way that compilers, linkers and
# packagers have to write DWARF. A C++ program of several units with inlined
# calls up to nine deep is built each way; at 2,000 random addresses of its
# functions (the same each time) the answers are compared with two oracles:
#
#   llvm-symbolizer  mangled names, files, lines, columns of all frames. It is
#                    asked about the program as the linker left it; what then
#                    moves debug information elsewhere must change no answer.
#   gdb              names of all frames, of the program as it is then
#   eu-addr2line     the place of the innermost frame and the name of the
#                    outermost, where it has .debug_aranges to find units by
#
# Groups: plain, forms, linked, split4, split5, split_forms, dwz, machines.
#
# Kinds of disagreement; any other fails:
#   symbol-file  Without any line llvm-symbolizer names the source file that
#                the symbol table has for a local symbol; we leave it unknown,
#                as it tells of no code. At most 40 addresses.
#   nested       gdb lists the functions that a local class is written in; they
#                do not call its methods. The comparison ends at the method.
#   names        gdb's names are of types as GDB writes them, so only the last
#                part of each name is compared.
#   blocks       eu-addr2line takes blocks in inlined functions for frames and
#                finds no inlined calls in what clang wrote and in methods of
#                local classes; llvm-symbolizer and gdb agree with us. Only its
#                first and last frames are compared.
#   after        eu-addr2line, see below.
# What gdb 13 does not read (packages of DWARF 5, DW_FORM_strp_sup and
# DW_FORM_LLVM_addrx_offset, several .debug_info.dwo sections) is left to
# llvm-symbolizer alone.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
export LC_ALL=C
framesdump=$1
group=$2
llvm=$(command -v llvm-symbolizer-19 || command -v llvm-symbolizer) ||
    skip "no llvm-symbolizer"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
checked=0

fail() {
    echo "FAIL $*"
    failed=1
}

# ---- the program ----

cat >deep.h <<'END_H'
#define INLINE inline __attribute__((always_inline))
#define APART __attribute__((noinline))
extern "C" int puts(const char *);
extern "C" void abort(void);
#ifdef BARE
#define try if (true)
#define catch(declaration) for (long thrown = sum; sum & 64; thrown = sum)
#define throw abort(), (void)
#endif
extern volatile long sink;
namespace deep {
static APART __attribute__((cold)) void complain(const char *why)
{
    puts(why);
    if (sink == 1) abort();
}
template <int N> struct step {
    static INLINE long go(long a)
    {
        long b = sink ^ a;
        {
            long c = b * N;
            if (__builtin_expect(c == 4711 + N, 0)) complain("four");
            b += c & 1;
        }
        return b + step<N - 1>::go(b);
    }
};
template <> struct step<0> {
    static INLINE long go(long a) { return sink = a + 1; }
};
struct shape {
    virtual long area() const = 0;
    virtual ~shape() { sink = 0; }
};
template <class F> INLINE long twice(F f) { return f(f(3)); }
}
END_H
unit() {
    cat <<END_CC
#include "deep.h"
namespace unit_$1 {
using namespace deep;
struct box : shape {
    long a, b;
    box(long x) : a(x), b(step<$1>::go(x)) {}
    long area() const override { return a * step<2>::go(b); }
};
static APART long local(long n)
{
    struct inner {
        static APART long work(long n) { return n * step<4>::go(n + $1); }
    };
    if (__builtin_expect(n == 99, 0)) {
        complain("local");
        return step<3>::go(n);
    }
    return inner::work(n) + step<5>::go(n);
}
long unused(long n) { return step<6>::go(n) - local(n); }
long run(long n)
{
    box one(n), two(local(n));
    shape *s = n & 1 ? &one : &two;
    long sum = s->area() + twice([&](long x) { return step<3>::go(x) + n; });
    switch (n & 7) {
    case 0: sum += local(sum); break;
    case 3: try { sum += s->area(); if (sum == 12) throw sum; }
            catch (long thrown) { sum -= step<2>::go(thrown); }
            break;
    case 5: { long inner = step<7>::go(sum); sink = inner; } break;
    default: sum ^= step<1>::go(n);
    }
    return sum;
}
}
END_CC
}
for i in 1 2 3; do
    unit $i >unit_$i.cc
done
cat >main.cc <<'END_CC'
#include "deep.h"
namespace unit_1 { long run(long); }
namespace unit_2 { long run(long); }
namespace unit_3 { long run(long); }
volatile long sink;
int main(int argc, char **)
{
    long sum = deep::step<8>::go(argc);
    for (int i = 0; i < argc; i++)
        sum += unit_1::run(i) + unit_2::run(sum) + unit_3::run(~sum);
    return (int)sum;
}
#ifdef BARE
extern "C" {
int puts(const char *text) { sink = text[0]; return 0; }
void abort(void) { for (;;) sink = 1; }
void __cxa_pure_virtual(void) { abort(); }
void _start(void) { for (;;) sink = main((int)sink, nullptr); }
}
void operator delete(void *, decltype(sizeof 0)) noexcept { sink = 3; }
#endif
END_CC
sources='main.cc unit_1.cc unit_2.cc unit_3.cc'

# ---- comparing ----

# 2,000 random bytes of functions, each function as often as it is long.
addresses() {
    nm -S -t d --defined-only "$1" |
        awk '$3 ~ /^[tTwW]$/ && $2 > 0 { print $1 + 0, $2 + 0 }' | sort -nu |
        awk '{ start[NR] = $1; total += $2; upto[NR] = total }
            END {
                seed = 20240607
                for (i = 0; i < 2000; i++) {
                    seed = seed * 16807 % 2147483647
                    at = seed % total
                    low = 1
                    high = NR
                    while (low < high) {
                        mid = int((low + high) / 2)
                        if (upto[mid] <= at) low = mid + 1; else high = mid
                    }
                    before = low == 1 ? 0 : upto[low - 1]
                    printf "0x%x\n", start[low] + at - before
                }
            }'
}

# A stack a line, tabs between.
stacks() {
    awk 'BEGIN { RS = ""; FS = "\n"; OFS = "\t" } { $1 = $1; print }'
}

# expect FILE: what there is to be said about it, for the checks that follow.
expect() {
    addresses "$1" >addresses
    "$llvm" --obj="$1" --no-demangle <addresses | stacks >want
}

# check NAME FILE [SYMBOL_FILES]: that FILE gives the answers of `expect`, in
# `have`; nothing may be missing or damaged.
check() {
    "$framesdump" -m "$2" <addresses 2>troubles | stacks >have
    [ ! -s troubles ] || fail "$1: $(cat troubles)"
    checked=$((checked + 1))
    paste -d '\n' addresses want have |
        awk -F '\t' -v name="$1" -v max="${3:-40}" '
        NR % 3 == 1 { at = $0; all++ }
        NR % 3 == 2 { want = $0 }
        NR % 3 != 0 { next }
        { frames += NF / 2 }
        NF / 2 > deepest { deepest = NF / 2 }
        want == $0 { same++; next }
        { without_file = want }
        { sub(/\t[^\t]*:0:0$/, "\t??:0:0", without_file) }
        without_file == $0 { symbol_file++; next }
        other++ < 3 { print at; print "< " want; print "> " $0 }
        END {
            printf "%s: %d of %d equal, %d symbol-file, %d other; " \
                "%.2f frames each, at most %d\n", name, same, all,
                symbol_file, other, frames / all, deepest
            exit all != 2000 || other > 0 || symbol_file > max || deepest < 9
        }' || failed=1
}

cat >last_part.py <<'END_PY'
import re
def last_part(name):
    name = re.sub(r'\.(cold|part|isra|constprop).*|\[clone.*', '', name)
    name = name.replace('operator()', 'operator_call')
    name = name.replace('(anonymous namespace)', '')
    while re.search(r'<[^<>]*>', name):
        name = re.sub(r'<[^<>]*>', '', name)
    while re.search(r'\([^()]*\)', name):
        name = re.sub(r'\([^()]*\)( const)?', '', name)
    return re.split(r'::| ', name.strip())[-1]
END_PY

cat >names.py <<'END_PY'
import gdb, sys
sys.path.insert(0, '.')
from last_part import last_part
def names(block):
    while block is not None and not block.is_global and not block.is_static:
        if block.function is not None:
            name = last_part(block.function.print_name)
            yield name
            if name == 'work': # a local class: local() is no caller of it
                return
        block = block.superblock
same = none = other = 0
for address, have in zip(open('addresses'), open('demangled')):
    ours = [last_part(name) for name in have.strip('\n').split('\t')[::2]]
    its = list(names(gdb.block_for_pc(int(address, 16))))
    if its == []:
        none += 1
    elif its == ours:
        same += 1
    else:
        other += 1
        if other < 4:
            print(address, 'gdb ', its, '\nours', ours)
print('%d equal, %d none, %d other' % (same, none, other))
END_PY

# agree NAME FILE [MAX]: gdb and `have` differ in at most MAX stacks of names.
agree() {
    have gdb || return 0
    c++filt <have >demangled
    gdb -nx -batch -iex 'set debuginfod enabled off' -x names.py "$2" \
        >gdb.log 2>&1 || true
    echo "$1: gdb: $(tail -n 1 gdb.log)"
    if ! tail -n 1 gdb.log | awk -v max="${3:-0}" '
            { exit !($1 > 1900 && $5 <= max) }'; then
        fail "$1: $(head -n 12 gdb.log)"
    fi
}

cat >places.py <<'END_PY'
import re
from last_part import last_part
same = none = other = 0
answers = open('eu').read().split('\n0x')
for have, its in zip(open('demangled'), answers):
    ours = have.strip('\n').split('\t')
    address, *its = its.strip('\n').split('\n')
    its = [line.split(' inlined at ')[0] for line in its]
    # It takes blocks in inlined functions for frames, and with clang's output
    # and in methods of local classes it finds no inlined calls at all.
    ours = [re.sub(':0$', '', ours[1]), last_part(ours[-2])]
    its = [its[1], last_part(its[-2])]
    if ours[0] == '??:0':
        none += 1
    elif its == ours:
        same += 1
    else:
        other += 1
        if other < 4:
            print(address, '\n eu ', its, '\nours', ours)
print('%d equal, %d none, %d other' % (same, none, other))
END_PY

# places NAME FILE: eu-addr2line and `have` do not differ in the place of the
# innermost frame and the name of the outermost, but for this:
#   after  For powerpc64 eu-addr2line gives the first instruction of puts() to
#          main(), which ends there by its symbol and by DWARF.
places() {
    have eu-addr2line || return 0
    c++filt <have >demangled
    eu-addr2line -a -f -i -e "$2" <addresses 2>/dev/null | c++filt >eu
    python3 places.py >eu.log
    echo "$1: eu-addr2line: $(tail -n 1 eu.log)"
    if ! tail -n 1 eu.log | awk '{ exit !($1 > 1900 && $5 <= 2) }'; then
        fail "$1: $(head -n 12 eu.log)"
    fi
}

# build NAME COMPILER OPTION...: the program, and what to expect of it. False
# when it cannot be built here.
build() {
    rm -rf "$1"
    mkdir "$1"
    name=$1
    shift
    if ! command -v "$1" >/dev/null; then
        echo "skipped: $name: no $1"
        return 1
    fi
    if ! (cd "$name" && cp ../*.cc ../*.h . &&
        "$@" -O2 -o program $sources 2>log); then
        echo "skipped: $name: not built: $(head -n 1 "$name/log")"
        return 1
    fi
    expect "$name/program"
}

# both NAME COMPILER OPTION...
both() {
    build "$@" || return 0
    check "$1" "$1/program"
    agree "$1" "$1/program"
}

plain() {
    for v in 2 3 4 5; do
        both "gcc-$v" g++ -gdwarf-$v
        places "gcc-$v" "gcc-$v/program"
        both "clang-14-$v" clang++-14 -gdwarf-$v
        both "clang-19-$v" clang++-19 -gdwarf-$v
    done
}

forms() {
    for v in 4 5; do
        both "gcc-$v-64" g++ -gdwarf-$v -gdwarf64
        places "gcc-$v-64" "gcc-$v-64/program"
        both "clang-19-$v-64" clang++-19 -gdwarf-$v -gdwarf64
        both "gcc-$v-types" g++ -gdwarf-$v -fdebug-types-section
        places "gcc-$v-types" "gcc-$v-types/program"
        both "clang-19-$v-types" clang++-19 -gdwarf-$v -fdebug-types-section
        both "clang-14-$v-lines" clang++-14 -gdwarf-$v -gline-tables-only
        both "clang-19-$v-lines" clang++-19 -gdwarf-$v -gline-tables-only
        both "gcc-$v-g1" g++ -gdwarf-$v -g1
    done
    # llvm-symbolizer does not read these expressions; the code is the same.
    if build clang-19-5-offsets clang++-19 -gdwarf-5 \
        -mllvm -minimize-addr-in-v5=Expressions; then
        mv clang-19-5-offsets/program expressions
    fi
    if build clang-19-5-offsets clang++-19 -gdwarf-5 \
        -mllvm -minimize-addr-in-v5=Form; then
        check clang-19-5-offsets clang-19-5-offsets/program
        check clang-19-5-expressions expressions
    fi
}

# Linkers that join units, and that drop code and leave 0, 1, -1 or -2.
linked() {
    both gcc-lto g++ -g -flto
    both clang-14-lto clang++-14 -g -flto -fuse-ld=lld
    both clang-19-lto clang++-19 -g -flto -fuse-ld=lld
    both clang-19-thin clang++-19 -g -flto=thin -fuse-ld=lld
    gc='-ffunction-sections -Wl,--gc-sections'
    for v in 4 5; do
        # shellcheck disable=SC2086 # a list of words
        {
            both "gcc-$v-gc-bfd" g++ -gdwarf-$v $gc -fuse-ld=bfd
            both "gcc-$v-gc-gold" g++ -gdwarf-$v $gc -fuse-ld=gold
            both "gcc-$v-gc-lld" g++ -gdwarf-$v $gc -fuse-ld=lld
            both "clang-19-$v-gc-lld" clang++-19 -gdwarf-$v $gc -fuse-ld=lld
        }
    done
}

# Everything in place, then the .dwo files elsewhere, then in a package.
split_places() {
    build "$@" || return 0
    name=$1
    check "$name" "$name/program"
    case $name in
    gcc-5-split-types) ;; # gdb 13 takes a type unit for the compile unit
    *) agree "$name" "$name/program" ;;
    esac
    mkdir away
    cp "$name/program" away/
    check "$name: by compilation directory" away/program
    cp "$name"/*.dwo away/
    mv "$name" gone
    check "$name: beside the program" away/program
    rm -r away
    mv gone "$name"
    packaged "$name"
    rm -r "$name"
}

# By each tool that can; the .dwo files out of reach.
packaged() {
    for tool in llvm-dwp-19 dwp; do
        case $tool:$1 in
        dwp:*-5*) continue ;; # GNU dwp reads DWARF 4 only
        esac
        command -v $tool >/dev/null || {
            echo "skipped: $1: no $tool"
            continue
        }
        (cd "$1" && timeout 20 $tool -e program -o program.dwp 2>tool.log) || {
            echo "$1: $tool fails, skipped: $(head -n 1 "$1/tool.log")"
            continue
        }
        mkdir hidden
        mv "$1"/*.dwo hidden/
        check "$1: package by $tool" "$1/program"
        # gdb 13 crashes on packages of DWARF 5.
        [ $tool = llvm-dwp-19 ] || agree "$1: package by $tool" "$1/program"
        debug_file "$1"
        mv hidden/*.dwo "$1/"
        rmdir hidden
    done
}

# The program stripped, and the package beside it or its debug file.
debug_file() {
    mkdir away
    objcopy --only-keep-debug "$1/program" away/program.debug
    objcopy --strip-all --add-gnu-debuglink=away/program.debug "$1/program" \
        away/program
    cp "$1/program.dwp" away/program.dwp
    check "$1: package of a stripped program" away/program
    mv away/program.dwp away/program.debug.dwp
    check "$1: package of a debug file" away/program
    # The package's sections in the debug file itself.
    for section in $(readelf -SW away/program.debug.dwp |
        grep -oE '[.]debug_[a-z_]*([.]dwo|_index)'); do
        objcopy --dump-section "$section=away/section" \
            away/program.debug.dwp /dev/null
        objcopy --add-section "$section=away/section" away/program.debug
    done
    rm away/program.debug.dwp
    objcopy --strip-all --add-gnu-debuglink=away/program.debug "$1/program" \
        away/program
    check "$1: package within a debug file" away/program
    rm -r away
}

# troubled NAME FILE TEXT: that FILE tells of TEXT, and still gives the lines
# of `want` and the functions around, but not all that are inlined. Folders may
# be missing with the rest.
troubled() {
    "$framesdump" -m "$2" <addresses 2>troubles | stacks >have
    checked=$((checked + 1))
    grep -q "$3" troubles || fail "$1: told: $(cat troubles)"
    sed 's,[^	]*/,,g' want >want.short
    sed 's,[^	]*/,,g' have | paste -d '\n' want.short - |
        awk -F '\t' -v name="$1" '
        NR % 2 == 1 { place = $2; outer = $(NF - 1); frames += NF / 2; next }
        { for (i = 1; i < NF; i += 2) left += $i != "??" }
        place ~ /:0:0$/ { next }
        $2 != place && wrong++ < 3 { print place " but " $0 }
        $(NF - 1) != outer && wrong++ < 3 { print outer " but " $0 }
        END {
            printf "%s: %d frames of %d, %d wrong\n", name, left, frames, wrong
            exit wrong > 0 || left >= frames
        }' || failed=1
}

# split_objects NAME COMPILER OPTION...: with .dwo sections in .o files.
split_objects() {
    rm -rf "$1"
    mkdir "$1"
    name=$1
    shift
    command -v "$1" >/dev/null || { echo "skipped: $name: no $1"; return 0; }
    # shellcheck disable=SC2086 # a list of words
    (cd "$name" && cp ../*.cc ../*.h . && "$@" -O2 -c $sources &&
        "$1" -o program ./*.o)
    expect "$name/program"
    check "$name" "$name/program"
    agree "$name" "$name/program"
}

split_troubles() {
    build trouble g++ -g -gsplit-dwarf || return 0
    mv trouble/program-unit_2.dwo other
    troubled "one missing" trouble/program \
        "^1 missing: cannot open .*program-unit_2.dwo: No such"
    cp trouble/program-unit_1.dwo trouble/program-unit_2.dwo
    troubled "another build's" trouble/program \
        "^1 missing: .*unit_2.dwo: .*another"
    head -c 1500 other >trouble/program-unit_2.dwo
    troubled "cut short" trouble/program "^1 missing: .*unit_2.dwo"
    rm trouble/*.dwo
    troubled "all missing" trouble/program "^4 missing: "
}

# split VERSION
split() {
    split_places "gcc-$1-split" g++ "-gdwarf-$1" -gsplit-dwarf
    split_places "clang-14-$1-split" clang++-14 "-gdwarf-$1" -gsplit-dwarf
    split_places "clang-19-$1-split" clang++-19 "-gdwarf-$1" -gsplit-dwarf \
        -fsplit-dwarf-inlining
    split_places "gcc-$1-split-types" g++ "-gdwarf-$1" -gsplit-dwarf \
        -fdebug-types-section
}

split4() {
    split 4
    split_places gcc-4-split-gc g++ -gdwarf-4 -gsplit-dwarf \
        -ffunction-sections -Wl,--gc-sections
}

split5() {
    split 5
    split_troubles
}

split_forms() {
    for v in 4 5; do
        split_objects clang-19-$v-split-single clang++-19 -gdwarf-$v \
            -gsplit-dwarf=single
    done
    for lto in thin full; do
        both clang-19-split-lto-$lto clang++-19 -g -gsplit-dwarf -flto=$lto \
            -fuse-ld=lld -Wl,-plugin-opt=dwo_dir=dwo
    done
    both gcc-5-split-64 g++ -gdwarf-5 -gdwarf64 -gsplit-dwarf
    both clang-19-5-split-64 clang++-19 -gdwarf-5 -gdwarf64 -gsplit-dwarf
}

dwz_one() {
    build "$@" || return 0
    check "$1" "$1/program"
    for form in "" -5; do
        cp "$1/program" single
        # shellcheck disable=SC2086 # no word or one
        dwz $form single 2>log || { echo "$1: dwz $form: $(cat log)"; continue; }
        check "$1: dwz $form" single
        agree "$1: dwz $form" single
        dwz_shared "$1" "$form"
        rm -rf shared
    done
}

dwz_shared() {
    mkdir shared shared/.dwz
    cp "$1/program" shared/one
    cp "$1/program" shared/two
    # shellcheck disable=SC2086 # no word or one
    (cd shared && dwz $2 -m .dwz/common -M .dwz/common one two)
    check "$1: dwz $2 -m" shared/one
    # gdb 13 does not read DW_FORM_strp_sup, which -5 uses here.
    [ -n "$2" ] || agree "$1: dwz -m" shared/two
    id=$(readelf -n shared/.dwz/common | sed -n 's/.*Build ID: //p')
    [ -n "$id" ] || return 0
    troubled_dwz "$1: dwz $2 -m" shared
}

troubled_dwz() {
    mv "$2/.dwz/common" "$2/common"
    troubled "$1: missing" "$2/one" "^1 missing: cannot open .*/.dwz/common: No such"
    cp "$2/two" "$2/.dwz/common"
    troubled "$1: another" "$2/one" "^1 missing: .*/.dwz/common: .*another"
}

dwz_all() {
    need dwz
    for v in 4 5; do
        dwz_one "gcc-$v-dwz" g++ -gdwarf-$v
    done
}

# For another byte order or address size, without a library.
bare() {
    machine=$1
    shift
    build "$machine$1" clang++-19 --target="$machine-linux-gnu" -DBARE \
        -ffreestanding -fno-exceptions -fno-rtti -nostdlib -static \
        -fuse-ld=lld -gdwarf-aranges "$@" || return 0
    check "$machine $*" "$machine$1/program"
    places "$machine $*" "$machine$1/program"
}

machines() {
    for v in 4 5; do
        bare powerpc64 -gdwarf-$v -mabi=elfv2
        bare powerpc64 -gsplit-dwarf -gdwarf-$v -mabi=elfv2
        bare_c $v
        bare_c $v -gdwarf64
    done
    bare powerpc -gdwarf-4
    bare mips -gdwarf-5 -gsplit-dwarf
    bare s390x -gdwarf-5
    bare s390x -gdwarf64 -gdwarf-5
    bare aarch64_be -gdwarf-4 -gsplit-dwarf
    bare i386 -gdwarf-5 -gsplit-dwarf
}

# The one cross compiler of GCC is for C.
bare_c() {
    {
        echo 'volatile long sink;'
        echo 'static inline long go_0(long a) { return sink = a + 1; }'
        for i in 1 2 3 4 5 6 7 8 9; do
            echo "static inline __attribute__((always_inline))"
            echo "long go_$i(long a)"
            echo "{ long b = sink ^ a; { long c = b * $i; b += c & 1; }"
            echo "  return b + go_$((i - 1))(b); }"
            echo "__attribute__((noinline)) long run_$i(long a)"
            echo "{ if (a == $i) sink = 3; return go_$i(a) * go_$((i - 1))(~a); }"
        done
        echo 'void _start(void) { for (;;) sink = run_9(sink) + run_5(1) +'
        echo 'run_7(sink) - run_2(3) + go_9(sink); }'
    } >bare.c
    v=$1
    shift
    sources_before=$sources
    sources=../bare.c
    if build "powerpc64-gcc" powerpc64-linux-gnu-gcc -gdwarf-"$v" "$@" \
        -mabi=elfv2 -ffreestanding -nostdlib -static; then
        check "powerpc64 gcc -gdwarf-$v $*" powerpc64-gcc/program
        places "powerpc64 gcc -gdwarf-$v $*" powerpc64-gcc/program
    fi
    sources=$sources_before
}

case $group in
plain | forms | linked | machines) $group ;;
split4 | split5 | split_forms) $group ;;
dwz) dwz_all ;;
esac
echo "$checked checks"
[ "$checked" -gt 0 ] || failed=1
exit $failed
