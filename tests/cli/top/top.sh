#!/bin/sh
# top.sh WINDLASS FIXTURES: what top prints while a program runs, and what its
# screen does with keys.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
fixtures=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset WINDLASS_OPTIONS || true
TMPDIR=$work
export TMPDIR

fail() {
    echo "top: $*"
    exit 1
}

# says STATUS TEXT ARGUMENT...: how it ends, and with which words.
says() {
    wanted=$1 text=$2 status=0
    shift 2
    timeout 60 "$windlass" top "$@" >out 2>err </dev/null || status=$?
    [ $status -eq "$wanted" ] || fail "$*: status $status, not $wanted"
    [ -z "$text" ] || grep -qF -- "$text" err || fail "$*: says $(cat err), not $text"
}

cc -g -O1 -o busy "$here/busy.c"
says 2 "name a command, or a process with -p"
says 2 "name a command, or a process with -p" -p 1 ./busy
says 2 "--heap is for a command" --heap -p 1
says 127 "cannot run ./nothing" ./nothing
[ ! -s out ] || fail "a table of nothing: $(cat out)"

# A table each time, and the recording at the end.
says 0 "wrote kept.wndl" -n 4 --interval 0.5 --rows 3 -o kept.wndl ./busy
[ "$(grep -c 'function (by self)' out)" -eq 4 ] || fail "no four: $(cat out)"
grep -q '% .* turn  \[busy\]' out || fail "no turn in $(cat out)"
"$windlass" report kept.wndl >report
grep -q 'turn' report || fail "kept.wndl has no turn: $(cat report)"

# It ends with its command, and shows the heap.
says 0 "" --interval 0.3 ./busy 1
grep -q ', ended$' out || fail "no end in $(cat out)"
says 0 "" --heap --interval 0.5 ./busy 3
grep -q 'live heap .* bytes' out || fail "no heap in $(cat out)"
grep -q '% .* hold  \[busy\]' out || fail "nothing holds memory: $(cat out)"

# A process that runs already.
./busy 60 &
busy=$!
status=0
timeout 60 "$windlass" top -n 3 --interval 0.7 -p $busy >out 2>err </dev/null ||
    status=$?
kill $busy
[ $status -eq 0 ] || fail "-p ends with $status: $(cat err)"
grep -q '% .* turn  \[busy\]' out || fail "-p: no turn in $(cat out)"
if ls -d windlass-top.* 2>/dev/null; then
    fail "these are left"
fi

case $("$windlass" --version) in
*"ncurses: yes"*) ;;
*) exit 0 ;;
esac
need python3
timeout 120 python3 "$here/screen.py" "$windlass" ./busy
timeout 120 python3 "$here/screen.py" "$windlass" ./busy --heap
