#!/bin/sh
# stack.sh WINDLASS: the stacks of a process that runs.
. "$(dirname "$0")/stack_lib.sh"

stack() {
    "$windlass" stack "$@" >got 2>said || fail "exit status $?: stack $*"
    [ ! -s said ] || fail "said something: stack $*"
}

# has TEXT: a line of the output is that, in whatever order.
has() {
    grep -qF -e "$1" got || fail "not in the output: $1"
}

# functions THREAD: the functions in its stack, innermost first, without those
# that are inlined.
functions() {
    sed -n "/^Thread [0-9]* \"$1\"/,/^\$/p" got | grep -v 'inlined.$' |
        sed -n 's/^    #[0-9]*: \([^ ]*\).*/\1/p' | tr '\n' ' '
}

# is THREAD FUNCTIONS: its stack begins with these.
is() {
    case $(functions "$1") in
    "$2 "*) ;;
    *) fail "thread $1: $(functions "$1")" ;;
    esac
}

start
await 'the first thread is blocked' has_state S
# A thread that waits long for a CPU is no failure here.
stack --wait 60 "$pid"
has "Process $pid: ./threads, 6 threads"
has 'Thread '"$pid"' "threads": blocked in read(0<'
has '"reader": blocked in read('
has '"po\x0aller": blocked in epoll_wait('
has 'anon_inode:[eventpoll]>)'
has '"runner": running'
is runner 'spin run runner'
is diver 'spin run descend'
case $(functions reader) in
*' wait_for_byte reader '*) ;;
*) fail "reader: $(functions reader)" ;;
esac
[ "$(functions diver | tr ' ' '\n' | grep -c '^descend')" -eq 401 ] ||
    fail "the deep stack has not all its frames"
# Through the end of the handler, on the other stack.
case $(functions handler) in
'spin run on_signal '*' raise_it handler '*) ;;
*) fail "handler: $(functions handler)" ;;
esac
! grep -q -e 'not complete' -e guessed -e 'no stack' got || fail "not complete"
grep -q 'getchar (.*) \[inlined\]$' got || fail "no inlined frame"
! grep -q interrupted out || fail "a call was interrupted"

# One thread, by its number or a part of its name; fewer frames.
stack --thread "$pid" "$pid"
[ "$(grep -c ^Thread got)" -eq 1 ] || fail "not one thread"
stack --thread RUNN --thread div --max-frames 3 --wait 60 "$pid"
[ "$(grep -c ^Thread got)" -eq 2 ] || fail "not two threads"
has '(there are more than 3 frames: --max-frames)'

# Addresses alone, which fix names.
stack --raw --thread runner --wait 60 "$pid"
grep -q "^    #02: ???\[$work/threads +0x[0-9a-f]*\]\$" got || fail "not raw"
"$windlass" fix got >fixed
grep -q '^    #02: run' fixed || fail "not fixed: $(cat fixed)"

# JSON has the same.
stack --json --wait 60 "$pid"
python3 - got "$pid" <<'END' || fail "not the JSON"
import json, sys
d = json.load(open(sys.argv[1]))
assert (d["format"], d["version"]) == ("windlass-stack", 1)
assert d["pid"] == int(sys.argv[2]) and d["command"] == "./threads"
threads = {t["name"]: t for t in d["threads"]}
assert len(threads) == 6
poller = threads["po\nller"]
assert poller["state"] == "blocked" and poller["call"]["name"] == "epoll_wait"
assert "eventpoll" in poller["call"]["files"][0]["path"]
assert "stopped_ns" not in poller
runner = threads["runner"]
assert runner["state"] == "running" and runner["stopped_ns"] > 0
assert runner["end"] == "complete" and "call" not in runner
first = runner["frames"][0]
assert [f["function"] for f in first["functions"]][-1] == "spin"
assert first["interrupted"] and first["certainty"] == "certain"
assert first["module"].endswith("/threads")
END

# A stopped process is read, and stays stopped.
kill -STOP "$pid"
await 'it is stopped' are_all_stopped
stack --wait 60 "$pid"
has '"runner": stopped'
is runner 'spin run runner'
await 'it is stopped again' are_all_stopped
kill -CONT "$pid"
reader_sleeps() {
    for task in "/proc/$pid/task"/*; do
        [ "$(cat "$task/comm" 2>/dev/null)" != reader ] ||
            grep -q '^State:	S' "$task/status" || return 1
    done
}
await 'it goes on' reader_sleeps

# Again and again, until it ends: threads that stay where they are, once.
"$windlass" stack --every 0.1 --thread reader --thread runner --wait 60 \
    "$pid" >got 2>said 9>&- &
watcher=$!
has_repeated() {
    [ "$(grep -c '^Process' got)" -ge 3 ]
}
await 'it repeats' has_repeated
cp got so_far
exec 9>&-
# The process has ended, though nobody has asked for its status yet.
watcher_has_ended() {
    ! grep -qs '^State:	[^ZX]' "/proc/$watcher/status"
}
await 'it ends with the process' watcher_has_ended
wait $watcher || fail "exit status $? of --every"
watcher=
finish
grep -q "process $pid has ended" said || fail "the end is not said"
[ "$(grep -c '"reader"' so_far)" -eq 1 ] || fail "unchanged threads are shown"
[ "$(grep -c '"runner"' so_far)" -ge 1 ] ||
    fail "changed threads are not shown"

# The vDSO's functions have names, though it is in no file.
start clock
sees_vdso() {
    "$windlass" stack --wait 60 "$pid" >got 2>said &&
        grep -q 'clock_gettime .*\[\[vdso\] +0x[0-9a-f]*\]$' got
}
await 'names in the vDSO' sees_vdso
finish
