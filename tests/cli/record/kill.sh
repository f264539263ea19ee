#!/bin/sh
# Nothing that was sampled is lost, whoever is killed.
. "$(dirname "$0")/../lib/record_lib.sh"

# The program is killed without warning.
# (Once it has used 400 ms.)
cat >kills.sh <<'S'
"$1" 60000 0 &
while [ "$(awk '{ print int($1 / 1e6) }' /proc/$!/schedstat)" -lt 400 ]; do
    sleep 0.05
done
kill -9 $!
kill -9 $$
S
record 137 -- sh kills.sh "$fixtures/burn"
sampled 250 "of what was killed" '$NF == "burn"'

# Interrupted from elsewhere: the program gets it, the recording is finished.
# timeout sends what it gets itself, once the program has used 400 ms.
env --default-signal=INT timeout -s INT 600 "$windlass" record -o int.wndl \
    "$fixtures/burn" 60000 0 >out 2>said &
interrupted=$!
recorder=$(child_of $interrupted)
wait_for_cpu 400 "$(child_of "$recorder")"
kill -INT $interrupted
status=0
wait $interrupted || status=$?
[ "$status" -eq 130 ] || fail "interrupted: status $status"
"$recdump" int.wndl >dump
grep -q '^done 1 258 ' dump || fail "interrupted: not finished"
sampled 250 "interrupted"

"$windlass" record -o term.wndl "$fixtures/burn" 60000 0 >out 2>said &
recorder=$!
wait_for_cpu 400 "$(child_of $recorder)"
kill -TERM $recorder
status=0
wait $recorder || status=$?
[ "$status" -eq 143 ] || fail "terminated: status $status"
"$recdump" term.wndl >dump
grep -q '^done 1 271 ' dump || fail "terminated: not finished"
sampled 250 "terminated"

# The recorder is killed: the program goes on, the recording is readable.
"$windlass" record -o cut.wndl sh -c "$fixtures/burn 3000 0 && echo >went_on" \
    >out 2>said &
recorder=$!
# The recorder has written what there is to tell of.
has_written() {
    "$recdump" cut.wndl >dump && [ "$(samples_of 1)" -ge 30 ]
}
until_true "samples are written" has_written
kill -KILL $recorder
wait $recorder || true
until_true "the program survives the recorder" test -f went_on
"$recdump" cut.wndl >dump
grep -q '^done 0 ' dump || fail "a cut recording calls itself finished"
at_least 30 "$(samples_of 1)" "samples"
