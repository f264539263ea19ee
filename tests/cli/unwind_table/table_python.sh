#!/bin/sh
# table_python.sh WINDLASS: a program that is used, python3, without .eh_frame and
# with its unwind table at hand: its heap has the same stacks, and
# what it runs is seen as completely.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$1
[ "$(uname -m)" = x86_64 ] || skip "not x86-64"
need /usr/bin/python3 objcopy readelf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "table_python: $*" >&2
    exit 1
}

mkdir full bare tables
cp "$(readlink -f /usr/bin/python3)" full/python
id=$(readelf -n full/python | awk '/Build ID:/ { print $3 }')
[ -n "$id" ] || skip "python3 has no build-id"
PYTHONHOME=$(/usr/bin/python3 -c 'import sys; print(sys.prefix)')
PYTHONHASHSEED=0
PYTHONMALLOC=malloc
export PYTHONHOME PYTHONHASHSEED PYTHONMALLOC
objcopy --remove-section=.eh_frame --remove-section=.eh_frame_hdr \
    full/python bare/python 2>/dev/null
bare/python -S -c 'import json' 2>/dev/null ||
    skip "python3 needs its .eh_frame"
"$windlass" unwind-table build full/python -o "tables/$id.wut" 2>/dev/null
"$windlass" unwind-table verify full/python "tables/$id.wut" >/dev/null ||
    fail "the table is wrong"

cat >work.py <<'END'
import json, sys
for i in range(int(sys.argv[1])):
    json.dumps(json.loads("[" + "1.5,{\"a\": []}," * 500 + "2]"), indent=1)
END

# heap FOLDER NAME: all stacks of what is allocated, in NAME. How much is
# allocated by them is left out: it is not quite the same from run to run.
heap() {
    rm -f heap.wndl folded
    (cd "$1" && "$windlass" heap --mode cumulative -o ../heap.wndl -- \
        ./python -S -B ../work.py 5 >/dev/null 2>&1) || fail "heap of $1 fails"
    "$windlass" report heap.wndl 2>/dev/null | grep '^Stacks' >"$2.stacks"
    "$windlass" export -f folded --blocks all -o folded heap.wndl \
        2>/dev/null || fail "no export of the heap of $1"
    sed 's/ [0-9]*$//' folded | sort -u >"$2"
}

heap full first
heap bare lost
WINDLASS_UNWIND_TABLES=$work/tables
export WINDLASS_UNWIND_TABLES
heap bare tabled
[ "$(wc -l <first)" -ge 20 ] || fail "few stacks: $(wc -l <first)"
grep -q ' 100\.0% of allocations complete' lost.stacks &&
    fail "it is unwound without a table"
grep -q ' 100\.0% of allocations complete' tabled.stacks ||
    fail "heap: $(cat tabled.stacks)"
other=$(comm -3 first tabled | wc -l)
[ $((other * 100)) -le "$(wc -l <first)" ] ||
    fail "$other other stacks: $(comm -3 first tabled | head -n 5)"

"$windlass" record -r 1000 -o cpu.wndl -- bare/python -S -B work.py 60 \
    >/dev/null 2>said || fail "record: $(cat said)"
awk '/% of the stacks are complete/ { seen = 1; good = $2 >= 95 }
    END { exit !(seen && good) }' said || fail "record: $(cat said)"
