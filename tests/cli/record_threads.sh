#!/bin/sh
# All threads are sampled, also those that block all signals, by their names.
. "$(dirname "$0")/record_lib.sh"
record 0 -- "$fixtures/threads"
for name in alpha beta; do
    at_least 40 "$(samples_of "\$7 == \"$name\"")" "samples of $name"
done
# Those that live 2 ms come after one another; more than there are slots.
at_least 20 "$(grep -c '^thread' dump)" "threads"
complete_above 98
