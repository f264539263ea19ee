#!/bin/sh
# dark_matter.sh WINDLASS RECDUMP FIXTURES HEAPDUMP INCLUDE: which live blocks a
# program's memory reporters report, and which they report twice.
. "$(dirname "$0")/../lib/record_lib.sh"
include=$(realpath "$5")
here=$sources/../../cli/heap
oracle=$here/../../oracle
need cc python3
cc -std=gnu17 -O1 -g -Wall -Wextra -Werror -I"$include" "$here/dark_matter.c" \
    -o dark_matter || fail "dark_matter.c does not compile"

dark() {
    rm -f r.wndl report
    "$windlass" heap --mode dark-matter -o r.wndl "$@" >told 2>said ||
        fail "exit status $?: $*: $(cat said)"
}
exact() {
    PYTHONPATH=$oracle python3 "$oracle/dark_matter.py" "$windlass" r.wndl \
        told || fail "$1"
}
# says PATTERN: the report on the last recording has such a line.
says() {
    [ report -nt r.wndl ] ||
        "$windlass" report --no-pager r.wndl >report 2>&1 || fail "no report"
    grep -Eq -e "$1" report || {
        head -60 report >&2
        fail "no line of the report is: $1"
    }
}

# At the end, where the reporters ran before as well.
dark ./dark_matter 1 dump
grep -q '^dumped 1$' told || fail "no snapshot at wndl_heap_dump()"
exact "at the end"
says '^Reporters  ran last after '
# Pointers that are no blocks, in both runs.
says '^Pointers that memory reporters measured'
says '^  2 pointers into the middle of blocks, the first 0x'
says '^  2 pointers into no block, the first 0x'

# A snapshot of a program that polls, which is killed then. (What the last one has
# told is still there until this one is started.)
rm -f told
"$windlass" heap -q --mode dark-matter -o r.wndl ./dark_matter 2 polled >told \
    2>said &
recorder=$!
until_true "the program has told all" grep -q 'make_table 2' told
pid=$(child_of $recorder)
"$windlass" ctl "$recorder" dump >/dev/null || fail "no snapshot by ctl"
kill -9 "$pid"
wait $recorder || true
exact "polled, and killed"

# One that does not poll.
rm -f report told
"$windlass" heap --mode dark-matter -o r.wndl ./dark_matter 2 silent >told \
    2>said &
recorder=$!
until_true "the program has told all" grep -q 'make_table 2' told
pid=$(child_of $recorder)
"$windlass" ctl "$recorder" dump >/dev/null || fail "no snapshot by ctl"
kill -9 "$pid"
wait $recorder || true
says "^Reporters  'owned' did not run in time"
grep -q "memory reporter 'owned' did not run: the program did not poll" said ||
    fail "$(cat said)"

# A difference of a recording with itself is none.
"$windlass" diff --no-pager r.wndl r.wndl >diff || fail "no difference"
grep -q '^# no once-reported heap blocks$' diff || fail "diff: $(cat diff)"

# Without reporters, nothing is reported; and in another mode there are none.
dark sh -c 'exit 0'
says '^# no once-reported heap blocks$'
says '^Reporters  did not run in 1 heap'
rm -f report
"$windlass" heap -q -o r.wndl ./dark_matter 1 >told 2>said || fail "live mode"
says '^Live \{$'

# Some blocks by chance: estimates.
dark --stacks partial ./dark_matter 3
says '^  Once-reported: +~[0-9,]+ bytes'

# A reporter that crashes or does not return, in the run at the end.
for case in fault:139 never:0; do
    status=0
    "$windlass" heap --mode dark-matter -o r.wndl ./dark_matter 4 "${case%:*}" \
        >told 2>said || status=$?
    [ $status -eq "${case#*:}" ] || fail "exit status $status: $case"
    grep -q "memory reporter '.*' was running when the process ended" said ||
        fail "$case: $(cat said)"
    says "^Reporters  '(the fault|never ends)' was running when the process"
done

# The functions to write a reporter for: neither main, nor a wrapper, nor what is
# reported to a half.
suggests() {
    "$windlass" report --suggest --no-pager r.wndl >suggested ||
        fail "no suggestions"
    sed -n '/function to/,/^$/s/.*% *[0-9,]* *\([a-z_0-9]*\) (.*dark_suggest.c.*/\1/p' \
        suggested | LC_ALL=C sort >names
    [ "$(xargs <names)" = "$1" ] || fail "suggested: $(cat suggested)"
}
cc -std=gnu17 -O1 -g -Wall -Wextra -Werror -I"$include" "$here/dark_suggest.c" \
    -o dark_suggest || fail "dark_suggest.c does not compile"
dark ./dark_suggest
suggests "new_session parse_node"
grep -q '^Together they hold 8[0-9]\.[0-9]% of the unreported bytes$' suggested ||
    fail "$(cat suggested)"
dark ./dark_suggest all
suggests handle_request
"$windlass" heap -q -o r.wndl true >told 2>said
! "$windlass" report --suggest r.wndl >suggested 2>&1 || fail "$(cat suggested)"
grep -q 'dark-matter' suggested || fail "$(cat suggested)"
