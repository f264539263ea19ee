#!/bin/sh
# errors.sh WINDLASS: processes that cannot be read, and what is said of them.
. "$(dirname "$0")/stack_lib.sh"

# refuses STATUS TEXT ARGUMENT...
refuses() {
    want=$1
    text=$2
    shift 2
    status=0
    "$windlass" stack "$@" >got 2>said || status=$?
    [ $status -eq "$want" ] || fail "exit status $status: stack $*"
    [ ! -s got ] || fail "printed something: stack $*"
    grep -qF -e "$text" said || fail "not said: $text: stack $*"
}

refuses 2 "'x' is not the number of a process" x
refuses 2 "'0' is not the number of a process" 0
refuses 2 "'99999999999' is not the number of a process" 99999999999
refuses 2 'stack --help' --wait 0 1
refuses 2 'stack --help'
refuses 1 'there is no process 2147483647' 2147483647

# A process that has ended, whose parent does not ask.
start zombie
await 'its child has ended' has_state Z
parent=$(sed -n 's/^PPid:	//p' "/proc/$pid/status")
refuses 1 "waits for its parent, process $parent, to ask" "$pid"
finish

# Threads of the kernel are seen outside of containers only.
if [ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ]; then
    refuses 1 'process 2 is a thread of the kernel' 2
fi

start
refuses 1 "process $pid has no such thread" --thread nobody "$pid"
for task in "/proc/$pid/task"/*; do
    [ "${task##*/}" -eq "$pid" ] || tid=${task##*/}
done
refuses 1 "windlass stack $pid --thread $tid" "$tid"

# Another user's. The command may be where only root can start it.
if [ "$(id -u)" -eq 0 ] && have setpriv; then
    cp "$windlass" ./copy
    status=0
    setpriv --reuid 65534 --regid 65534 --clear-groups ./copy stack "$pid" \
        >got 2>said || status=$?
    [ $status -eq 1 ] || fail "exit status $status for another user"
    grep -q "process $pid belongs to user 0 (root)" said || fail "not said"
fi
finish

# A running thread that a debugger holds cannot be stopped a second time.
start traced
tracer=$(sed -n 's/^TracerPid:	//p' "/proc/$pid/status")
status=0
"$windlass" stack "$pid" >got 2>said || status=$?
[ $status -eq 1 ] || fail "exit status $status for a traced process"
grep -q "(no stack: it runs, and could not be stopped: process $tracer traces" \
    got || fail "the tracer is not said"
finish
