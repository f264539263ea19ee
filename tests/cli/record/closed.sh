#!/bin/sh
# The program finds no descriptor of ours, and may close all it likes.
. "$(dirname "$0")/../lib/record_lib.sh"
status=0
"$fixtures/closes" || status=$?
record "$status" -- "$fixtures/closes"
sampled 320 "before and after closing"

# Standard streams that are closed stay so, and nothing else gets their place.
cat >streams.sh <<'S'
for fd in 0 1 2; do
    [ ! -e /proc/self/fd/$fd ] || exit 1
done
exit 9
S
status=0
"$windlass" record -o none.wndl sh streams.sh <&- >&- 2>&- || status=$?
[ "$status" -eq 9 ] || fail "closed streams: exit status $status"
"$recdump" none.wndl >dump
grep -q '^done 1 9 ' dump || fail "closed streams: no whole recording"
