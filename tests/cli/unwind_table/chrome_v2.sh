#!/bin/sh
# chrome_v2.sh WINDLASS: Chromium's unwind info v2 by `windlass unwind-table`:
# made of .debug_frame and of .ARM.exidx, with both headers, verified; read by a
# reader written here after the format's description; what does not fit refused.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$1
need clang-19 ld.lld-19 llvm-objcopy-19 python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "$*"
    failed=1
}

python3 - "$work/program.c" <<'END'
import sys
with open(sys.argv[1], "w") as out:
    out.write("extern int g(int *a, ...);\n")
    for i in range(600):
        out.write("int f%d(int n, int *p) { int a[%d]; int b = g(a, p, n);"
                  "%s return g(a) + b%s; }\n"
                  % (i, 1 + i * 7 % 300, " b += g(p, n);" * (i % 9),
                     " * n" if i % 3 else ""))
    out.write("int dynamic(int n) { int a[n]; return g(a) + g(a); }\n")
END
clang-19 --target=arm-linux-gnueabihf -march=armv7-a -mthumb -O2 -g \
    -funwind-tables -ffunction-sections -fPIC -c -o "$work/program.o" \
    "$work/program.c"
ld.lld-19 -shared -o "$work/frame.so" "$work/program.o"
llvm-objcopy-19 --remove-section .debug_frame "$work/frame.so" "$work/exidx.so"

table() {
    "$windlass" unwind-table "$@" --format chrome-v2
}

cat >"$work/read.py" <<'END'
# Every function's pairs, from the description alone; and each address that the
# tool looks up.
import struct, subprocess, sys
windlass, path = sys.argv[1:]
data = open(path, "rb").read()
words = 10 if struct.unpack_from("<I", data)[0] == 40 else 8
head = struct.unpack_from("<%dI" % words, data)
parts = [head[i:i + 2] for i in range(0, words, 2)]
if words == 10:
    bits = data[parts[1][0]:sum(parts[1])]
    del parts[1]
pages = struct.unpack_from("<%dI" % parts[0][1], data, parts[0][0])
functions = [struct.unpack_from("<HH", data, parts[1][0] + 4 * i)
             for i in range(parts[1][1])]
offsets = data[parts[2][0]:sum(parts[2])]
code = data[parts[3][0]:sum(parts[3])]
assert sum(parts[3]) == len(data)

def uleb(at):
    value = shift = 0
    while True:
        byte = offsets[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at

def pairs(at):
    while True:
        offset, at = uleb(at)
        index, at = uleb(at)
        yield offset, index
        if offset == 0:
            return

page = asked = 0
for i, (start, at) in enumerate(functions):
    while page + 1 < len(pages) and pages[page + 1] <= i:
        page += 1
    base = (page << 17) + 2 * start
    if words == 10 and pages[page] == i:
        assert bits[page >> 3] >> (page & 7) & 1 == (start != 0), page
    if i % 40 != 0:
        continue
    for offset, index in pairs(at):
        said = subprocess.run([windlass, "unwind-table", "show", "--format",
            "chrome-v2", "--lookup", "%x" % (base + 2 * offset), path],
            check=True, capture_output=True, text=True).stdout
        want = "function %d at 0x%x, from +0x%x, instruction %d: " % (
            i, base, 2 * offset, index)
        shown = bytes.fromhex(said.split(": ")[-1])
        assert want in said and code[index:].startswith(shown), (want, said)
        asked += 1
print("%d functions, %d looked up" % (len(functions), asked))
assert len(functions) > 600 and asked > 30
END
for source in frame exidx; do
    for header in shipped design; do
        file=$work/$source.$header
        table build --header $header "$work/$source.so" -o "$file" \
            2>"$work/err" || fail "$source, $header is not built"
        table verify "$work/$source.so" "$file" >"$work/out" ||
            fail "$source, $header is not verified"
        grep -q 'right at all of' "$work/out" || fail "no verdict"
        python3 "$work/read.py" "$windlass" "$file" || fail "$file: read wrong"
    done
    table show "$work/$source.design" >"$work/out"
    grep -q '^60[0-9] functions, .* addresses' "$work/out" || fail "show"
    grep -q 'naive layout' "$work/out" || fail "no naive layout"
    grep -q 'continued pages' "$work/out" || fail "no part of the design"
done
grep -q 'of .ARM.exidx' "$work/err" || fail "the source is not told"

# A file of debug information has .debug_frame, and no code.
llvm-objcopy-19 --only-keep-debug "$work/frame.so" "$work/frame.debug"
table build "$work/frame.debug" -o "$work/debug" 2>"$work/err" ||
    fail "of debug information: $(cat "$work/err")"
cmp -s "$work/frame.shipped" "$work/debug" ||
    fail "of debug information it is another"

# Who has a table mapped while it is made anew keeps what was there.
cp "$work/frame.shipped" "$work/used"
exec 9<"$work/used"
table build --header design "$work/frame.so" -o "$work/used" 2>/dev/null
cmp -s "$work/frame.shipped" - <&9 || fail "a table was written over"
cmp -s "$work/frame.design" "$work/used" || fail "no table in its place"
exec 9<&-

# What is there says something else than another binary's functions.
clang-19 --target=arm-linux-gnueabihf -march=armv7-a -marm -O1 -g \
    -funwind-tables -fPIC -c -o "$work/other.o" "$work/program.c"
ld.lld-19 -shared -o "$work/other.so" "$work/other.o"
table verify "$work/other.so" "$work/frame.shipped" 2>"$work/err" >/dev/null &&
    fail "a table of another binary is right"
grep -q 'wrong at' "$work/err" || fail "it is not told where"

# --- raw bytes

address=$("$windlass" unwind-info --dump "$work/frame.so" | tail -n 1 |
    sed 's/^\[0x\([0-9a-f]*\).*/\1/')
table encode "$work/frame.so" "$address" >"$work/out"
grep -q '^+0x0:$' "$work/out" || fail "encode: no entry"
grep -q '^+0x[0-9a-f]*: 97 4' "$work/out" || fail "encode: no frame register"
same_run() {
    expected=$1
    shift
    got=$(table run "$@" 2>&1) || true
    case $got in
    *"$expected"*) ;;
    *) fail "run $*: $got" ;;
    esac
}
same_run 'sp=1010,lr=3,pc=3' '01 a8 b0' 'sp=1000,lr=9' \
    '00000000 01000000 02000000 03000000'
same_run 'refuse' '80 00' sp=1000 00
same_run 'lead out of' 'a8 b0' sp=1000 '00 00 00 00'
same_run 'is not a list of at most' 'a8 b' sp=1000 00
same_run 'is not a list of registers' 'b0' sp=10x0 00

# --- refusals

table build /bin/true -o "$work/none" 2>"$work/err" && fail "x86-64"
grep -q '32-bit Arm' "$work/err" || fail "no reason for another machine"
llvm-objcopy-19 --rename-section .text=.code "$work/frame.so" "$work/code.so"
table build "$work/code.so" -o "$work/none" 2>"$work/err" && fail "no .text"
grep -q 'code.so: has no section .text' "$work/err" || fail "no reason: none"
table show "$work/program.c" 2>"$work/err" && fail "C is no table"
grep -q 'neither 32 nor 40' "$work/err" || fail "no reason for what is none"
head -c 300 "$work/frame.shipped" >"$work/cut"
table show "$work/cut" 2>"$work/err" && fail "half a table"
grep -q "$work/cut" "$work/err" || fail "the file is not named"
table show --dump "$work/frame.shipped" 2>/dev/null && fail "--dump is not ours"
"$windlass" unwind-table show --lookup 10 "$work/frame.shipped" \
    2>"$work/err" && fail "--lookup is chrome-v2's"
grep -q 'need --format chrome-v2' "$work/err" || fail "not told: --lookup"
"$windlass" unwind-table encode "$work/frame.so" "$address" 2>"$work/err" &&
    fail "encode is chrome-v2's"
grep -q 'need --format chrome-v2' "$work/err" || fail "not told: encode"
for file in frame.shipped frame.design; do
    "$windlass" unwind-table show "$work/$file" 2>"$work/err" &&
        fail "$file is none of ours"
    grep -q 'use --format chrome-v2' "$work/err" || fail "not told: $file"
done

# Functions that a binary has no room for.
echo 'int g(void); int f(void) { return g() + 1; }' >"$work/small.c"
clang-19 --target=arm-linux-gnueabihf -march=armv7-a -mthumb -O2 \
    -funwind-tables -fPIC -c -o "$work/small.o" "$work/small.c"
ld.lld-19 -shared -o "$work/small.so" "$work/small.o"
table verify "$work/small.so" "$work/frame.shipped" 2>"$work/err" &&
    fail "a table of more code than there is"
grep -q 'small.so: its .text ends before' "$work/err" || fail "no reason: .text"

# A frame pointer that moves up in an epilogue makes the frame smaller.
cat >"$work/moves.s" <<'END'
.syntax unified
.thumb
.thumb_func
f: .cfi_sections .debug_frame
.cfi_startproc
push {r7, lr}
.cfi_def_cfa_offset 8
.cfi_offset r7, -8
.cfi_offset lr, -4
sub sp, #64
.cfi_def_cfa_offset 72
mov r7, sp
.cfi_def_cfa_register r7
nop
adds r7, #64
.cfi_def_cfa_offset 8
mov sp, r7
.cfi_def_cfa_register sp
pop {r7, pc}
.cfi_endproc
END
clang-19 --target=armv7a-linux-gnueabihf -c -o "$work/moves.o" "$work/moves.s"
ld.lld-19 -shared -o "$work/moves.so" "$work/moves.o"
table build "$work/moves.so" -o "$work/moves" 2>/dev/null
table verify "$work/moves.so" "$work/moves" >"$work/out" || fail "moves"
grep -q 'right at all of' "$work/out" || fail "moves: $(cat "$work/out")"

# More distinct lists of offsets than 64 KiB have room for.
python3 - "$work/large.s" <<'END'
import sys
with open(sys.argv[1], "w") as out:
    out.write(".syntax unified\n.thumb\n")
    for i in range(9000):
        first, second, third = 4 + i % 120, 4 + i // 120 % 120, i // 14400
        out.write(".thumb_func\nf%d: .fnstart\n" % i +
                  "push {r4-r7, lr}\n.save {r4-r7, lr}\n" +
                  "nop\n" * (1 + i % 30) + "sub sp, #%d\n.pad #%d\n" %
                  (4 * first, 4 * first) + "nop\n" * (1 + i // 30 % 30) +
                  "sub sp, #%d\n.pad #%d\n" % (4 * second, 4 * second) +
                  "bx lr\n.fnend\n")
END
clang-19 --target=armv7a-linux-gnueabihf -c -o "$work/large.o" "$work/large.s"
ld.lld-19 -shared -o "$work/large.so" "$work/large.o"
table build "$work/large.so" -o "$work/large" 2>"$work/err" ||
    fail "offsets beyond 64 KiB: $(cat "$work/err")"
grep -Eq 'functions left out, as the layout .*: [0-9]+, with [1-9][0-9.]* % of' \
    "$work/err" || fail "too large, but: $(cat "$work/err")"
table verify "$work/large.so" "$work/large" >"$work/out" 2>"$work/err" ||
    fail "large: $(cat "$work/err")"
grep -q 'right at all of' "$work/out" || fail "large: $(cat "$work/out")"
grep -Eq 'refused, though the binary has a rule: [0-9]+ of' "$work/err" ||
    fail "it is not said that some is refused: $(cat "$work/err")"
exit $failed
