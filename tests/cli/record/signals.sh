#!/bin/sh
# The signal we use is the program's own as far as it can tell.
. "$(dirname "$0")/../lib/record_lib.sh"
status=0
"$fixtures/signals" || status=$?
[ "$status" -eq 133 ] || fail "not even alone: $status"
record 133 -- "$fixtures/signals"
at_least 200 "$(samples_of 1)" "samples"
if have node; then
    record 5 -- node -e 'for (let i = 0, s = 0; i < 3e8; i++) s += i;
        process.exit(5)'
    at_least 20 "$(samples_of 1)" "samples of node"
fi

# A wait that the program's own signal interrupts ends, whatever that masks.
for engine in $(engines); do
    record 7 --engine "$engine" -- "$fixtures/alarms" >out ||
        fail "$engine: $(cat out) alarms did not end the wait"
done
