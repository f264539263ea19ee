#!/bin/sh
# heap_vs_python.sh WINDLASS MAKE_RECORDING: what report says of heaps, against
# the same worked out from the descriptions of the format and of the report,
# on a recording with many stacks and sizes in three processes.
set -eu
. "$(dirname "$0")/../lib/have.sh"
windlass=$(realpath "$1")
make_recording=$(realpath "$2")
reader=$(dirname "$(realpath "$0")")/heap_vs_python.py
need python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

# A fixed stream of numbers makes all of it; not random, but unplanned.
awk '
function next_number(below) {
    x = (x * 69069 + 12345) % 4294967296
    return int(x / 65536) % below
}
function stack(    line, depth, d) {
    depth = next_number(8)
    for (d = 0; d < depth; d++)
        line = sprintf("%s %s:%x", line,
            next_number(9) == 0 ? "-" : next_number(2),
            next_number(4) * 4096 + 1)
    return line
}
BEGIN {
    x = 1
    print "meta 0 0 0 box / app"
    for (p = 0; p < 3; p++)
        print "process 0 " 10 + p " /gone/app app"
    print "image /gone/app 0102\nimage /gone/lib.so -"
    print "heap 0 3 0\nheap 1 3 512\nheap 2 3 4096"
    for (p = 0; p < 3; p++) {
        for (i = 0; i < 250; i++)
            print "site", p, next_number(8), next_number(300) ^ 2,
                next_number(64) stack()
        for (s = 0; s < 2; s++) {
            print "wait 1000\nsnapshot", p, 0, "- 100000 5 5 5 5"
            for (i = s; i < 250; i += 1 + next_number(2)) {
                allocs = 1 + next_number(500)
                frees = next_number(allocs + 1)
                print "counts", p, i, allocs, frees, next_number(90),
                    next_number(frees + 1), frees * next_number(9999)
            }
        }
        for (i = 0; i < 250; i += 3)
            print "leaks", p, i, next_number(3), next_number(3),
                next_number(3)
        for (i = 0; i < 40; i++) {
            final = 1 + next_number(5000)
            print "growth", p, next_number(2), 1 + next_number(3),
                next_number(40), final * next_number(9), final, 2 * final,
                next_number(5), 5 + next_number(50) stack()
            print "wrong", p, 1 + next_number(3), 1 + next_number(9),
                "7f00" stack()
            print "mixed", p, 1 + next_number(4), 1 + next_number(4),
                1 + next_number(9), "7f10" stack() " /" stack()
        }
    }
    print "done 0 0"
}' | "$make_recording" many.wndl

check() {
    which=$1
    frames=$2
    least=$3
    shift 3
    "$windlass" report --json --blocks "$which" -f "$frames" \
        ${1+--filter "$1"} many.wndl >report.json
    counts=$(python3 "$reader" many.wndl "$which" "$frames" ${1+"$1"} \
        <report.json)
    echo "$which $frames ${1-}: $counts records, buffers, wrong frees"
    [ "${counts%% *}" -ge "$least" ] || {
        echo "heap_vs_python: too few records to mean anything"
        exit 1
    }
}

for which in live peak all; do
    check $which 1 10
    check $which 3 200
    check $which 24 300
    check $which 2 20 'lib.so + 0x1000'
    check $which 2 20 '!no file'
done
