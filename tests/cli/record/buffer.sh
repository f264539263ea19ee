#!/bin/sh
# With --buffer the last samples are kept, whoever ends how.
. "$(dirname "$0")/../lib/record_lib.sh"
burn=$fixtures/burn

last_time() {
    awk '$1 == "times" { t = ($4 + $9) / 1e9; if (t > most) most = t }
        END { print most + 0 }' dump
}

record 137 -r 20000 --buffer 256K -- sh -c "$burn 4500 0; kill -9 \$\$"
[ "$(wc -c <r.wndl)" -lt 400000 ] || fail "$(wc -c <r.wndl) bytes"
at_least 10000 "$(samples_of 1)" "samples"
grep -q 'samples made room' said || fail "nothing was discarded: $(cat said)"
awk '$1 == "more" && $2 > 1000 { ok = 1 } END { exit !ok }' dump ||
    fail "the recording does not say what was discarded"
complete_above 99.9
"$windlass" report r.wndl >report || fail "no report"
grep -q '[89][0-9]\.[0-9]%.* burn ' report || fail "$(cat report)"

# What is there so far, twice; and the names are taken in turn.
"$windlass" record -q --buffer 1M -o kept.wndl "$burn" 3000 0 >out &
recorder=$!
wait_for_cpu 300 "$(child_of $recorder)"
one=$("$windlass" ctl "$recorder" dump) || fail "no dump"
two=$("$windlass" ctl "$recorder" dump) || fail "no second dump"
[ "$one $two" = "$work/kept.1.wndl $work/kept.2.wndl" ] || fail "$one $two"
"$recdump" "$one" >dump
at_least 50 "$(samples_of 1)" "samples in a dump"
grep -q '^done 1 512 ' dump || fail "a dump is not finished"
wait $recorder
"$recdump" kept.wndl >dump
at_least 1000 "$(samples_of 1)" "samples at the end"

"$windlass" record --buffer 10 true 2>said && fail "10 bytes will do"
grep -q "at least 256K" said || fail "$(cat said)"
"$windlass" record --buffer 10X true 2>said && fail "10X is a size"
grep -q "such as 64M, not '10X'" said || fail "$(cat said)"
