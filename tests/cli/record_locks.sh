#!/bin/sh
# A program that locks its memory gets what it would get alone, and the room
# that a recording has does not become memory.
. "$(dirname "$0")/record_lib.sh"
current=1 future=2 onfault=4
"$fixtures/locks" $((current | future)) >alone || [ $? -eq 5 ] || fail "alone"
grep -q '^mlockall 0' alone || exit 77

# Each way of locking, and one that there is none of.
for flags in 0 $current $future $((current | future)) \
    $((current | onfault)) $((current | future | onfault)) 64; do
    "$fixtures/locks" $flags >alone || true
    for heap in "" --heap; do
        record 5 $heap -- "$fixtures/locks" $flags >out
        cmp -s alone out || fail "$flags $heap: $(cat out); alone: $(cat alone)"
        at_least 50 "$(samples_of 1)" "samples"
    done
done
