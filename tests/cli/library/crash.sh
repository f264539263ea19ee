#!/bin/sh
# crash.sh WINDLASS FIXTURES: what crashing programs tell of themselves: the
# first line, how they end, and the names and lines of the frames, found by
# windlass fix, which looks the printed offsets up as they are.
set -eu
windlass=$1
fixtures=$2/crash
sources=$(dirname "$0")/../../fixtures/crash
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ulimit -c 0
# What is tested is how we leave the signal to others, not to a sanitizer.
export ASAN_OPTIONS=handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:use_sigaltstack=0
failed=0

fail() {
    echo "$mode: $*"
    cat "$work/out" "$work/err" "$work/fixed"
    failed=1
}

# run MODE: leaves out, err and fixed.
run() {
    mode=$1
    "$fixtures/crash" "$mode" >"$work/out" 2>"$work/err"
    head -n 30 "$work/err" >"$work/head"
    "$windlass" fix <"$work/head" >"$work/fixed" ||
        fail "windlass fix: exit status $?"
}

# says FILE PATTERN
says() {
    grep -Eq -- "$2" "$work/$1" || fail "no '$2'"
}

# frame NUMBER FUNCTION FILE MARK: at the line that has the mark.
frame() {
    line=$(grep -n "LINE($4)" "$sources/$3" | cut -d: -f1)
    says fixed "^#$1: $2(\\.[^ ]*)? .*$3:$line([^0-9]|\$)"
}

run main
says out '^killed by 11$'
says err '^windlass: SIGSEGV at address 0x10 \(nothing is mapped there\), in thread [0-9]+ "crash" of process [0-9]+, instruction 0x[0-9a-f]+$'
frame 01 write_nowhere crash.c write
frame 02 in_main crash.c in_main
frame 03 crash crash.c run
frame 04 main crash.c child
says fixed '^#07: _start'
[ "$(grep -c . "$work/err")" -eq 8 ] || fail "not 7 frames"

run thread
says out '^killed by 11$'
says err 'in thread [0-9]+ "wor\?ker" of'
frame 01 write_nowhere crash.c write
frame 02 in_main crash.c in_main
frame 03 thread_main crash.c thread
grep -q '^(' "$work/err" && fail "not complete"

run library
frame 02 in_main crash.c in_main
frame 03 inner crash_lib.c lib_inner
frame 04 crash_lib_call crash_lib.c lib_outer
frame 05 in_library crash.c library
frame 07 main crash.c child

run overflow
says out '^killed by 11$'
frame 02 overflow crash.c overflow
frame 20 overflow crash.c overflow
[ "$(grep -c '^#' "$work/err")" -eq 256 ] || fail "not 256 frames"
says err '^\(there are more frames, which are not printed\)$'

run null
says out '^killed by 11$'
says err ' at address 0x0 .* instruction 0x0$'
says err '^#01: \?\?\? \(0x0\)$'
frame 02 at_null crash.c null
frame 03 crash crash.c run

run abort
says out '^killed by 6$'
says err '^windlass: SIGABRT, sent by process [0-9]+, in thread'
says fixed '^#[0-9]*: by_abort '

run kill
says out '^killed by 7$'
says err '^windlass: SIGBUS, sent by process [0-9]+, in thread'
frame 02 by_kill crash.c kill

run trap
says out '^killed by 5$'
says err '^windlass: SIGTRAP, in thread'
says fixed '^#01: by_trap '

run no-stack
says out '^killed by 11$'
says err '^windlass: SIGSEGV'
says fixed '^#01: without_stack '
says err '^\(the stack cannot be read from here on\)$'

run print
says out '^exited with 0$'
frame 01 print_only crash.c print
frame 03 main crash.c child

# The handler of before is alone from the second time on.
run chained
says out '^exited with 7$'
[ "$(grep -c '^as ever$' "$work/out")" -eq 2 ] || fail "not twice as ever"
[ "$(grep -c '^windlass' "$work/err")" -eq 1 ] || fail "not told of once"

mode=assert
"$fixtures/assert" >"$work/out" 2>"$work/err" && fail "did not abort"
"$windlass" fix <"$work/err" >"$work/fixed" ||
    fail "windlass fix: exit status $?"
says err 'assert.c:[0-9]+: not true: b != 0$'
says fixed '^#02: divide .*assert.c:24'
says fixed '^#03: main '
says err '^windlass: SIGABRT'
exit $failed
