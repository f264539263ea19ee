#!/bin/sh
# heap_golden.sh WINDLASS MAKE_RECORDING [--bless]: what report, diff and
# export say of the heaps of heap_golden/*.recipe, against heap_golden/*.expected.
cases=heap_golden
. "$(dirname "$0")/../lib/golden_lib.sh"

# The same from the records on.
try_records() {
    try "$@" | awk 'NR == 1 { print } /^(#-|windlass: |\[exit)/ { on = 1 } on'
}

try_all() {
    try report "$1"
    try_records report --blocks live -s num-blocks -f 1 "$1"
    try_records report --blocks peak -s slop -n 2 "$1"
    try_records report --blocks all -s req -a --filter 0x20 "$1"
    try_records report --filter '!lib.so' --process 100 "$1"
    try_records report --process 7 --snapshot 1 "$1"
    try report --snapshot 9 "$1"
    try report --json -n 2 "$1"
    try export "$1"
    try export --blocks live --value blocks "$1"
    try export --value temporary "$1"
    try report --tree "$1"
    try report --by module "$1"
    try report --by address --json -n 2 --blocks all "$1"
    try report --function app+0x10 --blocks peak "$1"
    try report --callers app+0x10 "$1"
    try report --invert --ignore nothing "$1"
    try report --filter '!lib.so' --by file "$1"
    try export --function app+0x10 "$1"
    # What does not fit.
    try report --thread main "$1"
    try report --by function -s slop "$1"
    try report --from 1 --function app+0x10 "$1"
    try report --focus nowhere "$1"
    try export --callers app+0x10 "$1"
}

# Of a recording with samples too, those come first.
try_mixed() {
    try report "$1"
    try report --heap "$1"
    try export "$1"
    try export --value blocks "$1"
}

check_recipes try_all
# The answer begins within the first 25 lines.
for file in two_processes.wndl sampled.wndl; do
    "$windlass" report $file | head -n 25 | grep -q '^Held at the peak' || {
        echo "heap_golden: $file: the answer is not at the start"
        failed=1
    }
done
"$make_recording" mixed.wndl <"$cases/mixed"
try_mixed mixed.wndl >mixed.got
check mixed
{
    try diff sampled.wndl two_processes.wndl
    try diff --blocks live -f 2 two_processes.wndl sampled.wndl
    try diff --json two_processes.wndl sampled.wndl
    try diff --json -n 1 two_processes.wndl sampled.wndl
    try export --time wall sampled.wndl
    try diff --blocks all two_processes.wndl two_processes.wndl
    try diff --snapshot 1 --later-snapshot 2 --by fn two_processes.wndl two_processes.wndl
    try diff --process 100 two_processes.wndl two_processes.wndl
    sed 's/^counts 0 0 100 80/counts 0 0 100 70/; s/^site 0 0 24 0/site 0 0 20 4/
        /^snapshot 0 0/s/640 600/640 590/' "$cases/two_processes.recipe" |
        "$make_recording" changed.wndl
    try diff --blocks live --process 100 two_processes.wndl changed.wndl
    try diff two_processes.wndl changed.wndl
    try diff nothing.wndl two_processes.wndl --snapshot 1
    echo not a recording >broken.wndl
    try diff broken.wndl two_processes.wndl
    try report --heap broken.wndl
} >diff.got
check diff
exit $failed
