#!/bin/sh
# Children and threads by the hundred, all of a moment: none is broken, each
# child is in the recording, with each engine.
. "$(dirname "$0")/../lib/record_lib.sh"
for engine in $(engines); do
    record 0 --engine "$engine" -- "$fixtures/storm" 1500 >out
    children=$(cut -d' ' -f1 out)
    at_least 5 "$children" "children with $engine"
    seen=$(awk '$1 == "process" && $NF ~ /storm$/ { pids[$4] }
        END { print length(pids) }' dump)
    unfollowed=$(awk '$1 == "done" { print $4 }' dump)
    # From outside only those are seen that live for a while.
    [ "$engine" = outside ] || [ "$seen" -eq $((children + 1)) ] ||
        fail "$engine: $children children, $seen processes"
    [ "$unfollowed" -eq 0 ] || fail "$engine: $unfollowed not followed"
done
