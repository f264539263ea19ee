#!/bin/sh
# A program that locks its memory gets what it would get alone, and the room
# that a recording has does not become memory.
. "$(dirname "$0")/../lib/record_lib.sh"
current=1 future=2 onfault=4
"$fixtures/locks" $((current | future)) >alone || [ $? -eq 5 ] || fail "alone"
grep -q '^mlockall 0' alone || skip "memory may not be locked"

# as_alone FLAGS [WAY]: with the heap and without.
as_alone() {
    "$fixtures/locks" "$@" >alone || true
    for heap in "" --heap; do
        record 5 $heap -- "$fixtures/locks" "$@" >out
        cmp -s alone out || fail "$* $heap: $(cat out); alone: $(cat alone)"
        at_least 50 "$(samples_of 1)" "samples"
    done
}

# Each way of locking, and one that there is none of.
for flags in 0 $current $future $((current | future)) \
    $((current | onfault)) $((current | future | onfault)) 64; do
    as_alone $flags
done
as_alone $current orphan
as_alone $((current | future)) orphan

# Where it cannot be seen what there is to lock, or a sandbox does not let us,
# the room is filled.
filled() {
    "$@" >alone || true
    grep -v '^locked' alone >wanted
    record 5 -- "$@" >out
    grep -v '^locked' out | cmp -s wanted - ||
        fail "$*: $(cat out); alone: $(cat alone)"
}
for flags in $current $((current | future)); do
    filled "$fixtures/locks" $flags closed
    filled "$fixtures/filtered" mlock "$fixtures/locks" $flags
    filled "$fixtures/filtered" no-mlock "$fixtures/locks" $flags
done
