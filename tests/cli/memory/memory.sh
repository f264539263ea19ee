#!/bin/sh
# SPDX-License-Identifier: MIT
# memory.sh WINDLASS INCLUDE: a program that runs by itself is asked for its
# memory reports, with good and bad reporters.
set -eu
exec 3>&- # it may be open here
. "$(dirname "$0")/../../lib/have.sh"
here=$(cd "$(dirname "$0")" && pwd)
windlass=$(realpath "$1")
include=$(realpath "$2")
need cc
need python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -m 700 run state
XDG_RUNTIME_DIR=$work/run
XDG_STATE_HOME=$work/state
export XDG_RUNTIME_DIR XDG_STATE_HOME LC_ALL=C
unset WINDLASS_MEMORY WINDLASS_MEMLOG LD_PRELOAD || true

fail() {
    echo "memory: $1"
    head -n 60 out err 2>/dev/null || true
    exit 1
}
flags="-O1 -D_GNU_SOURCE -I$include"
cc $flags "$here/program.c" -o program || fail "cannot compile"

# start ARG...: the program, which is then ready, as $pid.
start() {
    rm -f to from
    mkfifo to from
    "$@" <to >from 2>program.err &
    pid=$!
    exec 3>to 4<from
    hear ready
}
hear() {
    said=
    while [ "$said" != "$1" ]; do
        read -r said <&4 || fail "the program has ended: $(cat program.err)"
        case $said in [0-9]*) child=$said ;; esac
    done
}
stop() {
    exec 3>&- 4<&-
    wait "$pid" || fail "the program ended with status $?"
}
ask() {
    "$windlass" memory "$@" >out 2>err || fail "memory $*: status $?"
}
ask_in_vain() {
    "$windlass" memory "$@" >out 2>err && fail "memory $*: status 0"
    return 0
}

# The tree, and that all numbers fit together: what is reported is what was
# allocated, to 1 %, though no recorder counts it.
start ./program
# Nothing is noticed: no descriptor that a program would count on, one thread.
[ "$(ls "/proc/$pid/task" | wc -l)" -eq 2 ] || fail "threads"
ls "/proc/$pid/fd" | grep -qx 3 && fail "descriptor 3"
ask -o report.json "$pid"
cat >check.py <<'EOS'
import json
import sys
rows = {row["path"]: row for row in json.load(open(sys.argv[1]))["reports"]}
reported = rows["explicit/table/blocks"]["amount"]
assert 0 <= reported - (375000 * 24 + 500000 * 8) < 10000, reported
heap = rows["heap-allocated"]
assert heap["estimated"], heap
assert abs(heap["amount"] - reported) < reported / 100, (heap, reported)
overhead = sum(row["amount"] for path, row in rows.items()
               if path.startswith("explicit/heap-overhead/"))
assert overhead > 375000 * 8 + 125000 * 32 - 10000, overhead
resident = rows["resident"]["amount"]
mapped = sum(row["amount"] for path, row in rows.items()
             if path.startswith("mappings/"))
assert abs(resident - mapped) < resident / 10, (resident, mapped)
assert rows["resident-unique"]["amount"] <= resident * 1.1
assert rows["resident-peak"]["amount"] * 1.1 >= resident
assert rows["vsize-peak"]["amount"] >= rows["vsize"]["amount"] > resident
assert rows["page-faults-soft"]["units"] == 2
assert 0 < rows["explicit/threads/stacks"]["amount"] < 10 ** 6
EOS
python3 check.py report.json || fail "the numbers"
ask "$pid"
grep -q ' -- explicit$' out || fail "no tree"
grep -q '─ blocks$' out || fail "no blocks"
grep -q "^program (pid $pid)\$" out || fail "no name"
ask --flat "$pid" report.json
grep -q '^column 2: program (pid .*) in report.json$' out || fail "no columns"
"$windlass" memory --every 0.1 --flat "$pid" >again 2>err 3>&- 4<&- &
asking=$!
tries=0
until [ "$(grep -c ' explicit/table/blocks$' again)" -ge 3 ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 300 ] || fail "not every 0.1 s"
    sleep 0.1
done
stop
wait "$asking" && fail "--every ended with 0, and the process is gone"
"$windlass" memlog show --process program >out 2>err || fail "memlog show"
grep -q ' memory report: .*heap allocated .*heap reported ' out ||
    fail "no event in the log"

# The program itself, and one that is not to be asked.
./program write >own.json || fail "write: $?"
python3 check.py own.json || fail "its own numbers"
ask own.json
WINDLASS_MEMORY=off ./program write >own.json || fail "write, off: $?"
WINDLASS_MEMORY=off start ./program
ask_in_vain "$pid"
grep -q "process $pid has no memory reports" err || fail "off"
stop
start sh -c 'echo ready; cat'
ask_in_vain "$pid"
stop

# Where the program polls, and where it does not.
start ./program polled
ask --flat "$pid"
grep -q ' 1  main thread$' out || fail "not on the thread that polls"
stop
start ./program not
ask_in_vain --timeout 6 --flat "$pid"
grep -q "'polled' knows is missing: the program did not call" err ||
    fail "not polled, and not said"
grep -q ' explicit/table/blocks$' out || fail "the rest is not there"
stop

# Bad reporters.
start ./program bytes
ask --anonymize -o bytes.json "$pid"
cat >bytes.py <<'EOS'
import json
rows = json.load(open("bytes.json"))["reports"]
found = [row for row in rows if row["amount"] == -2 ** 63]
assert len(found) == 3, found
assert found[0]["path"] == "" == found[0]["description"]
assert found[1]["path"] == bytes(range(1, 128)).decode() + "\ufffd" * 128
assert found[2]["path"] == "secret/<private 1>/mail" and found[2]["estimated"]
EOS
python3 bytes.py || fail "bytes"
stop
start ./program never
ask_in_vain --timeout 3 --flat "$pid"
grep -q "process $pid: its reporter 'never' did not return within 3 s" err ||
    fail "never returns, and is not named"
grep -q ' explicit/table/blocks$' out || fail "the one before it is gone"
ask_in_vain --timeout 0.5 "$pid"
grep -q 'a reporter of an earlier question still runs' err || fail "still runs"
stop
start ./program fault
ask_in_vain --flat "$pid"
grep -q "process $pid: its reporter 'fault' ended the process" err ||
    fail "a fault, and it is not named"
exec 3>&- 4<&-
status=0
wait "$pid" || status=$?
[ "$status" -eq 139 ] || fail "not SIGSEGV: $status"

# The same in a copy, as often as one likes: the process goes on.
start ./program never
for i in 1 2; do
    ask_in_vain --in-copy --timeout 2 --flat "$pid"
    grep -q "process $pid: its reporter 'never' did not return within 2 s" err ||
        fail "in a copy: never returns, and is not named"
    grep -q ' explicit/table/blocks$' out || fail "in a copy: the one before it"
done
until [ -z "$(cat "/proc/$pid/task/"*/children)" ]; do
    sleep 0.1
done
kill -0 "$pid" || fail "in a copy: it is gone"
exec 3>&- 4<&-
wait "$pid" || fail "in a copy: status $?"
start ./program fault
ask_in_vain --in-copy --flat "$pid"
grep -q "its reporter 'fault' ended the copy of the process" err ||
    fail "in a copy: a fault, and it is not named"
stop
start ./program not
ask --in-copy --flat "$pid"
grep -q ' 0  main thread$' out || fail "in a copy: what is polled"
grep -q ' explicit/table/blocks$' out || fail "in a copy: the rest"
grep -q ' resident$' out || fail "in a copy: what is built in"
stop

# Registered and unregistered while it is asked.
start ./program again
for i in 1 2; do
    ask "$pid"
done
stop
start ./program slow
ask --flat "$pid"
grep -q ' explicit/slow$' out || fail "unregistered before it has returned"
hear ready
ask --flat "$pid"
grep -q ' explicit/slow$' out && fail "unregistered, and it runs"
stop

# Children, closed descriptors.
start ./program fork
hear ready
ask_in_vain "$child"
grep -q 'has not called wndl_memory_start()' err || fail "a child"
ask "$pid"
stop
start ./program child
hear ready
ask --flat "$child"
grep -q ' explicit/table/blocks$' out || fail "the child's reporter"
ask --flat "$child" "$pid"
grep -q '^column 3: their sum$' out || fail "both"
stop
start ./program closed
"$windlass" memory "$pid" >out 2>err || true # wakes the thread
tries=0
until "$windlass" memory --flat "$pid" >out 2>err; do # it listens again soon
    tries=$((tries + 1))
    [ "$tries" -lt 300 ] || fail "never again after all was closed"
    sleep 0.1
done
grep -q ' explicit/table/blocks$' out || fail "after all was closed"
stop

# A library with a state of its own, which is unloaded.
cat >library.c <<'EOS'
#include <windlass/memory.h>
static void report(struct wndl_memory_sink *sink, void *data)
{
    wndl_memory_yield_bytes(
        sink, (const char *)data, WNDL_MEMORY_HEAP, 1000, "");
}
static struct wndl_memory_reporter reporter = WNDL_MEMORY_REPORTER(
    "library", report, (void *)"explicit/library", WNDL_MEMORY_ANY_THREAD);
__attribute__((constructor)) static void begin(void)
{
    wndl_memory_register(&reporter);
}
EOS
cc $flags -fPIC -shared library.c -o library.so || fail "library"
start ./program library ./library.so
ask -o two.json "$pid" # both states
grep -q '"explicit/library"' two.json || fail "no state of the library"
[ "$(grep -c '"path":"resident"' two.json)" -eq 1 ] || fail "twice built in"
stop
cc $flags -rdynamic "$here/program.c" -o exporting || fail "-rdynamic"
start ./exporting library ./library.so
ask --flat "$pid" # unloaded, with its reporter
grep -q ' explicit/library$' out && fail "an unloaded reporter"
grep -q ' explicit/table/blocks$' out || fail "the program's own"
stop

# C++: what throws is said, and the others run.
have c++ || exit 0
cat >throws.cc <<'EOS'
#include <windlass/memory.h>
#include <cstdio>
#include <stdexcept>
static void throws(struct wndl_memory_sink *, void *)
{
    throw std::runtime_error("no");
}
static void fine(struct wndl_memory_sink *sink, void *)
{
    wndl_memory_yield_bytes(sink, "explicit/fine", WNDL_MEMORY_HEAP, 1, "");
}
static struct wndl_memory_reporter first = WNDL_MEMORY_REPORTER(
    "throws", throws, NULL, WNDL_MEMORY_ANY_THREAD);
static struct wndl_memory_reporter second = WNDL_MEMORY_REPORTER(
    "fine", fine, NULL, WNDL_MEMORY_ANY_THREAD);
int main()
{
    wndl_memory_register(&first);
    wndl_memory_register(&second);
    std::puts("ready");
    std::fflush(stdout);
    return std::getchar() == EOF ? 0 : 1;
}
EOS
c++ $flags throws.cc -o throws || fail "C++"
start ./throws
ask_in_vain --flat "$pid"
grep -q "'throws' knows is missing: it threw an exception" err || fail "throws"
grep -q ' explicit/fine$' out || fail "the one after it"
stop
