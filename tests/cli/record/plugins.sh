#!/bin/sh
# Modules that come and go at the same address are told apart.
. "$(dirname "$0")/../lib/record_lib.sh"
cp "$fixtures/plugin_a.so" "$fixtures/plugin_b.so" .
record 0 -r 2000 -- "$fixtures/plugins"
complete_above 99.9
"$recdump" -s r.wndl >stacks
for letter in a b; do
    image=$(awk -v path="$work/plugin_$letter.so" \
        '$1 == "image" && $4 == path { print $2 }' dump)
    [ -n "$image" ] || fail "plugin_$letter.so is not there, or not absolute"
    count=$(awk -v image="^$image[+]" \
        '$1 == "stack" && $3 ~ image { n += $2 } END { print n + 0 }' stacks)
    at_least 100 "$count" "samples in plugin_$letter.so"
done
