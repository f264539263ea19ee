#!/bin/sh
# run_preset.sh PRESET [CTEST OPTION...]: passes the preset's tests. Of those
# that pass it says how many there are; of the others, all they said.
#
# A test that watches programs as they run (label `live`) can be undone by what
# else the machine does: it may try once more, alone, and that is told. Every
# other test has one try.
set -eu
cd "$(dirname "$0")/../.."
preset=$1
shift
log=build/$preset/tests.log

# The tests that failed or were skipped, each with its output; at the end
# ctest's own summary.
tell() {
    awk '/^ *[0-9]+\/[0-9]+ +Test +#/ { shown = /\*\*\*/ }
        / tests passed,/ { shown = 1 }
        /^ +Start +[0-9]+: / { shown = 0; next }
        shown' "$log"
}

# Whether nothing else failed than tests that watch programs as they run.
only_live_failed() {
    failed=build/$preset/Testing/Temporary/LastTestsFailed.log
    [ -s "$failed" ] || return 1
    ctest --preset "$preset" -N -L live >"build/$preset/live.list" || return 1
    sed 's/^[0-9]*://' "$failed" | while read -r name; do
        grep -qE ": $name\$" "build/$preset/live.list" || exit 1
    done
}

# What was skipped, each with its reason: whole tests, and cases of unit tests.
# ctest's own log has the output of every test.
skips() {
    awk '/^[0-9]+\/[0-9]+ Test: / { name = $3 }
        /^\[  SKIPPED \] [a-z]/ { print name "." $4 }' \
        "build/$preset/Testing/Temporary/LastTest.log"
    sed -n 's/^[[:space:]]*[0-9]* - \([a-zA-Z0-9_.]*\) (Skipped)$/\1/p' "$log"
}

# The first line of a skipped test says why.
reason_of() {
    awk -v wanted="$1" '/^[0-9]+\/[0-9]+ Test: / { name = $3 }
        lines && name == wanted && !/^-+$/ { print; exit }
        /^Output:$/ { lines = 1; next }
        /^<end of output>$/ { lines = 0 }' \
        "build/$preset/Testing/Temporary/LastTest.log"
}

# Lists what was skipped, and which of it tests/all/skips does not name. (The
# list does not fail the run yet: it is not complete for every preset.)
list_skips() {
    for name in $(skips | sort -u); do
        echo "skipped: $name: $(reason_of "$name")"
        grep -qx "$preset $name\|\* $name" tests/all/skips ||
            echo "skipped: $name is not in tests/all/skips"
    done
}

status=0
ctest --preset "$preset" "$@" --output-log "$log" >/dev/null 2>&1 || status=$?
tell
list_skips
if [ $status -ne 0 ] && only_live_failed; then
    echo "run_preset: once more, by themselves:"
    status=0
    ctest --preset "$preset" --rerun-failed --output-log "$log" \
        >/dev/null 2>&1 || status=$?
    tell
fi
exit $status
