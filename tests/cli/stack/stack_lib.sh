# SPDX-License-Identifier: MIT
# What the tests of `windlass stack` share: a program with threads in known
# functions (threads.c), which ends with the test. Each wait is for a state, and
# ends after a minute and a half.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
source=$(realpath "$(dirname "$0")/threads.c")
need cc
work=$(mktemp -d)
chmod 755 "$work"
cd "$work"
child=
watcher=
# A program that a test has stopped would not see that its input ends.
trap 'exec 9>&-
    for process in $child $watcher; do
        kill -KILL "$process" 2>/dev/null || true
    done
    rm -rf "$work"' EXIT
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

# await WHAT COMMAND...: tries the command until it succeeds.
await() {
    what=$1
    shift
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 900 ] || fail "waited in vain: $what"
        sleep 0.1
    done
}

# has_state LETTER: that of the first thread of process $pid.
has_state() {
    grep -q "^State:	$1" "/proc/$pid/status"
}

# are_all_stopped: by a signal, all threads of process $pid.
are_all_stopped() {
    ! grep -h '^State:' "/proc/$pid/task"/*/status | grep -v 'T (stopped)' |
        grep -q .
}

is_ready() {
    grep -qs '^ready' out
}

# start [WORD]: the program, whose number is $pid, or that of its child. It ends
# when descriptor 9 is closed.
start() {
    rm -f in out
    mkfifo in
    ./threads "$@" <in >out 2>/dev/null 9>&- &
    child=$!
    exec 9>in
    await 'the program starts' is_ready
    pid=$(sed -n 's/^ready //p' out)
}

has_ended() {
    ! grep -qs '^State:	[^ZX]' "/proc/$child/status"
}

# finish: ends the program.
finish() {
    exec 9>&-
    await 'the program ends' has_ended
    wait "$child" || true
    child=
}

cc -g -O2 -pthread -o threads "$source"
