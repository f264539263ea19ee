#!/bin/sh
# dmd.sh WINDLASS MAKE_RECORDING: a recorded heap that is written as a
# DMD file reads as the same heap.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
make_recording=$(realpath "$2")
cases=$(cd "$(dirname "$0")/../report/heap_golden" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0

fail() {
    echo "dmd_export: $*"
    failed=1
}

# A report's records and summary, but for what DMD files have no place for.
records() {
    awk '/^#-/ { n++ } n >= first' first="$1" | grep -v '^  Freed: ' |
        sed '/^Next: /d; /^$/d'
}

for name in two_processes cut_short; do
    "$make_recording" $name.wndl <"$cases/$name.recipe"
    for blocks in live all peak; do
        for out in $name.json $name.json.gz; do
            "$windlass" export -f dmd --blocks $blocks -o $out $name.wndl \
                2>err || fail "export --blocks $blocks of $name: $(cat err)"
            "$windlass" report --blocks $blocks $name.wndl | records 1 >want
            # Its head begins with a line of dashes too.
            "$windlass" report --no-fix-stacks $out | records 2 >got
            [ -s want ] || fail "$name: no report"
            diff want got || fail "$name: another heap with --blocks $blocks"
        done
    done
done

# By gzip if the name says so; to standard output it is plain.
gzip -dc two_processes.json.gz | cmp - two_processes.json || fail "gzip"
"$windlass" export -f dmd --blocks peak two_processes.wndl |
    cmp - two_processes.json || fail "standard output"
if have python3; then
    python3 -m json.tool two_processes.json >/dev/null || fail "no JSON"
fi

# Of a sample the estimates: never more than half a block off for each size.
"$make_recording" sampled.wndl <"$cases/sampled.recipe"
"$windlass" export -f dmd --blocks live -o sampled.json sampled.wndl 2>err
total() {
    sed -n 's/,//g; s/~//g; s/^  Total: \([0-9]*\) bytes in \([0-9]*\) .*/\2/p'
}
want=$("$windlass" report --blocks live sampled.wndl | total)
got=$("$windlass" report sampled.json | total)
sizes=$(grep -c '"req"' sampled.json)
awk -v a="$want" -v b="$got" -v n="$sizes" 'BEGIN {
    off = a > b ? a - b : b - a
    exit !(a > 0 && off <= n / 2 + 1) }' ||
    fail "$got blocks of a sample, not $want"

# What has no heap cannot be written so.
printf 'meta 1 1 1 h / a\nprocess 0 1 /bin/a a\nthread 0 1 a\n%s\n' \
    'sample 0 9 0 -:99!' | "$make_recording" cpu.wndl
status=0
"$windlass" export -f dmd -o none.json cpu.wndl >out 2>err || status=$?
{ [ $status -eq 1 ] && grep -q 'error: ' err && [ ! -e none.json ]; } ||
    fail "no heap: status $status, $(cat err)"

exit $failed
