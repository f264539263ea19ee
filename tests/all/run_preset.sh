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

status=0
ctest --preset "$preset" "$@" --output-log "$log" >/dev/null 2>&1 || status=$?
tell
if [ $status -ne 0 ] && only_live_failed; then
    echo "run_preset: once more, by themselves:"
    status=0
    ctest --preset "$preset" --rerun-failed --output-log "$log" \
        >/dev/null 2>&1 || status=$?
    tell
fi
exit $status
