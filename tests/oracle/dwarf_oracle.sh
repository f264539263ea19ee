#!/bin/sh
# SPDX-License-Identifier: MIT
# dwarf_oracle.sh FRAMESDUMP COUNT: functions, inlined frames, files, lines and
# columns of COUNT random addresses in the functions of a C, a C++ and a Rust
# program of several units against llvm-symbolizer: gcc and clang, DWARF 4
# and 5, linked by GNU ld and lld, and C for other address sizes and byte
# orders. The random numbers are the same each time.
#
# One kind of disagreement is known:
#   symbol-file  without any line llvm-symbolizer names the source file that
#                the symbol table has for a local symbol; we leave it unknown.
#                Code of the C library's start files and, in Rust, of parts of
#                the standard library that ship without debug information.
# There may be no more of it than each comparison says; any other fails.
set -eu
. "$(dirname "$0")/../lib/have.sh"
export LC_ALL=C
framesdump=$1
count=$2
llvm=$(command -v llvm-symbolizer-19 || command -v llvm-symbolizer) ||
    skip "no llvm-symbolizer"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
built=0

# Random bytes of functions, each function as often as it is long.
addresses() {
    nm -S -t d --defined-only "$1" |
        awk '$3 ~ /^[tTwW]$/ && $2 > 0 { print $1 + 0, $2 + 0 }' | sort -nu |
        awk -v count="$count" '{ start[NR] = $1; total += $2; upto[NR] = total }
            END {
                seed = 20240607
                for (i = 0; i < count; i++) {
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

# A stack a line.
stacks() {
    awk 'BEGIN { RS = ""; FS = "\n" } { $1 = $1; print }'
}

# compare FILE MAX: with at most MAX of symbol-file.
compare() {
    built=$((built + 1))
    addresses "$1" >"$work/addresses"
    "$llvm" --obj="$1" --no-demangle --inlines <"$work/addresses" |
        stacks >"$work/want"
    "$framesdump" -m "$1" <"$work/addresses" | stacks >"$work/have"
    paste -d '\n' "$work/addresses" "$work/want" "$work/have" |
        awk -v name="${1##*/}" -v max="$2" -v count="$count" '
            NR % 3 == 1 { at = $0; all++ }
            NR % 3 == 2 { want = $0 }
            NR % 3 != 0 { next }
            { frames += NF / 2 }
            want == $0 { same++; next }
            { without_file = want; sub(/ [^ ]*:0:0$/, " ??:0:0", without_file) }
            without_file == $0 { symbol_file++; next }
            other++ < 3 { print at; print "< " want; print "> " $0 }
            END {
                printf "%s: %d of %d equal, %d symbol-file, %d other, " \
                    "%.2f frames each\n", name, same, all, symbol_file,
                    other, frames / all
                exit all != count || other > 0 || symbol_file > max
            }' || failed=1
}

# make_with NAME MAX COMPILER...: builds and compares, where that can be.
make_with() {
    out=$work/$1
    max=$2
    shift 2
    if "$@" -o "$out" 2>"$work/log"; then
        compare "$out" "$max"
    else
        echo "${out##*/}: cannot be built here, skipped: $(head -n 1 "$work/log")"
    fi
}

# ---- C: units of functions that inline into each other, with cold parts ----

cat >"$work/shared.h" <<'END_C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct cell { long value; struct cell *next; char tag[16]; };
static inline long mix(long a, long b) { return (a ^ b >> 3) * 31 + b; }
static inline long weigh(const struct cell *c)
{
    long sum = 0;
    for (; c != NULL; c = c->next)
        sum = mix(sum, c->value + (long)strlen(c->tag));
    return sum;
}
static inline __attribute__((always_inline)) long spread(long n, long by)
{
    if (__builtin_expect(by == 0, 0)) {
        fprintf(stderr, "by zero: %ld\n", n);
        abort();
    }
    return mix(n / by, n % by);
}
END_C
c_unit() {
    cat <<END_C
#include "shared.h"
static struct cell cells_$1[16];
static __attribute__((noinline)) long walk_$1(struct cell *c, int depth)
{
    long here = weigh(c);
    {
        long inner = spread(here, depth + $1);
        if (depth > 0)
            return walk_$1(c, depth - 1) + inner;
        here += mix(inner, $1);
    }
    return here;
}
static long choose_$1(long n)
{
    switch (n & 7) {
    case 0: return spread(n, 3);
    case 1: return mix(n, $1) + weigh(cells_$1);
    case 2: return spread(mix(n, n), n | 1);
    case 3: puts("three"); return n;
    case 4: return walk_$1(cells_$1, 2);
    default: return mix(spread(n, 5), spread(n, 7));
    }
}
long run_$1(long n)
{
    long sum = 0;
    for (int i = 0; i < 16; i++) {
        cells_$1[i].value = choose_$1(n + i);
        cells_$1[i].next = i > 0 ? &cells_$1[i - 1] : NULL;
        snprintf(cells_$1[i].tag, 16, "%ld", cells_$1[i].value);
        sum += walk_$1(&cells_$1[i], i) + choose_$1(sum);
    }
    return sum;
}
END_C
}
units='1 2 3 4 5 6 7 8'
c_files=
{
    for i in $units; do echo "long run_$i(long n);"; done
    echo 'int main(int argc, char **argv) { long s = argc; (void)argv;'
    for i in $units; do echo "s += run_$i(s);"; done
    echo 'return (int)s; }'
} >"$work/main.c"
for i in $units; do
    c_unit "$i" >"$work/unit_$i.c"
    c_files="$c_files $work/unit_$i.c"
done

# ---- C for machines of other sizes and byte orders, without a library ----

cat >"$work/bare.c" <<'END_BARE'
struct cell { long value; struct cell *next; };
volatile long sink;
static inline long mix(long a, long b) { return (a ^ b >> 3) * 31 + b; }
static inline long weigh(const struct cell *c)
{
    long sum = 0;
    for (; c; c = c->next)
        sum = mix(sum, c->value);
    return sum;
}
long choose(struct cell *c, long n)
{
    long sum = weigh(c);
    switch (n & 7) {
    case 0: sum += mix(n, sum); break;
    case 3: sum -= weigh(c->next); break;
    case 5: { long inner = mix(sum, n); sink = inner; } break;
    default: sum ^= n;
    }
    return sum;
}
long run(struct cell *c, long n)
{
    for (long i = 0; i < n; i++)
        sink = choose(c, mix(i, n));
    return mix(sink, weigh(c));
}
void _start(void)
{
    struct cell c = { 1, 0 };
    for (;;)
        sink = run(&c, 9);
}
END_BARE

# ---- C++: templates, containers, lambdas, local classes, exceptions ----

cc_unit() {
    cat <<END_CC
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>
namespace unit_$1 {
template <class T, int N> struct ring {
    T items[N] {};
    int at = 0;
    T &push(T t) { return items[at++ % N] = std::move(t); }
    template <class F> auto fold(F f) const
    {
        return std::accumulate(items, items + N, decltype(f(T(), T())) {}, f);
    }
};
struct shape { virtual ~shape() = default; virtual double area() const = 0; };
namespace {
struct disc : shape {
    double r;
    explicit disc(double x) : r(x) { if (x < 0) throw std::range_error("r"); }
    double area() const override { return 3 * r * r; }
};
struct box : shape {
    double a, b;
    box(double x, double y) : a(x), b(y) {}
    double area() const override { return a * b; }
};
}
static double total(const std::vector<std::unique_ptr<shape>> &all)
{
    struct adder {
        double sum = 0;
        void operator()(const std::unique_ptr<shape> &s) { sum += s->area(); }
    };
    return std::for_each(all.begin(), all.end(), adder()).sum;
}
long run(long n)
{
    std::map<std::string, std::vector<long>> index;
    std::unordered_map<long, std::string> names;
    std::vector<std::unique_ptr<shape>> shapes;
    ring<long, 8> last;
    ring<std::string, 4> texts;
    for (long i = 0; i < n % 50 + $1; i++) {
        std::ostringstream out;
        out << i << '-' << n;
        index[out.str()].push_back(last.push(i * n));
        names.emplace(i, texts.push(out.str()));
        if (i % 2) shapes.push_back(std::make_unique<disc>(i));
        else shapes.push_back(std::make_unique<box>(i, n));
    }
    std::function<long(long)> twice = [&](long x) {
        auto deeper = [x](auto y) { return y * x + $1; };
        return deeper(x) + (long)names.size();
    };
    std::variant<long, std::string> either = n % 2 ? std::variant<long,
        std::string>(n) : std::variant<long, std::string>("text");
    long sum = std::visit([](const auto &v) {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, long>) return v;
        else return (long)v.size(); }, either);
    std::set<long> order;
    for (auto &[name, values] : index) {
        std::sort(values.begin(), values.end(), std::greater<>());
        order.insert(values.begin(), values.end());
        sum += twice((long)name.size());
    }
    sum += last.fold([](long a, long b) { return a ^ b; });
    sum += texts.fold([](const std::string &a, const std::string &b) {
        return a + b; }).size();
    return sum + (long)total(shapes) + (long)order.size();
}
}
END_CC
}
cc_units='1 2 3 4'
cc_files=
{
    for i in $cc_units; do echo "namespace unit_$i { long run(long n); }"; done
    echo 'int main(int argc, char **) { long s = argc;'
    for i in $cc_units; do echo "s += unit_$i::run(s);"; done
    echo 'return (int)s; }'
} >"$work/main.cc"
for i in $cc_units; do
    cc_unit "$i" >"$work/unit_$i.cc"
    cc_files="$cc_files $work/unit_$i.cc"
done

# ---- Rust ----

cat >"$work/main.rs" <<'END_RS'
use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Display};
struct Node { left: Option<Box<Node>>, right: Option<Box<Node>>, key: u64 }
impl Node {
    fn insert(&mut self, key: u64) {
        let side = if key < self.key { &mut self.left } else { &mut self.right };
        match side {
            Some(node) => node.insert(key),
            None => *side = Some(Box::new(Node { left: None, right: None, key })),
        }
    }
    fn each<F: FnMut(u64)>(&self, f: &mut F) {
        if let Some(n) = &self.left { n.each(f) }
        f(self.key);
        if let Some(n) = &self.right { n.each(f) }
    }
}
impl Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut all = vec![];
        self.each(&mut |k| all.push(k.to_string()));
        write!(f, "[{}]", all.join(","))
    }
}
fn words(text: &str) -> BTreeMap<String, usize> {
    let mut m = BTreeMap::new();
    for w in text.split_whitespace().map(|w| w.to_lowercase()) {
        *m.entry(w).or_insert(0) += 1;
    }
    m
}
fn main() {
    let n = std::env::args().count() as u64;
    let mut root = Node { left: None, right: None, key: n };
    (0..100).map(|i| i * 7919 % 101).for_each(|k| root.insert(k));
    let counts = words(&format!("{} and {} and more", root, n));
    let by_count: HashMap<usize, Vec<&String>> =
        counts.iter().fold(HashMap::new(), |mut m, (w, c)| {
            m.entry(*c).or_insert_with(Vec::new).push(w);
            m
        });
    let parsed: Result<i32, _> = std::env::args().last().unwrap().parse();
    println!("{} {:?} {:?}", root, by_count, parsed);
}
END_RS

versions=5
[ "$count" -lt 2000 ] || versions='4 5'
for version in $versions; do
    # shellcheck disable=SC2086
    {
        make_with "c-gcc-$version" 5 gcc -O2 -gdwarf-$version "$work/main.c" \
            $c_files
        make_with "c-clang-$version" 5 clang -O2 -gdwarf-$version \
            "$work/main.c" $c_files
        make_with "c++-gcc-$version" 5 g++ -std=c++17 -O2 -gdwarf-$version \
            "$work/main.cc" $cc_files
        make_with "c++-clang-$version" 5 clang++ -std=c++17 -O2 \
            -gdwarf-$version "$work/main.cc" $cc_files
    }
done
# shellcheck disable=SC2086
make_with c++-sections-lld 10 clang++ -std=c++17 -O2 -g -ffunction-sections \
    -fuse-ld=lld -Wl,--gc-sections "$work/main.cc" $cc_files
# shellcheck disable=SC2086
make_with c-dwarf64 5 gcc -O2 -g -gdwarf64 "$work/main.c" $c_files
# shellcheck disable=SC2086
make_with c-line-tables 5 clang -O2 -gline-tables-only "$work/main.c" $c_files
for target in i386 aarch64_be powerpc; do
    make_with "c-$target" 0 clang --target=$target-linux-gnu -O2 -g \
        -ffreestanding -nostdlib -static -fuse-ld=lld "$work/bare.c"
done
make_with rust 200 rustc -O -g "$work/main.rs"
[ "$built" -gt 0 ] || skip "no compiler"
exit $failed
