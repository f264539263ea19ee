#!/bin/sh
# SPDX-License-Identifier: MIT
# cache.sh WINDLASS MAKE_RECORDING PROGRAM: --cache changes no answer; what is
# in its files is what was answered; damage, several processes at once, files
# without build-id, debug files that come later. PROGRAM is any with many
# functions.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
export LC_ALL=C
windlass=$(realpath "$1")
make_recording=$(realpath "$2")
program=$(realpath "$3")
need gcc nm readelf strip objcopy python3
readelf -n "$program" | grep -q 'Build ID' ||
    skip "$program has no build-id"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset WINDLASS_DEBUG_DIRS || true
failed=0

fail() {
    echo "cache: $1"
    failed=1
}

same() {
    cmp -s "$2" "$3" && return
    fail "$1"
    diff "$2" "$3" | head -n 6
}

# That a busy machine is slow is no trouble.
calm() {
    sed -i '/takes more than a second$/d' errors
}

quiet() {
    calm
    [ -s errors ] || return 0
    fail "$1 is told of"
    head -n 3 errors
}

# ---- every function's start and what is 7 bytes behind, by sym
nm "$program" | sed -n 's/^\([0-9a-f]*\) [tT] .*/\1/p' |
    python3 -c 'import sys
for line in sys.stdin:
    print("%#x\n%#x" % (int(line, 16), int(line, 16) + 7))
' | sort -u >addresses
[ "$(wc -l <addresses)" -gt 500 ] || fail "too few addresses to mean much"
for style in gnu llvm json; do
    "$windlass" sym -e "$program" -fi --style $style <addresses >plain.$style
    for round in 1 2; do
        "$windlass" sym -e "$program" -fi --style $style --cache kept \
            <addresses >got 2>errors
        same "sym --style $style, round $round" plain.$style got
        quiet "round $round"
    done
done
[ "$(ls kept | wc -l)" -eq 2 ] || fail "not a file for each kind of names"

# ---- what is in the file, by a reader of its own
cat >read.py <<'END2'
import binascii, json, struct, sys
data = open(sys.argv[1], 'rb').read()
(magic, version, crc, size, sources, writer, answers, frames, strings, ids,
 zero) = struct.unpack_from('<8sIIQQIIIIII', data)
assert magic == b'WNDLSYMC' and version == 1 and zero == 0
assert size == len(data) and crc == binascii.crc32(data[16:])
build_id = data[56:56 + ids].hex()
assert sys.argv[1].split('/')[-1] == '%s-%016x.wsym' % (build_id, sources)
at_frames = 120 + 16 * answers
at_strings = at_frames + 32 * frames
assert at_strings + strings == size
def text(at):
    at += at_strings
    return data[at:data.index(b'\0', at)].decode()
kept = {}
for i in range(answers):
    rva, first, count = struct.unpack_from('<QII', data, 120 + 16 * i)
    chain = []
    for k in range(first, first + count):
        (start, function, mangled, file, line, column, language,
         flags) = struct.unpack_from('<QIIIIIHH', data, at_frames + 32 * k)
        chain.append([text(function), text(mangled), text(file), line, column,
                      start, bool(flags & 1)])
    kept[rva] = chain
asked = 0
for line in open(sys.argv[2]):
    told = json.loads(line)
    chain = [[f.get('function', ''), f.get('mangled', ''), f.get('file', ''),
              f.get('line', 0), f.get('column', 0), int(f['start']['rva'], 0),
              f['inlined']] for f in told['frames']]
    rva = int(told['rva'], 0)
    assert kept[rva] == chain, (told, kept[rva])
    asked += 1
assert len(kept) <= asked and asked > 500
END2
found=0
for file in kept/*; do
    python3 read.py "$file" plain.json 2>errors && found=1
done
[ $found -eq 1 ] || { fail "no file has what was answered"; cat errors; }

# ---- fix and report
base=$(readelf -lW "$program" | awk '$1 == "LOAD" { print $3; exit }')
head -n 300 addresses | while read -r address; do
    printf '#01: ???[%s +%#x]\n' "$program" $((address - base))
done >stack
"$windlass" fix --inlines stack >plain
for round in 1 2; do
    "$windlass" fix --inlines --cache kept-fix stack >got 2>errors
    same "fix, round $round" plain got
    quiet "fix's round $round"
done
{
    echo "meta 1000000 1 1 box / ./program"
    echo "process 0 7 $program ./program"
    echo "thread 0 7 program"
    echo "image $program $(readelf -n "$program" | sed -n 's/.*Build ID: //p')"
    head -n 40 addresses | while read -r address; do
        printf 'sample 0 30 0 0:%x!\n' $((address - base))
    done
    echo "done 0 0"
} | "$make_recording" program.wndl
"$windlass" report --no-pager -n 50 program.wndl >plain
for round in 1 2; do
    "$windlass" report --no-pager -n 50 --cache kept-report program.wndl \
        >got 2>errors
    same "report, round $round" plain got
    quiet "report's round $round"
done
[ "$(ls kept-report | wc -l)" -eq 1 ] || fail "report keeps nothing"

# ---- damage is told once, and gone after
for file in kept-fix/*; do
    dd if=/dev/zero of="$file" bs=1 seek=200 count=4 conv=notrunc 2>/dev/null
done
"$windlass" fix --inlines stack >plain
"$windlass" fix --inlines --cache kept-fix stack >got 2>errors
same "fix with a damaged file" plain got
grep -q 'its checksum is wrong; it is replaced' errors ||
    fail "a damaged file is not told of"
"$windlass" fix --inlines --cache kept-fix stack >got 2>errors
same "fix after a damaged file" plain got
quiet "the file that was written anew"

# ---- another binary's answers, whole but under this one's name
echo 'int main(void) { return 0; }' >other.c
gcc -g -Wl,--build-id other.c -o other
nm other | sed -n 's/^\([0-9a-f]*\) T main$/0x\1/p' |
    "$windlass" sym -e other --cache kept-other >/dev/null
for file in kept-fix/*; do
    cat kept-other/* >"$file"
done
"$windlass" fix --inlines --cache kept-fix stack >got 2>errors
same "fix with another binary's answers" plain got
grep -q 'it is replaced' errors || fail "another binary's answers are not told of"
"$windlass" fix --inlines --cache kept-fix stack >got 2>errors
same "fix after another binary's answers" plain got
quiet "the file that was written anew after that"

# ---- no room for a file
full() {
    (
        ulimit -f 1
        trap '' XFSZ
        exec "$windlass" fix --inlines --cache kept-full stack
    )
}
full 2>/dev/null | cat >got
same "fix without room for a file" plain got
[ -z "$(ls kept-full 2>/dev/null)" ] || fail "a part of a file is kept"
full 2>&1 >/dev/null | cat >errors
grep -q -- '--cache: kept-full' errors ||
    fail "that there is no room is not told of: $(cat errors)"

# ---- several at once
rm -rf kept-fix
split -n l/6 stack part.
for round in 1 2; do
    for part in part.??; do
        "$windlass" fix --inlines --cache kept-fix "$part" \
            >"got.$part" 2>"errors.$part" &
    done
    wait
    cat got.part.?? >got
    cat errors.part.?? >errors
    same "fix, six at once" plain got
    quiet "one of six at once"
done
"$windlass" fix --inlines --cache kept-fix stack >got 2>errors
same "fix after six at once" plain got
[ "$(ls kept-fix | wc -l)" -eq 1 ] || fail "files are left behind"

# ---- a folder that cannot be made
"$windlass" fix --inlines --cache none/such stack >got 2>errors
same "fix without a folder" plain got
calm
[ "$(wc -l <errors)" -eq 1 ] && grep -q -- '--cache: none/such: ' errors ||
    fail "a folder that cannot be made is not told of"

# ---- a debug file that comes later; then no build-id
cat >late.c <<'END2'
int add(int x) { return x + 1; }
int main(int argc, char **argv) { (void)argv; return add(argc); }
END2
gcc -O0 -g -Wl,--build-id late.c -o late
objcopy --only-keep-debug late late.debug
strip late
main=$(nm late.debug | sed -n 's/^0*\([0-9a-f]*\) T main$/\1/p')
"$windlass" sym -e late -fs --cache kept-late "$main" >got
[ "$(ls kept-late | wc -l)" -eq 1 ] || fail "that nothing is known is not kept"
id=$(readelf -n late | sed -n 's/.*Build ID: //p')
rest=${id#??}
mkdir -p "debug/.build-id/${id%"$rest"}"
cp late.debug "debug/.build-id/${id%"$rest"}/$rest.debug"
for round in 1 2; do
    "$windlass" sym -e late -fs --debug-dir debug --cache kept-late "$main" >got
    [ "$(cat got)" = "main
late.c:2" ] || fail "a debug file that came later is not used"
done
gcc -O0 -g -Wl,--build-id=none late.c -o anonymous
"$windlass" sym -e anonymous -fs --cache kept-none main >got
[ "$(cat got)" = "main
late.c:2" ] || fail "no answer for a file without build-id"
[ ! -e kept-none ] || fail "a file without build-id is kept"

# ---- nothing that is not whole is kept
if gcc -O0 -g -gsplit-dwarf -Wl,--build-id late.c -o split 2>/dev/null; then
    rm -f ./*.dwo
    for round in 1 2; do
        "$windlass" sym -e split -fs --cache kept-split main >got 2>errors
        grep -q 'missing' errors || fail "that a file is missing is not told"
    done
    [ ! -e kept-split ] || fail "what is not whole is kept"
fi
exit $failed
