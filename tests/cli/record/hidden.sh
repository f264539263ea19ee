#!/bin/sh
# Code that cannot be read runs on, and is sampled.
. "$(dirname "$0")/../lib/record_lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "not x86-64"
for engine in $(engines); do
    # (It stops no running thread.)
    [ "$engine" = outside ] && continue
    record 7 --engine "$engine" -- "$fixtures/hidden"
    at_least 20 "$(samples_of 1)" "samples by $engine"
done
