#!/bin/sh
# record.sh WINDLASS RECDUMP FIXTURES HEAPDUMP: what a program allocates
# is in its recording, however it ends, and whoever asks for it meanwhile.
. "$(dirname "$0")/../lib/record_lib.sh"
heapdump=$(realpath "$4")
heaps=$fixtures/heaps

# heap STATUS [OPTION...] -- COMMAND...: as `record`, for `windlass heap`.
heap() {
    expected=$1
    shift
    rm -f r.wndl dump
    status=0
    "$windlass" heap -o r.wndl "$@" 2>said || status=$?
    [ "$status" -eq "$expected" ] ||
        fail "exit status $status instead of $expected: $*: $(cat said)"
    "$heapdump" r.wndl >dump || fail "the recording cannot be read"
    "$recdump" r.wndl | grep -q '^done 1 ' || fail "it is not finished"
}

# counts REQUESTED: "ALLOCS FREES AT-PEAK TEMPORARY" of all sites of that size.
counts() {
    awk -v size="$1" '$1 == "site" && $9 == size {
        for (i = 3; i <= 6; i++) n[i] += $i
    } END { print n[3] + 0, n[4] + 0, n[5] + 0, n[6] + 0 }' dump
}
expect() {
    [ "$(counts "$1")" = "$2" ] || fail "$3: $1 bytes: $(counts "$1"), not $2"
}
snapshots() {
    awk -v why="$1" '$1 == "snapshot" && $4 == why' dump | wc -l
}
# A number of a snapshot's totals: 6 allocs, 7 frees, 13 the peak.
total() {
    awk -v field="$1" '$1 == "snapshot" { n = $field } END { print n }' dump
}

# Every block, its size and how many lived at the peak, in each mode.
for mode in live cumulative; do
    heap 3 --mode $mode -- "$heaps" keep 100 1013 pass 1 50 drop 60 pass 500 733 exit 3
    expect 1013 "100 60 100 0" $mode
    expect 733 "500 500 0 500" $mode
    [ "$(snapshots 0)" -eq 1 ] || fail "no last snapshot"
    awk '$1 == "site" && $9 == 1013' dump | grep -q ' 0+0x.* 1+0x.* 0+0x' ||
        fail "stacks in no binaries"
    at_least 101300 "$(total 13)" "bytes at the peak"
done
grep -q '^windlass: .* live in [0-9]* block.* at the peak; ' said ||
    fail "summary: $(cat said)"
grep -q '^windlass: 100.00 % of the allocations' said || fail "$(cat said)"
tail -1 said | grep -Eq 'windlass (report|view) r.wndl' || fail "the next step"
[ "$(awk '$1 == "site" && $9 == 733 && $7 > 0' dump | wc -l)" -eq 1 ] ||
    fail "no lifetime in cumulative mode"
all=$(total 6)
heap 0 --stacks partial --sample-below 100000 -- "$heaps" keep 100 1013 \
    pass 1 50 drop 60 pass 500 733
[ "$(total 6)" -eq "$all" ] || fail "partial: $(total 6) allocs, not $all"
grep -q '^heap 0 0 1 100000$' dump || fail "partial is not told"
heap 0 --stacks partial --sample-below 4G -- "$heaps" keep 100 1013
grep -q '^heap 0 0 1 4294967296$' dump || fail "the most is not taken"
for passed in "1000 [0-9]" "3000 ~[0-9]"; do
    heap 0 --mode cumulative -- "$heaps" pass ${passed% *} 733
    "$windlass" report --no-pager r.wndl | grep Freed >text
    grep -q "mean lifetime ${passed#* }" text || fail "lifetime: $(cat text)"
done
# Few that end, of many: all of those are timed.
cp "$sources/../heap/few.c" .
cc -o few few.c
heap 0 --mode cumulative -- ./few
awk '$1 == "site" && $9 == 739 && $7 < 4 * 290e6 { exit 1 }' dump ||
    fail "lifetimes: $(grep ^site dump)"

# A program at a fixed address imports malloc by a stub of its own.
heap 0 -- "${heaps}_fixed" keep 100 1013 pass 5 733
expect 1013 "100 0 100 0" "at a fixed address"
expect 733 "5 5 1 5" "at a fixed address"

# A program that is killed had counted all of it.
heap 137 -- "$heaps" keep 100 1013 pass 1 50 drop 60 pass 500 733 kill
expect 1013 "100 60 100 0" killed
expect 733 "500 500 0 500" killed

# Each process has a heap of its own; the program it becomes another one.
heap 0 -- sh -c "$heaps keep 10 1013; exec $heaps keep 20 1013"
[ "$(grep -c '^heap' dump)" -eq 3 ] || fail "not three heaps"
expect 1013 "30 0 30 0" "three heaps"
heap 0 --no-children -- sh -c "$heaps keep 10 1013; exec $heaps keep 20 1013"
expect 1013 "20 0 20 0" "--no-children"

# Where memory is limited there is room for less.
if (ulimit -v 1500000 && "$windlass" --version >out 2>&1); then
    (ulimit -v 1500000 && heap 0 -- "$heaps" keep 100 1013)
    "$heapdump" r.wndl >dump
    expect 1013 "100 0 100 0" "little address space"
fi

# So there is in the recorder, which has the same limit and many programs.
cat >many.sh <<'END'
i=0
while [ $i -lt 60 ]; do
    sleep 1 &
    i=$((i + 1))
done
wait
END
if (ulimit -v 10000000 && "$windlass" --version >out 2>&1); then
    (ulimit -v 10000000 && heap 0 -- sh many.sh)
    ! grep -q 'could not be recorded' said || fail "many programs: $(cat said)"
fi

# What nothing points to, and what is told of an allocator of one's own.
heap 0 -- "$heaps" keep 3 1013 leak 30 517 told 7 211
expect 211 "7 1 7 0" "told"
[ "$(awk '$1 == "leak" && $6 == 517 { print $3 }' dump)" = 30 ] || fail "leaks"
! awk '$1 == "leak"' dump | grep -q ' 1013 ' || fail "a leak that is none"
heap 0 --no-leaks -- "$heaps" leak 30 517
! grep -q '^leak' dump || fail "leaks that were not asked for"

# Many threads, none of which is sampled.
heap 0 -- "$fixtures/threads"
! grep -q dropped said || fail "threads: $(cat said)"

# Snapshots while it runs: by hand, by the clock, at peaks.
"$windlass" heap -o live.wndl "$heaps" keep 50 1013 tell one wait two \
    keep 25 1013 pass 1 50 drop 30 2>said &
recorder=$!
while [ ! -f one ]; do sleep 0.05; done
"$windlass" ctl $recorder status >answer || fail "no status"
grep -q 'live in [0-9]* blocks\{0,1\}, of [0-9]* allocated$' answer ||
    fail "status: $(cat answer)"
[ "$("$windlass" ctl $recorder dump)" = "$work/live.wndl" ] || fail "dump"
"$heapdump" live.wndl >dump || fail "it cannot be read while it grows"
[ "$(snapshots 1)" -eq 1 ] || fail "no snapshot by hand"
expect 1013 "50 0 50 0" "by hand"
"$recdump" live.wndl | grep -q '^done 0 ' || fail "it is finished already"
"$windlass" report live.wndl >report || fail "no report while it grows"
grep -q 'asked for by windlass ctl' report || fail "$(cat report)"
! grep -q 'blocks may be missing' report || fail "a snapshot is not all there"
touch two
wait $recorder || fail "the recorder: $(cat said)"
"$heapdump" live.wndl >dump
expect 1013 "75 30 75 0" "after a snapshot by hand"
[ "$(snapshots 1)" -eq 1 ] || fail "one snapshot by hand"

# Heaps do not pause, and a recording can end before the program does.
"$windlass" heap -o stopped.wndl "$heaps" keep 50 1013 tell paused \
    wait stopped keep 25 1013 2>said &
recorder=$!
while [ ! -f paused ]; do sleep 0.05; done
"$windlass" ctl $recorder pause >answer || fail "no pause"
grep -q '^paused: .* allocated; heaps do not pause$' answer ||
    fail "pause: $(cat answer)"
"$windlass" ctl $recorder resume >answer || fail "no resume"
! grep -q 'pause' answer || fail "resume: $(cat answer)"
[ "$("$windlass" ctl $recorder stop)" = "$work/stopped.wndl" ] || fail "stop"
touch stopped
wait $recorder || fail "stopped: $(cat said)"
"$heapdump" stopped.wndl >dump
expect 1013 "50 0 50 0" "after a stop"
[ "$(snapshots 5)" -eq 1 ] && [ "$(snapshots 0)" -eq 0 ] ||
    fail "a stop: $(grep '^snapshot' dump)"
"$windlass" report stopped.wndl | grep -q '^Live .*, when the recording was stopped' ||
    fail "a stop is not told"

# By the program itself.
heap 0 -- "$heaps" keep 4 1013 dump first_one keep 4 1013 dump second
[ "$(snapshots 2)" -eq 2 ] || fail "$(snapshots 2) snapshots by the program"
grep -q "^snapshot 0 0 2 'first_one' 4 " dump || fail "the first one's name"
grep -q "^snapshot 0 1 2 'second' 8 " dump || fail "the second one's name"

heap 0 --snapshot-every 0.2 -- "$heaps" keep 5 1013 sleep 4000
at_least 3 "$(snapshots 3)" "snapshots by the clock"
heap 0 --at-peaks -- "$heaps" keep 50 20013 sleep 400 keep 50 20013 sleep 400 \
    pass 1 50 drop 100 keep 90 20013 sleep 300
at_least 2 "$(snapshots 4)" "snapshots at peaks"
expect 20013 "190 100 100 0" "after peaks"
at_least 3 "$(grep -c '^live' dump)" "moments"

# The recorder is killed: the program goes on, what was written is readable.
"$windlass" heap --snapshot-every 0.1 -o cut.wndl "$heaps" keep 50 1013 tell three \
    wait four keep 50 1013 tell five 2>said &
recorder=$!
while [ ! -f three ]; do sleep 0.05; done
# Snapshots come by the clock: one of them has all that there is.
has_written() {
    "$heapdump" cut.wndl >dump && [ "$(counts 1013)" = "50 0 50 0" ]
}
until_true "a snapshot is written" has_written
kill -KILL $recorder
wait $recorder 2>/dev/null || true
touch four
until_true "the program survives the recorder" test -f five
"$heapdump" cut.wndl >dump || fail "a cut recording is not readable"
expect 1013 "50 0 50 0" "recorder killed"
"$recdump" cut.wndl | grep -q '^done 0 ' || fail "it calls itself finished"

# A full disk.
if [ "$(id -u)" = 0 ] && mkdir disk &&
    mount -t tmpfs -o size=4k none disk 2>/dev/null; then
    status=0
    "$windlass" heap --snapshot-every 0.1 -o disk/full.wndl "$heaps" keep 50 1013 \
        sleep 300 steps 900 sleep 300 tell six >out 2>said || status=$?
    "$heapdump" disk/full.wndl >dump || status=unreadable
    umount disk
    [ "$status" = 0 ] || fail "full disk: exit status $status"
    grep -q "disk/full.wndl.*: No space left" said ||
        fail "full disk: $(cat said)"
    [ -f six ] || fail "the command did not go on"
fi

# Both at once.
record 0 --heap -r 5000 -- sh -c "$fixtures/burn 300 0; $heaps keep 9 1013" \
    >out
at_least 200 "$(samples_of 1)" "samples"
"$heapdump" r.wndl >dump
expect 1013 "9 0 9 0" "with samples"
grep -q 'samples kept' said || fail "no samples told: $(cat said)"
grep -q 'live in' said || fail "no heap told: $(cat said)"

# A recording of bounded size: the heap is in what is written on request.
"$windlass" record --heap --buffer 1M -o kept.wndl "$heaps" keep 7 1013 \
    tell seven wait eight 2>said &
recorder=$!
while [ ! -f seven ]; do sleep 0.05; done
[ "$("$windlass" ctl $recorder dump)" = "$work/kept.1.wndl" ] || fail "dump"
touch eight
wait $recorder
"$heapdump" kept.1.wndl >dump
expect 1013 "7 0 7 0" "a bounded recording"

# Options.
export WINDLASS_OPTIONS="mode=cumulative no-leaks"
heap 0 -- "$heaps" keep 1 1013
grep -q '^heap 0 1 0 0$' dump || fail "WINDLASS_OPTIONS: $(head -1 dump)"
unset WINDLASS_OPTIONS
wrong() {
    status=0
    "$windlass" "$@" -- true 2>said || status=$?
    [ "$status" -eq 2 ] || fail "$*: exit status $status"
}
wrong heap --sample-below 100
grep -q -e '--sample-below needs --stacks partial' said || fail "$(cat said)"
wrong heap --stacks partial --sample-below 4294967297
grep -q -e '--sample-below takes at most 4G' said || fail "$(cat said)"
wrong heap --snapshot-every 0.01
wrong heap --mode both
for option in --at-peaks --mode=live --stacks=full; do
    wrong record $option
    grep -q -e 'need --heap' said || fail "$option: $(cat said)"
done
for status in 127 126; do
    heap_status=0
    "$windlass" heap -- "$([ $status = 127 ] && echo ./no_such || echo "$work")" \
        2>said || heap_status=$?
    [ $heap_status -eq $status ] || fail "status $heap_status, not $status"
done
