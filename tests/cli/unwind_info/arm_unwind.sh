#!/bin/sh
# arm_unwind.sh WINDLASS EXIDXDUMP: what .ARM.exidx of 32-bit Arm binaries says
# against llvm-readobj, entry by entry and instruction by instruction; and the
# rows that `windlass unwind-info` makes of that and the code: of a function
# whose rows are known, and against .debug_frame of the same binary.
#
# clang's .debug_frame leaves out epilogues, so that rows there differ.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$1
exidxdump=$2
here=$(dirname "$0")
need clang-19 ld.lld-19 llvm-readobj-19 llvm-objcopy-19 python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "$*"
    failed=1
}

cat >"$work/program.c" <<'END'
extern int g(int *a, ...);
extern double h(double);
int leaf(int x) { return x + 1; }
int frame(int n) { int a[10]; return g(a) + g(a) + n; }
int dynamic(int n) { int a[n]; return g(a) + g(a); }
double doubles(double x, double y, double z)
{
    return h(x) + h(y) * h(z) + x * y * z;
}
int large(int n) { int a[5000]; return g(a) + g(a) + n; }
int many(int a, int b, int c, int d, int e, int f)
{
    int v = g(&a, b, c, d, e, f);
    return v + g(&b) + a + b + c + d + e + f;
}
int variable(const char *s, ...)
{
    __builtin_va_list ap;
    __builtin_va_start(ap, s);
    int x = __builtin_va_arg(ap, int);
    return g(&x) + x;
}
int early(int n, int *p) { return n == 0 ? *p : g(p) + g(p + n) * n; }
END
cat >"$work/odd.s" <<'END'
        .syntax unified
        .thumb
        .macro raw name:req, bytes:vararg
        .globl \name
        .thumb_func
\name:  .fnstart
        bx lr
        .unwind_raw 0, \bytes
        .fnend
        .endm
        raw refuses, 0x80, 0x00
        raw low, 0xb1, 0x0f
        raw fstmx, 0xb3, 0x83
        raw fstmx8, 0xba
        raw wmmx, 0xc1
        raw wmmx_some, 0xc6, 0x23
        raw wmmx_control, 0xc7, 0x0a
        raw vfp_high, 0xc8, 0x12
        raw large, 0xb2, 0x81, 0x80, 0x04
        .globl forbids
        .thumb_func
forbids: .fnstart
        bx lr
        .cantunwind
        .fnend
        .globl known
        .thumb_func
known:  .fnstart
        push {r4, lr}
        .save {r4, lr}
        sub sp, #8
        .pad #8
        nop
        add sp, #8
        pop {r4, pc}
        .fnend
END

made=
for set in thumb arm; do
    clang-19 --target=arm-linux-gnueabihf -march=armv7-a -m$set -O2 -g \
        -funwind-tables -fPIC -c -o "$work/$set.o" "$work/program.c"
    ld.lld-19 -shared -o "$work/$set.so" "$work/$set.o"
    made="$made $work/$set.so"
done
clang-19 --target=armv7a-linux-gnueabihf -c -o "$work/odd.o" "$work/odd.s"
ld.lld-19 -shared -o "$work/odd.so" "$work/odd.o" -Ttext=0x10000

# --- entries and instructions

for file in $made "$work/odd.so" /usr/arm-linux-gnueabihf/lib/libc.so.6; do
    have "$file" || continue
    "$exidxdump" "$file" >"$work/ours"
    llvm-readobj-19 --unwind "$file" | awk -f "$here/../../lib/llvm_exidx.awk" \
        >"$work/theirs"
    [ -s "$work/theirs" ] || fail "$file: llvm-readobj says nothing"
    diff "$work/ours" "$work/theirs" >"$work/diff" || {
        fail "$file: differs from llvm-readobj (< ours):"
        head -n 10 "$work/diff"
    }
    echo "$file: $(wc -l <"$work/ours") lines"
done

# Instructions of C++'s own personality, against GNU readelf.
gnu=arm-linux-gnueabihf
if have $gnu-g++ && have $gnu-readelf; then
    $gnu-g++ -O2 -static-libstdc++ -static-libgcc -o "$work/throws" \
        "$here/../../fixtures/unwind/throws.cc"
    "$exidxdump" "$work/throws" generic >"$work/ours"
    $gnu-readelf -u "$work/throws" |
        awk -f "$here/../../lib/gnu_exidx.awk" >"$work/theirs"
    [ "$(grep -c '^0x' "$work/theirs")" -gt 10 ] ||
        fail "readelf tells of no entry of the generic model"
    diff "$work/ours" "$work/theirs" >"$work/diff" || {
        fail "generic model: differs from readelf (< ours):"
        head -n 10 "$work/diff"
    }
    echo "generic model: $(wc -l <"$work/ours") lines"
fi

# --- rows

"$windlass" unwind-info "$work/odd.so" >"$work/out"
grep -q '^.ARM.exidx: ' "$work/out" || fail "the section is not told"
grep -q 'entries that forbid unwinding: 2, 4 bytes' "$work/out" ||
    fail "CANTUNWIND and refusals are not counted"
known=$(llvm-readobj-19 --symbols "$work/odd.so" |
    awk '/Name: known /{ f = 1 } f && /Value:/ { print $2; exit }')
known=$((known & ~1))
kept="R5=oldR5 R6=oldR6 R7=oldR7 R8=oldR8 R9=oldR9 R10=oldR10 R11=oldR11"
{
    printf '[0x%x .. 0x%x]: let cfa=oldSP in RA=oldLR SP=cfa R4=oldR4 %s\n' \
        $known $((known + 1)) "$kept"
    while read -r from to cfa; do
        printf '[0x%x .. 0x%x]: let cfa=oldSP+%d in RA=*(cfa-4) SP=cfa R4=*(cfa-8) %s\n' \
            $((known + from)) $((known + to)) "$cfa" "$kept"
    done <<END
2 3 8
4 7 16
8 9 8
END
} >"$work/expected"
"$windlass" unwind-info --dump "$work/odd.so" 2>/dev/null | tail -n 4 |
    diff "$work/expected" - || fail "the rows of a known function differ"
"$windlass" unwind-info --lookup $(printf %x $((known + 5))) "$work/odd.so" |
    tail -n 1 | diff "$work/expected" - >"$work/diff" || true
grep -q '^>' "$work/diff" && fail "the row looked up differs"
"$windlass" unwind-info --breakpad "$work/odd.so" 2>/dev/null |
    grep -q '\.cfa: sp \.ra: lr$' || fail "no STACK CFI record"

# --- tables of them, in windlass's own format

ld.lld-19 -shared --build-id -o "$work/table.so" "$work/thumb.o"
llvm-objcopy-19 --remove-section .debug_frame "$work/table.so" \
    "$work/table_exidx.so"
for file in "$work/table.so" "$work/table_exidx.so"; do
    "$windlass" unwind-table build "$file" -o "$file.wut" 2>"$work/err" ||
        fail "$file: no table"
    "$windlass" unwind-table verify "$file" "$file.wut" >"$work/out" ||
        fail "$file: the table is wrong"
    "$windlass" unwind-table show "$file.wut" | grep -q '32-bit Arm' ||
        fail "the machine is not told"
    "$windlass" unwind-info --dump "$file" >"$work/expected"
    "$windlass" unwind-table show --dump "$file.wut" |
        grep -v ': no information$' |
        diff "$work/expected" - || fail "$file: its table's rows differ"
done
grep -q "of .ARM.exidx's" "$work/err" || fail "the source is not told"

# --- against .debug_frame

for file in $made; do
    llvm-objcopy-19 --remove-section .debug_frame "$file" "$file.stripped"
    "$windlass" unwind-info --dump "$file" >"$work/frame"
    "$windlass" unwind-info --dump "$file.stripped" >"$work/exidx"
    python3 - "$work/exidx" "$work/frame" <<'END' || fail "$file: rows differ"
import re, sys

def rules(path):
    at = {}
    for line in open(path):
        m = re.match(r"\[0x(\w+) .. 0x(\w+)\]: (.*)", line)
        for pc in range(int(m[1], 16), int(m[2], 16) + 1):
            at[pc] = m[3]
    return at

ours, theirs = rules(sys.argv[1]), rules(sys.argv[2])
both = ours.keys() & theirs.keys()
same = sum(ours[pc] == theirs[pc] for pc in both)
print("%d of %d bytes have .debug_frame's rule" % (same, len(both)))
sys.exit(same < 0.85 * len(both) or len(both) < 200)
END
done
exit $failed
