#!/bin/sh
# run_preset.sh PRESET [CTEST OPTION...]: passes the preset's tests. Of those
# that pass it says how many there are; of the others, all they said. Each test
# has one try.
#
# Then it lists what was skipped, with the reasons. A skip that tests/all/skips
# does not name is a failure.
set -eu
cd "$(dirname "$0")/../.."
preset=$1
shift
log=build/$preset/tests.log

# The tests that failed or were skipped, each with its output; at the end
# ctest's own summary.
show_failures() {
    awk '/^ *[0-9]+\/[0-9]+ +Test +#/ { shown = /\*\*\*/ }
        / tests passed,/ { shown = 1 }
        /^ +Start +[0-9]+: / { shown = 0; next }
        shown' "$log"
}

# What ctest's log of every test's output says of skips, "NAME: REASON" each:
# whole tests, whose first line is the reason; cases of unit tests, after a line
# "skipped: REASON"; and parts of other tests, NAME:REASON in one word.
skips() {
    sed -n 's/^[[:space:]]*[0-9]* - \([a-zA-Z0-9_.]*\) (Skipped)$/\1/p' "$log" \
        >"build/$preset/skipped.list"
    awk -v list="build/$preset/skipped.list" '
        BEGIN { while ((getline name < list) > 0) whole[name] = 1 }
        /^[0-9]+\/[0-9]+ Test: / { name = $3; reason = "" }
        /^<end of output>$/ { inside = 0 }
        inside && /^\[  SKIPPED \] [a-z]/ { print name "." $4 ": " reason }
        inside && !/^-+$/ && !(seen[name]++) && name in whole {
            sub(/^skipped: /, ""); print name ": " $0
        }
        inside && sub(/^skipped: /, "") && !(name in whole) {
            reason = $0
            if (name !~ /^unit[.]/) { gsub(/ /, "_"); print name ":" $0 ": " reason }
        }
        /^Output:$/ { inside = 1 }' \
        "build/$preset/Testing/Temporary/LastTest.log" | sort -u
}

# Whether tests/all/skips has all that was skipped.
check_skips() {
    skips >"build/$preset/skips.list"
    sed 's/^/skipped: /' "build/$preset/skips.list"
    awk -v preset="$preset" '
        FNR == NR { if (!/^#/) allowed[$1 " " $2] = 1; next }
        { sub(/: .*/, "") }
        !(("* " $0) in allowed) && !((preset " " $0) in allowed) {
            print "skipped: " $0 " is not in tests/all/skips"; bad = 1
        }
        END { exit bad }' tests/all/skips "build/$preset/skips.list"
}

status=0
ctest --preset "$preset" "$@" --output-log "$log" >/dev/null 2>&1 || status=$?
show_failures
check_skips || status=1
exit $status
