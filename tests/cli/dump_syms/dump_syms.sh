#!/bin/sh
# dump_syms.sh WINDLASS: 'dump-syms' writes what 'sym' and 'fix' know of a
# binary, and from its file they know the same, of all addresses of all code;
# and so does a reader that shares nothing with ours.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
model=$(cd "$(dirname "$0")" && pwd)/breakpad_model.py
need gcc g++ clang clang++ strip objcopy readelf python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C
unset WINDLASS_DEBUG_DIRS

cat >program.cc <<'END'
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
struct base {
    virtual ~base() {}
    virtual int f(int) const = 0;
};
template <int N> struct deep : base {
    int f(int x) const override
    {
        if (x < 0)
            throw std::runtime_error("negative");
        return x * N + deep<N - 1>().f(x - 1 < 0 ? 0 : x - 1);
    }
};
template <> struct deep<0> : base {
    int f(int x) const override { return x; }
};
namespace {
inline int sum(const std::vector<int> &v)
{
    int s = 0;
    for (int i : v)
        s += i > 3 ? i : -i;
    return s;
}
}
int main(int argc, char **argv)
{
    std::map<std::string, int> m;
    std::vector<int> v;
    for (int i = 0; i < argc + 10; i++) {
        m[std::string(argv[0]) + std::to_string(i)] = i;
        v.push_back(i * 7 % 5);
    }
    std::sort(v.begin(), v.end(), [](int a, int b) { return a > b; });
    std::unique_ptr<base> b(new deep<5>());
    try {
        std::printf("%d %d %zu\n", b->f(argc), sum(v), m.size());
    } catch (const std::exception &e) {
        std::puts(e.what());
    }
}
END
cat >program.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static inline int innermost(const char *s, int n)
{
    return (int)strlen(s) + (n > 4 ? abs(n) : n);
}
static inline int middle(const char *s, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += innermost(s, i) ^ innermost(s + i, n);
    return sum;
}
__attribute__((noinline)) static int outer(const char *s, int n)
{
    return n < 0 ? abort(), 0 : middle(s, n) + middle(s + 1, n + 1);
}
__asm__(".text\n.globl label\nlabel: nop\nnop\nret\n");
__asm__(".text\n.globl sized\n.type sized,@function\nsized: nop\nret\n"
        ".size sized, .-sized\n");
int main(int argc, char **argv)
{
    printf("%d\n", outer(argv[0], argc));
    return argc == 7 ? system(argv[0]) : 0;
}
END

failed=0
fail() {
    echo "dump_syms: $*"
    failed=1
}

# Every address of the segments with code, from the image base on.
addresses() {
    readelf -lW "$1" | python3 -c '
import sys
loads = [l.split() for l in sys.stdin if l.strip().startswith("LOAD")]
base = min(int(l[2], 16) for l in loads) & ~0xfff
for l in loads:
    if "E" in "".join(l[6:-1]):
        start = int(l[2], 16) - base
        for at in range(start, start + int(l[5], 16) + 8):
            print("%x" % at)'
}

# The answers of two files, in which an address is one line.
joined() {
    awk '/^0x/ { if (NR > 1) print line; line = $0; next }
        { line = line "\t" $0 }
        END { print line }' "$1"
}

# Disagreements that are to be:
#  - a PUBLIC record has no end: what follows it and is nothing is of it;
#  - lines in no function (padding, for one) belong to no record.
explained() {
    awk -F '\t' '
        /^PUBLIC/ { split($0, field, " "); public[field[4]] = 1; next }
        FNR != NR && !(FILENAME in seen) { seen[FILENAME] = 1; n = 0 }
        FILENAME == "native" { native[++n] = $0; name[n] = $2; next }
        FILENAME == "dumped" {
            n++
            if ($0 == native[n])
                same++
            else if (name[n] == "??" && public[$2] && NF == 3)
                behind++
            else if (name[n] == "??" && $2 == "??")
                nameless++
            else
                print native[n] " | " $0
        }
        END { print same + 0, behind + 0, nameless + 0 >"counts" }' \
        "$1" native dumped
}

# check NAME: of that binary and NAME.sym all answers.
check() {
    addresses "$1" >asked
    "$windlass" sym -e "$1" --rva -Cfia <asked >answers
    joined answers >native
    "$windlass" sym -e "$1.sym" -Cfia <asked >answers
    joined answers >dumped
    rm -f counts
    explained "$1.sym" >wrong
    read -r same behind nameless <counts
    inlined=$(awk -F '\t' 'NF > 3' native | wc -l)
    echo "$1: $same addresses, $inlined inlined; $behind behind PUBLIC," \
        "$nameless without a name"
    [ ! -s wrong ] || fail "$1: $(wc -l <wrong) disagree: $(head -n 3 wrong)"
    [ "$same" -gt 500 ] && [ "$inlined" -gt "$2" ] ||
        fail "$1: $same addresses, $inlined of them inlined"
    [ $((behind + nameless)) -lt 200 ] || fail "$1: too much is excused"
    python3 "$model" "$1.sym" <asked >answers
    joined answers >model
    cmp -s model dumped || fail "$1: the model: $(diff model dumped | head -n 4)"
}

# build NAME INLINED COMMAND...
build() {
    name=$1
    inlined=$2
    shift 2
    "$@" -Wl,--build-id -o "$name"
    "$windlass" dump-syms -o "$name.sym" "$name"
    check "$name" "$inlined"
}

build cxx 1000 g++ -g -O2 program.cc
build cxx_clang 1000 clang++ -g -gsplit-dwarf -O2 program.cc
build c 30 gcc -gdwarf-4 -O2 -no-pie -ffunction-sections -Wl,--gc-sections \
    program.c
build c_clang 100 clang -g -O2 -gz program.c
build c_bare -1 gcc -O2 program.c

# fix, with the binary's debug information and with a stripped one and -b.
for name in cxx cxx_clang c; do
    addresses "$name" >asked
    "$windlass" sym -e "$name" --rva -Cfia <asked >answers
    joined answers | awk -F '\t' -v name="$name" '
        $2 != "??" && NR % 5 == 0 {
            sub(/^0x0*/, "", $1)
            print "#01: ???[./" name " +0x" $1 "]"
        }' >frames
    "$windlass" fix --inlines frames | tr '()' '[]' >wanted
    id=$("$windlass" sym --ids "$name" | awk '$1 == "breakpad" { print $2 }')
    mkdir -p "syms/$name/$id"
    cp "$name.sym" "syms/$name/$id/"
    for how in stripped missing; do
        mkdir -p $how
        [ $how = missing ] || strip -o "$how/$name" "$name"
        (cd $how && "$windlass" fix --inlines -b ../syms ../frames) |
            tr '()' '[]' >out
        cmp -s wanted out ||
            fail "fix of $name, $how: $(diff wanted out | head -n 4)"
    done
done

# What the file is of, and its other records.
id=$("$windlass" sym --ids cxx | awk '$1 == "breakpad" { print $2 }')
build_id=$("$windlass" sym --ids cxx | awk '$1 == "build-id" { print $2 }')
{
    echo "MODULE Linux x86_64 $id cxx"
    echo "INFO CODE_ID $(echo "$build_id" | tr a-f A-F)"
} >wanted
head -n 2 cxx.sym >out
case $(uname -m) in
x86_64)
    cmp -s wanted out || fail "MODULE and INFO: $(cat out)"
    "$windlass" unwind-info --breakpad cxx >wanted
    grep '^STACK CFI' cxx.sym >out
    cmp -s wanted out || fail "STACK CFI records"
    ;;
esac
"$windlass" dump-syms cxx >out
cmp -s cxx.sym out || fail "standard output has something else"

# A separate debug file is as good.
objcopy --only-keep-debug cxx cxx.debug
cp cxx.sym wanted
strip --strip-debug cxx
objcopy --add-gnu-debuglink=cxx.debug cxx
"$windlass" dump-syms cxx >out 2>err
cmp -s wanted out || fail "with a debug file: $(diff wanted out | head -n 4)"

# Why there is nothing on unwinding is told, where there is nothing only.
if [ "$(uname -m)" = x86_64 ]; then
    "$windlass" dump-syms cxx 2>err >out
    grep -q 'no STACK CFI' err && fail "rules are missed: $(cat err)"
    objcopy --remove-section=.eh_frame --remove-section=.eh_frame_hdr cxx bare
    "$windlass" dump-syms bare 2>err >out
    grep -q 'no STACK CFI records: bare: has no call frame' err ||
        fail "no rules: $(cat err)"
fi

# What is no binary, and what cannot be written.
code=0
"$windlass" dump-syms program.c >out 2>err || code=$?
[ $code = 1 ] && [ ! -s out ] &&
    grep -q 'not an ELF, PE, PDB, Mach-O, WebAssembly or Breakpad' err ||
    fail "of no binary: $code $(cat err)"
echo kept >kept
"$windlass" dump-syms -o kept program.c 2>err || true
[ "$(cat kept)" = kept ] || fail "a file was overwritten with nothing"
code=0
"$windlass" dump-syms c >/dev/full 2>err || code=$?
[ $code = 1 ] && grep -q 'No space left' err || fail "full: $code $(cat err)"
code=0
"$windlass" dump-syms -o no/such/folder c 2>err || code=$?
[ $code = 1 ] && grep -q 'no/such/folder' err || fail "no folder: $code"

# No rule is made up where Breakpad has no words for it: in the stubs of .plt,
# and only there.
if [ "$(uname -m)" = x86_64 ]; then
    echo 'int g(void); int f(void); int f(void) { return g() + 1; }' >lazy.c
    gcc -O1 -fPIC -shared -Wl,-z,lazy -o lazy.so lazy.c
    "$windlass" dump-syms lazy.so >lazy.sym 2>err
    stubs=$(readelf -SW lazy.so | sed -n 's/.* \.plt  *PROGBITS  *0*\([0-9a-f]*\) .*/\1/p')
    grep '\.undef' lazy.sym >undefined || true
    [ "$(cat undefined)" = "STACK CFI $(printf %x $((0x$stubs + 16))) .cfa: .undef" ] ||
        fail "rules that cannot be said: $(cat undefined), stubs at $stubs"
fi
[ $failed = 0 ] && echo "dump_syms: symbol files say what binaries do"
exit $failed
