#!/bin/sh
# 32-bit programs are recorded as others are: started by us, by a 64-bit
# program, and themselves starting one.
. "$(dirname "$0")/../lib/record_lib.sh"
need "$fixtures/narrow"
"$fixtures/narrow" 0 || skip "no 32-bit libc"

# The vDSO of 32-bit programs has no CFI but for its system calls: a walk from the
# first instructions of clock_gettime() there comes to the root by a guess. That
# is one sample in 1,200: five of 1,000 are exceeded once in 10^7 runs.
stacks_are_known() {
    rooted_above 99.9
    awk '$1 == "end" { all += $3 }
        $1 == "end" && $2 == 0 { complete = $3 }
        END { exit !(all > 0 && complete + 5 > 0.995 * all) }' dump ||
        fail "more than 0.5 % and five of the stacks are not complete"
}

# Of each of its functions the report knows name, share and line.
names_are_known() {
    "$windlass" report r.wndl --no-pager --tree >report
    for name in in_thread descend around inlined main; do
        grep -q "[^a-z_]$name " report || {
            cat report >&2
            fail "$1: no $name in the report"
        }
    done
    grep -q 'narrow.c:[0-9]' report || fail "$1: no lines in the report"
}

for engine in $(engines); do
    [ "$engine" != outside ] || continue
    for variant in narrow narrow_fp; do
        record 0 --engine "$engine" -- "$fixtures/$variant" 250
        sampled 800 "$engine" '$7 ~ /^narrow/'
        stacks_are_known
        names_are_known "$engine $variant"
    done
done

# A chain of both kinds, in one recording; nothing is said into the program's
# output.
record 7 -- sh -c "'$fixtures/narrow' 50 '$fixtures/burn' 100 0 2>&1 &&
    '$fixtures/burn_32' 100 7 2>&1; exit \$?" >output
cat >want <<'END'
out 100
err 100
out 100
err 100
END
sort want >sorted_want
sort output >sorted
cmp -s sorted sorted_want || fail "other output: $(cat output)"
stacks_are_known
for image in narrow burn burn_32; do
    grep -q "/$image\$" dump || fail "$image is not in the recording"
done
