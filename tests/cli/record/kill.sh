#!/bin/sh
# Nothing that was sampled is lost, whoever is killed.
. "$(dirname "$0")/../lib/record_lib.sh"

# The program is killed without warning.
record 137 -- sh -c 'burn=$1; $burn 5000 0 & sleep 0.5; kill -9 $!; kill -9 $$' \
    sh "$fixtures/burn"
at_least 20 "$(samples_of 1)" "samples"

# Interrupted from elsewhere: the program gets it, the recording is finished.
status=0
timeout --preserve-status -s INT 0.5 "$windlass" record -o int.wndl \
    "$fixtures/burn" 20000 0 >out 2>said || status=$?
[ "$status" -eq 130 ] || fail "interrupted: status $status"
"$recdump" int.wndl >dump
grep -q '^done 1 258 ' dump || fail "interrupted: not finished"
at_least 20 "$(samples_of 1)" "samples"

"$windlass" record -o term.wndl "$fixtures/burn" 20000 0 >out 2>said &
recorder=$!
sleep 0.5
kill -TERM $recorder
status=0
wait $recorder || status=$?
[ "$status" -eq 143 ] || fail "terminated: status $status"
"$recdump" term.wndl >dump
grep -q '^done 1 271 ' dump || fail "terminated: not finished"
at_least 20 "$(samples_of 1)" "samples"

# The recorder is killed: the program goes on, the recording is readable.
"$windlass" record -o cut.wndl sh -c "$fixtures/burn 900 0 && echo >went_on" \
    >out 2>said &
recorder=$!
sleep 0.5
kill -KILL $recorder
wait $recorder || true
for i in $(seq 30); do
    [ ! -f went_on ] || break
    sleep 0.3
done
[ -f went_on ] || fail "the program did not survive the recorder"
"$recdump" cut.wndl >dump
grep -q '^done 0 ' dump || fail "a cut recording calls itself finished"
at_least 30 "$(samples_of 1)" "samples"
