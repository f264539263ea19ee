#!/bin/sh
# report.sh WINDLASS RECDUMP FIXTURES HEAPDUMP: what a program did
# with its heap is what report, diff and export say of its recording.
. "$(dirname "$0")/../lib/record_lib.sh"

heap() {
    rm -f "$1"
    file=$1
    shift
    "$windlass" heap -o "$file" "$@" >out 2>said ||
        fail "exit status $?: $*: $(cat said)"
}
# A finding of `report`: the lines from the title $1 to the next empty one.
section() {
    awk -v title="$1" 'index($0, title) == 1 { on = 1 } /^$/ { on = 0 } on' \
        report
}
# All that they requested: 3 * (1 + 2 + ... + 3000), 4096 * 3 * (1 + ... + 60).
expect_growth() {
    title="Buffers that grow just enough"
    section "$title" >growth
    grep -q '3 buffers grew 8,997 times by realloc, each time by 1 byte:' \
        growth || fail "$1: not by one: $(cat growth)"
    grep -q '13,504,500 bytes allocated for 9,000 bytes;' growth ||
        fail "$1: not so many bytes by one: $(cat growth)"
    grep -q '#01: grow_by_one ' growth || fail "$1: by whom: $(cat growth)"
    grep -q '3 buffers grew 177 times by copying, each time by 4,096 bytes:' \
        growth || fail "$1: not by pages: $(cat growth)"
    grep -q '22,487,040 bytes allocated for 737,280 bytes;' growth ||
        fail "$1: not so many bytes by pages: $(cat growth)"
    grep -q '#01: grow_by_pages ' growth || fail "$1: by whom: $(cat growth)"
    ! grep -q 'grow_by_doubling' growth || fail "$1: doubling is told"
}

for mode in live cumulative; do
    heap $mode.wndl --mode $mode -- "$fixtures/growing"
    grep -A1 '^windlass: held most at the peak:$' said |
        grep -q 'windlass:   [0-9,]* bytes in . blocks*: grow_by_pages ([^)]*) < main <' ||
        fail "$mode: who held most: $(cat said)"
    "$windlass" report $mode.wndl >report || fail "$mode: no report"
    expect_growth $mode
    # One may still be in a register or on the stack.
    section "Leaks, definite" | grep -q '#01: forget ' ||
        fail "$mode: no leak: $(cat report)"
    "$windlass" report --blocks live $mode.wndl >report
    grep -q '^  10,000 bytes (10,000 requested / 0 slop)' report ||
        grep -q '^  10,... bytes (10,000 requested / ' report ||
        fail "$mode: what lives at the end: $(cat report)"
    "$windlass" export --blocks live --value blocks $mode.wndl >folded
    grep -q '^growing;.*;main;forget 10$' folded ||
        fail "$mode: folded: $(cat folded)"
    "$windlass" diff --blocks live live.wndl $mode.wndl >difference
    grep -q '^# no live heap blocks' difference ||
        fail "$mode: two runs differ: $(cat difference)"
done

# Blocks that are gone.
"$windlass" report cumulative.wndl >report
grep -q '^  9,000 blocks in heap block record' report ||
    fail "not 9,000 blocks by one: $(cat report)"
"$windlass" export --value temporary cumulative.wndl >folded
grep -q '^growing;.*;main;grow_by_one 9000$' folded ||
    fail "temporary blocks: $(cat folded)"

# By chance: all of them are counted, so many are told as they stand for.
heap partial.wndl --stacks partial -- "$fixtures/growing"
"$windlass" report --blocks all -f 1 partial.wndl >report
grep -q '^Allocated .* in 9,[0-9]* blocks' report ||
    fail "partial: totals: $(cat report)"
grep -q '^Leaks, buffers that grow and wrong frees: not searched' report ||
    fail "partial: what is not known is not told: $(cat report)"
grep -q '~' report || fail "partial: no estimates: $(cat report)"
"$windlass" report --json --blocks all -f 1 partial.wndl >report.json
if have python3; then
    python3 - <<'END' || fail "partial: an estimate is out of all bounds"
import json

rows = json.load(open("report.json"))["records"]
row = next(r for r in rows if r["stack"][0].startswith("grow_by_one "))
assert 0 < row["blocks_error"] < 9000, row
assert abs(row["blocks"] - 9000) < 8 * row["blocks_error"], row
assert abs(row["requested"] - 13504500) < 8 * row["usable_error"], row
END
fi

# With samples: what the recorder took itself is told.
cp "$sources/../heap/busy.c" .
cc -O1 -o busy busy.c
"$windlass" record --heap -r 5000 -o both.wndl -- ./busy 2>said ||
    fail "with samples: $(cat said)"
"$windlass" report both.wndl >report
grep -A1 '^Heap  *recorded too: --heap$' report | grep -q \
    '^  *which took [0-9.]*% of the time: the samples in libwindlass-heap.so$' ||
    fail "what the recorder took: $(cat report)"

# A chunk that is damaged is told with its place; what was in it is not.
heap damaged.wndl -- "$fixtures/leaks"
"$windlass" report damaged.wndl >report
grep -q '^Leaks, definite: ' report || fail "none to lose: $(cat report)"
size=$(wc -c <damaged.wndl)
lost=0
for part in 1 2 3 4 5 6 7 8 9 10 11; do
    cp damaged.wndl flipped.wndl
    at=$((size * part / 12))
    printf '\245\132\245\132' |
        dd of=flipped.wndl bs=1 seek=$at conv=notrunc 2>/dev/null
    if ! "$windlass" report flipped.wndl >report 2>said; then
        grep -qE 'no heap is left in the recording: (damaged at offset 0x|it ends)' \
            said || fail "at $at: $(cat said)"
        continue
    fi
    grep '^Gaps' report >gap || fail "at $at: $(cat report)"
    place=$(sed -n 's/.*left out, .*at offset 0x\([0-9a-f]*\).*/\1/p' gap)
    [ -n "$place" ] || grep -q 'the end of the recording is missing' gap ||
        fail "no place: $(cat gap)"
    ! grep -q '^No definite leaks' report || fail "at $at: $(cat report)"
    [ -z "$place" ] || lost=$((lost + 1))
done
[ $lost -ge 4 ] || fail "the damage is not told"

# Nothing could be recorded.
if echo 'int main(void) { return 0; }' | cc -static -o still -x c - 2>/dev/null
then
    heap none.wndl -- ./still
    for command in report "report --json" "report --heap" export; do
        status=0
        "$windlass" $command none.wndl >out 2>said || status=$?
        [ $status -eq 1 ] && [ ! -s out ] || fail "$command: status $status"
        grep -q 'the recording holds no heap: no process could be recorded' \
            said || fail "$command: $(cat said)"
    done
fi
