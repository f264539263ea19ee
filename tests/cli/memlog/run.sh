#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh WINDLASS INCLUDE: programs that do not log, by `memlog run` and watched
# from outside.
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/memlog_lib.sh"
# (With optimisation, memory that nobody reads would not be written.)
cc -O0 -D_GNU_SOURCE "$here/calls.c" -o calls -lpthread ||
    fail "cannot compile calls.c"

# Each kind of call, with the module that made it; small ones are none.
status=0
"$windlass" memlog run -- ./calls >out 2>err || status=$?
[ "$status" -eq 7 ] || fail "the exit status is $status, not 7"
memlog show --process calls
while read -r pattern; do
    grep -q -e "$pattern" out || fail "no event: $pattern"
done <<'EOS'
 start: ./calls$
 mmap: 8.4 MB at 0x[0-9a-f]*, calls$
 madvise: 4.2 MB at 0x[0-9a-f]*, calls$
 mremap: 4.2 MB at 0x[0-9a-f]*, calls$
 mremap to less: 2.1 MB at 0x[0-9a-f]*, calls$
 munmap: 10 MB at 0x[0-9a-f]*, calls$
 mmap of code: 5.2 MB at 0x[0-9a-f]*, calls$
 reserved: address 0x[0-9a-f]*, size 105 MB, calls$
 brk: 262 kB at 0x[0-9a-f]*, calls$
 malloc_trim: .* in .*, calls$
 thread begin: stack 3.1 MB$
 thread end$
 fork$
 spawn: true$
 rss: resident [0-9.]* [kM]B$
 exit$
EOS
[ "$(grep -c ' brk: ' out)" -eq 4 ] || fail "16 small steps are not 4 large ones"
grep -q ' 4.1 kB at ' out && fail "a small mapping is an event"
memlog show --json --process calls --type mmap
grep -q '"role":"mapped".*"text":"calls","frames":\["0x[0-9a-f]*"\]}$' out ||
    fail "no caller"
memlog show --process true
grep -q ' start: ' out || fail "a program that it started has no log"

# A larger step: the small ones of brk come together.
"$windlass" memlog run --above 1m -- ./calls >out 2>err || true
memlog show --process calls --type brk
[ "$(grep -c ' brk: 1.0 MB' out)" -eq 1 ] || fail "not one step of 1 MiB"

# How it ended is how it ends here.
status=0
"$windlass" memlog run -- ./calls kill 15 >out 2>err || status=$?
[ "$status" -eq 143 ] || fail "killed by 15: status $status"
status=0
"$windlass" memlog run -- ./no-such-program >out 2>err || status=$?
[ "$status" -eq 127 ] || fail "not found: status $status"
grep -q 'cannot execute ./no-such-program: No such file' err || fail "and silent"
status=0
"$windlass" memlog run >out 2>err || status=$?
[ "$status" -eq 2 ] || fail "no command: status $status"
status=0
"$windlass" memlog watch >out 2>err || status=$?
[ "$status" -eq 2 ] || fail "nothing to watch: status $status"
"$windlass" memlog watch 999999999 >out 2>err && fail "no such process"

# One of three processes leaks: it comes first, with the time and the cause. (The
# size may be read for the last time between the first mapping and its first byte.)
"$windlass" memlog run -- sh -c './calls grow </dev/null & ./calls leak &
    ./calls kill 0; wait' >out 2>err || fail "three processes: $?"
memlog summary --process calls
head -1 out | grep -q \
    '^calls\[[0-9]*\]: RSS grew 8[0-9] MB between ..:.. and ..:..; [0-9]* % of it in \(1[0-9] mappings (calls: 84\|9 mappings (calls: 75\) MB)' ||
    fail "the leak is not the first"

# What the libc's allocator maps passes every preload by: steps from outside.
rm -rf run/windlass state/windlass
mkfifo to
"$windlass" memlog run -- ./calls grow <to >ended 2>&1 &
run=$!
exec 3>to
until_shown ' calls\[[0-9]*\] rss: .*, swapped '
printf x >&3
until_shown ' calls\[[0-9]*\] step: 67 MB at 0x'
until_shown ' calls\[[0-9]*\] rss: resident 6[6-9] MB, swapped '
memlog summary --process calls
grep -q 'RSS grew 6[4-9] MB between .*; [0-9]* % of it in [1-9] mapping' out ||
    fail "the summary of growth seen from outside"
pid=$("$windlass" memlog show --process calls --type step |
    sed -n 's/.* calls\[\([0-9]*\)\].*/\1/p' | tail -1)
memlog list
grep -q "^$pid *runs .* calls (seen by $run)\$" out || fail "who saw it?"
memlog summary "$pid"
[ "$(wc -l <out)" -eq 1 ] || fail "two summaries of one process"
printf x >&3
exec 3>&-
status=0
wait "$run" || status=$?
[ "$status" -eq 0 ] || fail "the exit status of growth is $status"

# A process that is not ours to start.
./calls grow <to >ended 2>&1 &
pid=$!
exec 3>to
until grep -q '^calls$' "/proc/$pid/comm"; do sleep 0.1; done
"$windlass" memlog watch --interval 0.05 "$pid" >watched 2>&1 &
watcher=$!
until_shown " calls\\[$pid\\] rss: " "$pid"
grep -q ' start: ' out && fail "a start was seen from outside"
printf x >&3
until_shown " calls\\[$pid\\] step: 67 MB at 0x" "$pid"
printf x >&3
exec 3>&-
wait "$pid" || fail "a watched process ended with $?"
wait "$watcher" || fail "the watcher ended with $?: $(cat watched)"
memlog show "$pid"
grep -q " calls\\[$pid\\] end\$" out || fail "the end was not seen"

# A session: the line is a shell's.
memlog list
before=$(grep -c ' calls$' out)
"$windlass" memlog enable >enable || fail "enable"
(. ./enable && exec ./calls) >out 2>err || [ $? -eq 7 ] || fail "enabled"
memlog list
[ "$(grep -c ' calls$' out)" -gt "$before" ] || fail "enabled, and no log"
exit 0
