# SPDX-License-Identifier: MIT
# What the tests of `windlass stack` share: a program with threads in known
# functions (threads.c), which ends with the test.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
source=$(realpath "$(dirname "$0")/threads.c")
need cc
work=$(mktemp -d)
chmod 755 "$work"
cd "$work"
trap 'exec 9>&-; rm -rf "$work"' EXIT
unset WINDLASS_OPTIONS WINDLASS_DEBUG_DIRS DEBUGINFOD_URLS || true
LC_ALL=C
export LC_ALL

fail() {
    echo "FAILED: $*"
    for file in got said; do
        [ ! -s $file ] || sed 's/^/    /' $file | head -n 80
    done
    exit 1
}

# start [WORD]: the program, whose number is $pid. It ends when descriptor 9 is
# closed.
start() {
    rm -f in out
    mkfifo in
    ./threads "$@" <in >out 2>/dev/null 9>&- &
    exec 9>in
    tries=0
    until grep -qs "^ready" out; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || fail "the program does not start"
        sleep 0.1
    done
    pid=$(sed -n 's/^ready //p' out)
}

cc -g -O2 -pthread -o threads "$source"
