#!/bin/sh
# SPDX-License-Identifier: MIT
# tools.sh WINDLASS INCLUDE: Memcheck, Helgrind, DRD and ThreadSanitizer find
# nothing in the log's writer, and a race of the program's data still.
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/memlog_lib.sh"
need valgrind
flags="-O1 -g -I$include $here/race.c -lpthread"
WINDLASS_MEMLOG=64k
export WINDLASS_MEMLOG
cc $flags -o clean || fail "cannot compile race.c"
cc -DPLANTED $flags -o racy || fail "cannot compile race.c with a race"

for tool in memcheck helgrind drd; do
    valgrind -q --tool=$tool --error-exitcode=9 ./clean >out 2>err ||
        fail "$tool: status $?"
    [ ! -s err ] || fail "$tool says something"
done
for tool in helgrind drd; do
    status=0
    valgrind -q --tool=$tool --error-exitcode=9 ./racy >out 2>err || status=$?
    [ "$status" -eq 9 ] || fail "$tool: status $status for a race"
    grep -q 'work (race.c:' err || fail "$tool reports another race"
    # The caller's line comes first, not one of the header.
    grep ' at 0x' err | grep -q 'memlog_' && fail "$tool reports the log"
done

cc -fsanitize=thread $flags -o clean_tsan && ./clean_tsan >out 2>err ||
    fail "ThreadSanitizer: status $?"
[ ! -s err ] || fail "ThreadSanitizer says something"
cc -fsanitize=thread -DPLANTED $flags -o racy_tsan || fail "cannot compile"
./racy_tsan >out 2>err && fail "ThreadSanitizer finds no race"
grep -q 'data race .*race.c.* in work' err || fail "ThreadSanitizer's race"

# Under all of them the log was written, and what is not there is counted: while
# one thread opens it, the others wait for nobody.
memlog list
# Other programs of the user may have logs, too.
grep -E ' (memcheck-|helgrind-|drd-|clean_tsan|racy_tsan)[^ ]*$' out >ours || true
[ "$(wc -l <ours)" -eq 7 ] || fail "not seven logs"
awk '$4 + $5 + $6 < 4 * 300 * 2 { exit 1 }' ours ||
    fail "events are lost"
exit 0
