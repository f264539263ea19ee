#!/bin/sh
# Generated code has the names that its runtime left for it.
. "$(dirname "$0")/../lib/record_lib.sh"
HOME=$work
export HOME
trap 'rm -rf "$work" "/tmp/perf-$(cat pid 2>/dev/null).map"' EXIT

# self_of PATTERN: percent of the samples in functions of that name.
self_of() {
    "$windlass" report --no-pager -n 1000 r.wndl |
        awk -v name="$1" '$0 ~ name { n += $1 } END { print int(n) }'
}

record 3 -- "$fixtures/jit" >pid
at_least 90 "$(self_of 'made_here x y.src:12:3 +y.src:12 +\[JIT\] jit')" \
    "% are in the named code of parent and child"
"$windlass" report -v --no-pager r.wndl 2>&1 >/dev/null |
    grep -q "^windlass: /tmp/perf-$(cat pid).map: names for" ||
    fail "the map is not told of"

# The map of an earlier process of that number says nothing.
touch -d '1 hour ago' "/tmp/perf-$(cat pid).map"
[ "$(self_of made_here)" -eq 0 ] || fail "an old map was used"
"$windlass" report -v --no-pager r.wndl 2>&1 >/dev/null |
    grep -q "perf-$(cat pid).map: not used" || fail "it was not told of"

have node || exit 0
node=$(command -v node)
rm -f "/tmp/perf-$(cat pid).map"
cat >count.js <<'END'
'use strict';
function fibonacci(n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
const sorted = a => a.map(x => x * 7919 % 1009).sort((x, y) => x - y);
let sum = 0;
for (let i = 0; i < 500; i++)
    sum += fibonacci(24) + sorted(Array.from({ length: 500 }, (_, k) => k))[9];
console.log(process.pid);
END
record 0 -- "$node" --perf-basic-prof count.js >pid
rooted_above 98
at_least 25 "$(self_of 'fibonacci .*count.js:2(:19)? +count.js:2 +\[JIT\] node')" \
    "% are in fibonacci"
rm -f "/tmp/perf-$(cat pid).map"

# The other form has lines.
record 0 -- "$node" --perf-prof count.js >pid
[ -f "jit-$(cat pid).dump" ] || fail "node wrote no jitdump"
at_least 25 "$(self_of 'fibonacci .*count.js:2(:19)? +count.js:2 +\[JIT\] node')" \
    "% are in fibonacci"
case $("$node" --version) in
v1[0-9].*) ;; # writes no lines
*)
    "$windlass" report --by line --no-pager r.wndl |
        grep -q 'count.js:4  *JS:.*fibonacci' || fail "line 4 is not there"
    ;;
esac
