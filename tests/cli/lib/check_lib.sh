# SPDX-License-Identifier: MIT
# Begins a test of windlass check, whose first argument is windlass, in an empty
# folder. $here has the test's own programs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../lib/have.sh"
windlass=$(realpath "$1")
test=$(basename "$0" .sh)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C TMPDIR="$work"

fail() {
    echo "$test: $1"
    cat out err 2>/dev/null || true
    exit 1
}

# run STATUS ARG...: windlass check; leaves ./out and ./err.
run() {
    wanted=$1
    shift
    status=0
    timeout 60 "$windlass" check "$@" >out 2>err || status=$?
    [ "$status" -eq "$wanted" ] ||
        fail "status $status instead of $wanted: $*"
}

# said PATTERN: a line of standard error must match.
said() {
    grep -Eq -e "$1" err || fail "no line matches: $1"
}
