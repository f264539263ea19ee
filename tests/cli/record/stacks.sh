#!/bin/sh
# Alternate stacks, coroutines, deep and large stacks; executables with gaps;
# alternate stacks that have little room beside the kernel's signal frame.
. "$(dirname "$0")/../lib/record_lib.sh"
record 0 -r 2000 --max-frames 4000 -- "$fixtures/stacks"
complete_above 99.9
"$recdump" -s r.wndl >stacks
awk '$1 == "stack" && NF > 3000 { n += $2 } END { exit n < 20 }' stacks ||
    fail "no stacks of 3000 frames"

# Further down than what is always kept free for the initial stack.
if (ulimit -s unlimited) 2>/dev/null; then
    (
        ulimit -s unlimited
        record 0 -r 2000 -- "$fixtures/stacks" 200
        complete_above 99.9
    )
fi

for gaps in gaps gaps_pie; do
    record 0 -- "$fixtures/$gaps" 200 0
    complete_above 99.9
    grep -q "^image [0-9]* [0-9a-f][0-9a-f]* .*/$gaps\$" dump ||
        fail "$gaps is without its build-id"
done

for engine in $(engines); do
    record 7 --engine "$engine" -r 2000 -- "$fixtures/narrow_stacks" >out ||
        fail "$engine: $(cat out)"
done
