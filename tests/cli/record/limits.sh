#!/bin/sh
# Where something is short the program runs, and what was lost is said.
. "$(dirname "$0")/../lib/record_lib.sh"
burn=$fixtures/burn

# Descriptors, memory, the size of files.
many="for i in 1 2 3 4 5 6 7 8 9 10 11 12; do $burn 200 0 & done; wait; exit 4"
(ulimit -n 20 && record 4 -- sh -c "$many" >out)
grep -q 'no descriptor was free' said || fail "descriptors: $(cat said)"
[ "$(grep -c '^out' out)" -eq 12 ] || fail "not all ran: $(cat out)"
# A recorder that is checked for addresses needs more of them than that.
if (ulimit -v 400000 && "$windlass" --version >out 2>&1); then
    (ulimit -v 400000 && record 4 -- sh -c "$many" >out)
    grep -q 'no memory for it' said || fail "memory: $(cat said)"
    [ "$(grep -c '^out' out)" -eq 12 ] || fail "not all ran: $(cat out)"
fi
(ulimit -f 20000 && record 3 -- "$burn" 50 3 >out)
grep -q 'no memory for it' said || fail "file size: $(cat said)"
(ulimit -S -f 20000 && record 3 -- "$burn" 200 3 >out)
grep -q '100.00 % of the stacks' said || fail "soft limit: $(cat said)"

# Nobody reads what we say.
"$windlass" record -o pipe.wndl sh -c "$burn 300 3 2>/dev/null" 2>&1 >out | true
"$recdump" pipe.wndl >dump
grep -q '^done 1 3 ' dump || fail "a closed pipe ends the recording"

# A full disk.
if [ "$(id -u)" = 0 ] && mkdir disk &&
    mount -t tmpfs -o size=48k none disk 2>/dev/null; then
    status=0
    "$windlass" record -r 20000 -o disk/full.wndl "$burn" 3000 3 >out 2>said ||
        status=$?
    "$recdump" disk/full.wndl >dump || status=unreadable
    umount disk
    [ "$status" = 3 ] || fail "full disk: exit status $status"
    grep -q "cannot write .*disk/full.wndl: No space left" said ||
        fail "full disk: $(cat said)"
    grep -q '^done 0 ' dump || fail "a full disk, and all is well"
    told=$(sed -n 's/^windlass: \([0-9]*\) samples kept.*/\1/p' said)
    written=$(($(samples_of 1) - $(sed -n 's/^parts //p' dump)))
    [ "$written" -eq "$told" ] || fail "$told samples told, $written written"
    at_least 1000 "$told" "samples before the disk was full"
    grep -q '^out 3000' out || fail "the command did not go on"

    # It is said at once, and the recording goes on when there is room again.
    mount -t tmpfs -o size=4M none disk
    "$windlass" record -q -r 5000 -o disk/again.wndl "$burn" 6000 3 \
        >out 2>said &
    recorder=$!
    until "$windlass" ctl $recorder status >status.out 2>&1; do sleep 0.1; done
    wait_for_cpu 500 "$(child_of $recorder)"
    dd if=/dev/zero of=disk/fill bs=64k count=100 2>/dev/null || true
    until_true "it is said at once" grep -q 'No space left' said
    grep -q 'cannot write disk/again.wndl: No space left' said ||
        fail "a full disk is not said at once: $(cat said)"
    "$windlass" ctl $recorder status >status.out || fail "no status"
    grep -q 'cannot be written: No space left' status.out ||
        fail "status: $(cat status.out)"
    "$windlass" ctl $recorder dump >status.out 2>&1 &&
        fail "a dump to a full disk: $(cat status.out)"
    sleep 0.5
    rm disk/fill
    status=0
    wait $recorder || status=$?
    "$recdump" disk/again.wndl >dump || status=unreadable
    "$windlass" report disk/again.wndl >report.out || status=unreadable
    umount disk
    [ "$status" = 3 ] || fail "full for a while: exit status $status"
    grep -q 'again.wndl can be written again; [1-9]' said ||
        fail "full for a while: $(cat said)"
    grep -q '^done 1 ' dump || fail "full for a while: no end"
    grep -q '^Not written 1 time, for .* samples: the disk was full' \
        report.out || fail "full for a while: $(head -20 report.out)"
fi

# What ends too early for a sample is in the report as in the summary.
record 0 -- sh -c 'i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i + 1)); done'
"$windlass" report r.wndl >report.out
grep -q "[1-9].* more is in none of the samples" report.out ||
    fail "short children: $(head -12 report.out)"

# A recorder that was killed leaves a folder, which the next one takes away.
"$windlass" record -o killed.wndl sleep 5 2>/dev/null &
recorder=$!
while [ ! -S "$(echo windlass-*/socket)" ]; do sleep 0.05; done
left=$(echo windlass-*)
kill -KILL $recorder
wait $recorder 2>/dev/null || true
[ -d "$left" ] || fail "nothing was left, nothing is tested"
"$windlass" record -q -o next.wndl true
[ ! -e "$left" ] || fail "$left was not taken away"

# What others have put there is none of it: a link to a folder of ours.
mkdir ours
touch ours/lock ours/new
ln -s ours windlass-linked
"$windlass" record -q -o link.wndl true
[ -e ours/lock ] && [ -e ours/new ] || fail "files behind a link were removed"
rm windlass-linked
"$windlass" record -q -o own.wndl sh -c 'ls -d windlass-*' >list || fail "no folder"
[ "$(wc -l <list)" -eq 1 ] || fail "folders: $(cat list)"
! ls -d windlass-* >/dev/null 2>&1 || fail "a folder was left: $(ls)"

"$windlass" record -o 'a%xb' true 2>said && fail "%x was taken"
grep -q -- "--output knows only %n, %p, %h and %%: 'a%xb'" said ||
    fail "$(cat said)"
