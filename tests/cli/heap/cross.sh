#!/bin/sh
# cross.sh: what a program of another processor, run by an emulator,
# counts of its own allocations is what is recorded (see cross_lib.sh for the
# arguments).
. "$(dirname "$0")/../lib/cross_lib.sh"

options=

# heap STATUS PROGRAM...
heap() {
    expected=$1
    shift
    rm -f r.wndl dump
    status=0
    "$windlass" heap -q -o r.wndl --mode cumulative $options -- \
        "$emulator" -L "$root" "$@" >out 2>said || status=$?
    [ "$status" -eq "$expected" ] || fail "exit status $status: $*: $(cat said)"
    "$heapdump" r.wndl >dump || fail "the recording cannot be read"
}

# Each size and each process, in threads and in a forked child.
made heapall
heap 0 ./heapall want
grep -v inherited want | LC_ALL=C sort >sorted
awk '$1 == "site" { k = $2 " " $9; a[k] += $3; f[k] += $4 }
    END { for (k in a) print k, a[k], f[k] }' dump | LC_ALL=C sort >have
LC_ALL=C comm -23 sorted have >missing
[ ! -s missing ] || fail "$(cat missing)"
for process in 0 1; do
    total=$(awk -v p=$process '$1 == "snapshot" && $2 == p { n = $6 }
        END { print n }' dump)
    sum=$(awk -v p=$process '$1 == p { n += $3 } END { print n }' have)
    [ "$total" -eq "$sum" ] || fail "$total allocations, of which $sum in sites"
done
inherited=$(awk '$1 == "snapshot" && $2 == 1 { sub(/ \/.*/, ""); n = $NF }
    END { print n }' dump)
[ "$(sed -n 's/^1 inherited //p' want)" -eq "$inherited" ] ||
    fail "$inherited inherited blocks were freed"

# Their stacks, by name, and no other ends than the start of each.
"$windlass" report r.wndl --no-pager >report
share=100.0
[ "$arch" = arm ] && share='\(100.0\|99.[0-9]\)'
grep -q "Stacks *$share% of allocations complete" report ||
    fail "stacks: $(head -20 report)"
grep -q 'allocate .*heapall.c:[0-9]' report || fail "no lines in the report"

# The same by an unwind table alone.
made heapall -Wl,--build-id
table_of heapall
without_cfi heapall
heap 0 ./heapall want
"$windlass" report r.wndl --no-pager >report
grep -q "Stacks *$share% of allocations complete" report ||
    fail "stacks by table: $(head -20 report)"

# by_rules_alone WHAT: as the last, where nothing but rules leads to main.
by_rules_alone() {
    options="$options --unwind cfi"
    heap 0 ./heapall want
    stacks_of heapall --blocks all
    grep -q ';main;' stacks || fail "$1: no main by it alone: $(cat stacks)"
    options=
}

# And by one in Chromium's format, which says of _start that it returns to lr.
# By either way to it the stacks are those of EXIDX.
if [ "$arch" = arm ]; then
    mkdir whole
    made heapall -Wl,--build-id
    cp heapall whole
    rm "tables/$id.wut"
    chrome_table_of heapall "tables/$id.cuw2"
    unset WINDLASS_UNWIND_TABLES
    heap 0 ./heapall want
    stacks_of heapall --blocks all
    mv stacks expected
    grep -q ';main;' expected || fail "few stacks: $(cat folded.txt)"
    without_cfi heapall
    # (What its code does would lead there, too.)
    options="--unwind cfi"
    heap 0 ./heapall want
    stacks_of heapall --blocks all
    grep -q ';main;' stacks && fail "main was found without a table"
    options=
    WINDLASS_UNWIND_TABLES=$work/tables
    export WINDLASS_UNWIND_TABLES
    heap 0 ./heapall want
    "$windlass" report r.wndl --no-pager >report
    grep -q "Stacks *$share% of allocations complete" report ||
        fail "stacks by Chromium's table: $(head -20 report)"
    stacks_of heapall --blocks all
    cmp -s expected stacks || fail "by build-id: $(cat expected stacks)"
    by_rules_alone "by build-id"
    unset WINDLASS_UNWIND_TABLES

    made heapall -Wl,--build-id=none
    cp heapall whole
    chrome_table_of heapall heapall.cuw2
    "$windlass" unwind-table build heapall -o heapall.wut 2>/dev/null
    without_cfi heapall
    for table in heapall.cuw2 heapall.wut; do
        options="--unwind-table heapall=$table"
        heap 0 ./heapall want
        stacks_of heapall --blocks all
        cmp -s expected stacks || fail "by $options: $(cat expected stacks)"
        by_rules_alone "by $options"
    done
    options=
fi
unset WINDLASS_UNWIND_TABLES

# What nothing points to at the end.
made leaks
heap 0 ./leaks
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

# Frees that should not have been, and buffers that grow.
made wrongs -I "$sources/../../../include"
heap 134 ./wrongs twice
[ "$(awk '$1 == "wrong" { print $3, $4 }' dump)" = "2 1" ] ||
    fail "twice: $(grep '^wrong' dump)"
heap 0 ./wrongs copies
[ "$(awk '$1 == "growth" { print $3, $4, $5, $6, $7, $8, $9, $10 }' dump)" = \
    "1 1 99 161600 3200 8160 32 32" ] || fail "copies: $(grep '^growth' dump)"
