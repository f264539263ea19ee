#!/bin/sh
# run_preset.sh PRESET: passes the preset's tests. Of those that pass it says
# how many there are; of the others, all they said.
set -eu
cd "$(dirname "$0")/../.."
preset=$1
log=build/$preset/tests.log

# The tests that failed or were skipped, each with its output; at the end
# ctest's own summary.
tell() {
    awk '/^ *[0-9]+\/[0-9]+ +Test +#/ { shown = /\*\*\*/ }
        / tests passed,/ { shown = 1 }
        /^ +Start +[0-9]+: / { shown = 0; next }
        shown' "$log"
}

status=0
ctest --preset "$preset" --output-log "$log" >/dev/null 2>&1 || status=$?
tell
exit $status
