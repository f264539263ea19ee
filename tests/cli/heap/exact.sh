#!/bin/sh
# exact.sh WINDLASS RECDUMP FIXTURES HEAPDUMP: what a program counts
# of its own allocations is what is recorded, in each mode; and so is what it
# planted.
. "$(dirname "$0")/../lib/record_lib.sh"
heapdump=$(realpath "$4")

heap() {
    rm -f r.wndl dump
    "$windlass" heap -o r.wndl "$@" >out 2>said ||
        fail "exit status $?: $*: $(cat said)"
    "$heapdump" r.wndl >dump || fail "the recording cannot be read"
}
# by_size: "PROCESS SIZE ALLOCS FREES" of what is recorded, in order.
by_size() {
    awk '$1 == "site" { k = $2 " " $9; a[k] += $3; f[k] += $4 }
        END { for (k in a) print k, a[k], f[k] }' dump | LC_ALL=C sort
}
# A number of the last snapshot's totals of process $1: 6 allocs, 7 frees.
total() {
    awk -v p="$1" -v field="$2" '$1 == "snapshot" && $2 == p { n = $field }
        END { print n }' dump
}
inherited() {
    awk '$1 == "snapshot" && $2 == 1 { sub(/ \/.*/, ""); n = $NF }
        END { print n }' dump
}

# Each size and each process, and the totals of them all.
for mode in live cumulative; do
    heap --mode $mode -- "$fixtures/heapall" want
    grep -v inherited want | LC_ALL=C sort >sorted
    by_size >have
    LC_ALL=C comm -23 sorted have >missing
    [ ! -s missing ] || fail "$mode: $(cat missing)"
    for process in 0 1; do
        sum=$(awk -v p=$process '$1 == p { n += $3 } END { print n }' have)
        [ "$(total $process 6)" -eq "$sum" ] ||
            fail "$mode: $(total $process 6) allocations, of which $sum in sites"
    done
    [ "$(sed -n 's/^1 inherited //p' want)" -eq "$(inherited)" ] ||
        fail "$mode: $(inherited) inherited blocks were freed"
done
all=$(total 0 6)

# Sampled: large ones are exact, and so are the totals; of the others about
# as many are taken as there should be: the standard deviation is below 4 %.
heap --stacks partial --sample-below 4096 -- "$fixtures/heapall" want
grep -v inherited want | awk '$2 > 4096' | LC_ALL=C sort >sorted
by_size >have
LC_ALL=C comm -23 sorted have >missing
[ ! -s missing ] || fail "sampled: $(cat missing)"
[ "$(total 0 6)" -eq "$all" ] || fail "sampled: $(total 0 6) of $all allocations"
sed '/inherited/d; s/^/want /' want | cat - have | awk '
    $1 == "want" && $2 == 0 && $3 < 4096 { want += $3 * $4 }
    $1 == 0 && $2 < 4096 && !/want/ { have += 4096 * $3 }
    END { exit !(have > 0.8 * want && have < 1.2 * want) }' ||
    fail "sampled: not as many as there should be"

# Nor are a child's totals of a sample less by what it frees of its parent's,
# of which few were taken.
cp "$sources/../heap/heirs.c" .
cc -O0 -o heirs heirs.c
for options in "" "--stacks partial --sample-below 1M"; do
    heap $options -- ./heirs
    [ "$(total 1 6) $(total 1 7) $(inherited)" = "3001 1001 5000" ] ||
        fail "heirs $options: $(grep '^snapshot 1' dump)"
    [ "$(total 1 13)" -ge 6000000 ] || fail "heirs $options: $(total 1 13)"
done

# What blocks can hold is what the allocator says of each of them, whether it
# is asked for it or not: small ones, mappings of their own, aligned ones.
cp "$sources/../heap/usable.c" .
cc -O0 -o usable usable.c
for options in "" "--stacks partial" "--mode cumulative --stacks partial"; do
    heap -q $options -- ./usable
    have=$(awk '$1 == "snapshot" { n = $6 " " $7 " " $8 " " $9 " " $10 }
        END { print n }' dump)
    [ "$have" = "$(cat said)" ] ||
        fail "usable $options: recorded $have, counted $(cat said)"
done

# What nothing points to at the end, by the words of Valgrind.
heap -- "$fixtures/leaks"
awk '$1 == "leak" { print $6, $3, $4, $5 }' dump | sort -n >have
cat >want <<END
48 1 0 0
56 0 1 0
64 0 1 0
200 1 0 0
201 0 1 0
400 0 0 1
401 0 0 1
600 1 0 0
2000000 1 0 0
END
cmp -s want have || fail "leaks: $(cat have)"

# Memory that is there and cannot be read.
for how in alone threads; do
    heap -- "$fixtures/unreadable" $how
    lost=$(awk '$1 == "leak" && $6 >= 300 { print $6, $3, $4, $5 }' dump)
    [ "$lost" = "700 1 0 0" ] || fail "unreadable $how: $lost"
done
# What the first thread has left on its stack may lead there still.
heap -- "$fixtures/unreadable" last
"$windlass" report r.wndl >report
grep -q '^No definite leaks\|^Leaks, definite: 712 bytes in 1 block' report ||
    fail "the first thread has ended: $(grep -i leak report)"

# Frees that should not have been: the libc then ends the program.
wrong() {
    rm -f r.wndl
    "$windlass" heap -q -o r.wndl -- "$fixtures/wrongs" "$1" >out 2>said || true
    "$heapdump" r.wndl >dump || fail "the recording cannot be read"
    [ "$(awk '$1 == "wrong" { print $3, $4 }' dump)" = "$2 1" ] ||
        fail "$1: $(grep '^wrong' dump)"
}
wrong foreign 1
wrong twice 2
wrong pool 3
grep -q '^wrong .* taken 2 1 ' dump || fail "who took it: $(cat dump)"
wrong malloc 3
grep -q '^wrong .* taken 1 2 ' dump || fail "who took it: $(cat dump)"

# How, chains, steps, bytes of all, of the last, by doubling, steps' sizes.
grows() {
    heap -- "$fixtures/wrongs" "$1"
    [ "$(awk '$1 == "growth" { print $3, $4, $5, $6, $7, $8, $9, $10 }' dump)" \
        = "$2" ] || fail "$1: $(grep '^growth' dump)"
}
grows steps "0 1 99 161600 3200 8160 32 32"
grows copies "1 1 99 161600 3200 8160 32 32"
grows doubles "1 1 7 8160 4096 8160 32 2048"

# Blocks that the program tells of, and a snapshot that it asks for.
status=0
"$fixtures/tells" || status=$?
[ $status -eq 0 ] || fail "unrecorded, a heap is active: $status"
rm -f r.wndl
"$windlass" heap -q -o r.wndl -- "$fixtures/tells" >out 2>said || status=$?
[ $status -eq 2 ] || fail "told: exit status $status: $(cat said)"
"$heapdump" r.wndl >dump || fail "the recording cannot be read"
by_size >have
grep -qx "0 60 100 40" have && grep -qx "0 6400 1 1" have ||
    fail "told: $(cat have)"
grep -q "^snapshot 0 [0-9]* 2 'half way' " dump || fail "no snapshot"

# Again and again, where the allocator lets that pass: each time for what it is.
cp "$sources/../heap/lets.c" .
cc -O1 -fPIC -shared -fno-builtin -o liblets.so lets.c
cp "$sources/../heap/again.c" .
cc -g -O0 -fno-builtin -o again again.c
heap -- env LD_PRELOAD="$PWD/liblets.so" ./again
[ "$(awk '$1 == "wrong" { print $3, $4 }' dump | sort | tr '\n' ' ')" = \
    "1 20 2 20 " ] || fail "again and again: $(grep '^wrong' dump)"

# Blocks that come in couples, one of which got more room than the others of its
# kind; and what is gone before its like is born.
cp "$sources/../heap/couples.c" .
cc -g -O0 -fno-builtin -o couples couples.c
heap --mode cumulative -- ./couples
grep -qx 1 out || echo "all blocks of a kind have the same room here"
"$windlass" report r.wndl | sed -n '/^Born and freed together/,/^$/p' >have
grep -q '^Born and freed together: 7,200 bytes in 100 blocks$' have &&
    [ "$(sed -n 's/^    #01: \([a-z]*\).*/\1/p' have | tr '\n' ' ')" = \
        "second first " ] || fail "couples: $(cat have)"
