#!/bin/sh
# attached.sh: processes that run already are recorded from outside
# (`record -p`): stacks of running and of blocked threads, threads that begin
# later, children, other programs in their place; they do not notice it.
. "$(dirname "$0")/../lib/record_lib.sh"
case $(uname -m) in
x86_64 | aarch64) ;;
*) skip "another processor" ;;
esac
target=
trap 'exec 9>&-
    [ -z "$target" ] || kill -KILL $target 2>/dev/null || true
    rm -rf "$work"' EXIT
cc -g -O2 -pthread -o threads "$sources/../../cli/stack/threads.c"
mkfifo in

# start PROGRAM [ARGUMENT...]: it says that it is ready, and its number, $pid.
# It ends when descriptor 9 is closed.
start() {
    rm -f out
    "$@" <in >out 2>/dev/null 9>&- &
    target=$!
    exec 9>in
    until_true "it is ready" grep -qs '^ready' out
    pid=$(sed -n 's/^ready //p' out)
}
finish() {
    exec 9>&-
    wait "$target" || true
    target=
}

# has THREAD STACK: each sample of the thread has this in it.
has() {
    grep "^[^;]*;$1;" folded.txt >stacks || fail "no sample of $1"
    ! grep -v ";$2\(;\| \)" stacks || fail "not in all stacks of $1: $2"
}
fold() {
    "$windlass" export -f folded -o folded.txt "$@" r.wndl 2>/dev/null ||
        fail "no folded stacks"
}
look() {
    cat "/proc/$pid/maps"
    readlink "/proc/$pid/fd"/*
    ls "/proc/$pid/task"
    grep -E '^(Sig[^Q]|Shd|Tracer|Seccomp)' "/proc/$pid/status"
}

start ./threads
look >before
record 0 -p "$pid" -d 2
look >after
cmp before after || fail "the process is another one: $(diff before after)"
complete_above 99
fold
for name in runner diver handler; do
    at_least 20 "$(samples_of "\$NF == \"$name\"")" "samples of $name"
done
has runner 'start_thread;runner;run;spin'
has diver 'start_thread;diver;descend;descend;descend.*;run;spin'
has handler 'raise_it;.*;on_signal;run;spin'
[ "$(grep -c 'descend' stacks)" -eq 0 ] || fail "stacks are mixed"
# A stack of 400 KiB: all of its frames, of which a sample copies the inner ones.
[ "$(grep ';diver;' folded.txt | head -n 1 | tr ';' '\n' | grep -c '^descend')" \
    -eq 401 ] || fail "the deep stack has not all its frames"
# Blocked threads are seen from the start.
fold --time blocked
has reader 'reader;wait_for_byte;.*'
grep -q 'po.*;epoll_wait' folded.txt || fail "no blocked poller"
! grep -q interrupted out || fail "a call was interrupted"

# Some threads; without blocked ones; a smaller part of the stack.
record 0 -p "$pid" -d 1 --threads runner --no-off-cpu --stack-size 2K
complete_above 99
at_least 20 "$(samples_of '$NF == "runner"')" "samples of runner"
[ "$(grep -c ^thread dump)" -eq "$(grep -c '^thread.* runner$' dump)" ] ||
    fail "threads that were not wanted: $(cat dump)"

# It ends with a command, whose status it has, or with a signal, and may pause.
record 3 -p "$pid" -- sh -c 'sleep 1; exit 3'
at_least 20 "$(samples_of 1)" "samples while the command ran"
grep -q "^process 0 .*threads" dump || fail "not the process: $(cat dump)"
"$windlass" record -r 200 -o signal.wndl -p "$pid" 2>said 9>&- &
recorder=$!
is_recorded() {
    "$windlass" ctl "$recorder" status | grep -q '[1-9][0-9]* samples, 1 of 1'
}
until_true "it is recorded" is_recorded
"$windlass" ctl "$pid" pause >paused || fail "not paused"
"$windlass" ctl "$pid" start >paused || fail "not started again"
kill -INT "$recorder"
wait "$recorder" || fail "exit status $?: $(cat said)"
"$recdump" signal.wndl >dump
grep -q '^done 1 ' dump || fail "a signal ends it too early"

# Samples that had no room are counted, in the recording too: 200 copies of
# 48 KiB for each second of CPU time, in rings of 8 MiB for each CPU.
used() {
    cat "/proc/$pid/task"/*/schedstat | awk '{ s += $1 } END { print int(s / 1e6) }'
}
has_used() {
    [ "$(used)" -ge "$1" ]
}
"$windlass" record -r 200 -o full.wndl -p "$pid" --stack-size 48K 2>said 9>&- &
recorder=$!
until_true "it is recorded" is_recorded
kill -STOP "$recorder"
until_true "the rings are full" has_used $(($(used) + 4000))
kill -CONT "$recorder"
until_true "it goes on" has_used $(($(used) + 300))
kill -INT "$recorder"
wait "$recorder" || fail "exit status $?: $(cat said)"
"$recdump" full.wndl >dump
grep -q '^lost 1 [1-9]' dump || fail "nothing is lost: $(cat dump)"
grep -q 'dropped: the buffer was full' said || fail "$(cat said)"

# It ends with the process.
"$windlass" record -r 200 -o r.wndl -p "$pid" 2>said 9>&- &
recorder=$!
until_true "it is recorded" is_recorded
finish
wait "$recorder" || fail "exit status $?: $(cat said)"

# ---- threads and processes that begin meanwhile

cat >later.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) static void burn(int ms)
{
    struct timespec now;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < ms);
}

static void *work(void *name)
{
    prctl(PR_SET_NAME, name);
    burn(*(char *)name == 'o' ? 160 : 60); /* the last: "other" */
    return NULL;
}

/* Threads and children, one after another, until its input ends; then it runs
 * itself with a word, for a moment. */
int main(int argc, char **argv)
{
    char byte;
    if (argc > 1) {
        work("other");
        return 0;
    }
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
    while (read(0, &byte, 1) > 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, "later");
        pthread_join(thread, NULL);
        pid_t child = fork();
        if (child == 0) {
            work("child");
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    return execl("/proc/self/exe", "./later", "again", (char *)NULL);
}
C
cc -O1 -g -pthread -o later later.c
for option in -p --tree; do
    start ./later
    "$windlass" record -r 200 -o r.wndl $option "$pid" 2>said 9>&- &
    recorder=$!
    until_true "it is recorded" \
        sh -c "'$windlass' ctl $recorder status | grep -q '1 of 1'"
    printf 12345 >&9
    finish
    wait "$recorder" || fail "exit status $?: $(cat said)"
    "$recdump" r.wndl >dump
    complete_above 99
    sampled 200 "of threads that began later" '$NF == "later"'
    sampled 100 "of the program that came after it" '$NF == "other"'
    children=$(grep -c '^thread.* child$' dump || true)
    [ $option = -p ] || sampled 200 "of children" '$NF == "child"'
    [ $option = --tree ] || [ "$children" -eq 0 ] || fail "children are recorded"
    # Nothing counts twice.
    awk '$1 == "thread" && $NF == "later" && $6 > 75e6 { bad++ }
        END { exit bad }' dump || fail "more time than there was: $(cat dump)"
done

# ---- stacks that change, and are longer than the copies at first

cat >deep.c <<'C'
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { DEPTH = 40 };

/* 1 KiB a call. */
__attribute__((noinline)) static int descend(int depth, unsigned seed)
{
    volatile char room[960];
    room[seed % sizeof room] = (char)seed;
    if (depth == 0) {
        for (volatile int i = 0; i < 2000; i++)
            ;
        return room[seed % sizeof room];
    }
    return descend(depth - 1, seed * 3 + 1) + room[0];
}

int main(void)
{
    int sum = 0;
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
    for (unsigned i = 0; i < 2000000000; i++)
        sum += descend(DEPTH, i);
    return sum == 1;
}
C
cc -g -O1 -fno-optimize-sibling-calls -o deep deep.c
start ./deep
record 0 -p "$pid" -d 2
complete_above 80
at_least 8 "$(awk '$1 == "end" && $2 == 1 { print $3 }' dump)" "truncated stacks"
record 0 -p "$pid" -d 1 --stack-size 16K
awk '$1 == "end" && $2 == 0 { whole = $3 } $1 == "end" && $2 != 0 { cut += $3 }
    END { exit !(cut > whole) }' dump || fail "the copy has grown: $(cat dump)"
grep -q 'ask for more with --stack-size' said || fail "$(cat said)"
kill -KILL "$target"
finish

# ---- without perf events: running threads are stopped for a moment

start ./threads
look >before
record 0 --engine stop -p "$pid" -d 2
look >after
cmp before after || fail "the process is another one: $(diff before after)"
complete_above 99
for name in runner diver handler; do
    sampled 100 "of $name" "\$NF == \"$name\""
done
fold
has runner 'start_thread;runner;run;spin'
has handler 'raise_it;.*;on_signal;run;spin'
grep -q 'threads were stopped [0-9]* times' said || fail "$(cat said)"
! grep -q interrupted out || fail "a call was interrupted"
# Its CPU time is that of the kernel's account, but for the last interval.
awk '$1 == "times" { run += $3; } $1 == "thread" { in_samples += $6 }
    END { exit !(in_samples < run + 1e6 && in_samples > 0.8 * run) }' dump ||
    fail "other times than the kernel's: $(cat dump)"
finish
start ./later
"$windlass" record --engine stop -o r.wndl --tree "$pid" 2>said 9>&- &
recorder=$!
until_true "it is recorded" \
    sh -c "'$windlass' ctl $recorder status | grep -q '1 of 1'"
printf 12345 >&9
finish
wait "$recorder" || fail "exit status $?: $(cat said)"
"$recdump" r.wndl >dump
sampled 60 "of threads that began later" '$NF == "later"'
grep -q '^thread.* child$' dump || fail "no children: $(cat dump)"

# ---- programs that nothing can be loaded into

cc -O1 -g -static -o still "$sources/burn.c"
record 4 -- ./still 350 4
! grep -q ^unfollowed dump || fail "a static program is not recorded"
sampled 200 "of a static program"
complete_above 99
fold
grep -q 'main;burn' folded.txt || fail "no names: $(cat folded.txt)"
# Its children, and a program in its place, are recorded as always.
cat >starts.c <<'C'
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    if (argc > 2)
        return execl("/bin/sh", "sh", "-c", argv[1], (char *)NULL);
    return argc > 1 ? system(argv[1]) != 0 : 1;
}
C
cc -O1 -static -o starts starts.c
for word in '' exec; do
    # shellcheck disable=SC2086 # a word or none
    record 0 -- ./starts "sleep 0.4; $fixtures/burn 300 0" $word
    sampled 200 "of a child of a static program" '$NF == "burn"'
    complete_above 99
    ! awk '$1 == "thread" && $NF == "burn" && $6 > 400e6' dump | grep . ||
        fail "it is sampled twice: $(cat dump)"
done

# ---- refused

refused() {
    expected=$1
    text=$2
    shift 2
    status=0
    rm -f r.wndl
    "$windlass" record -o r.wndl "$@" 2>said || status=$?
    [ $status -eq "$expected" ] || fail "exit status $status: $*: $(cat said)"
    grep -qF -e "$text" said || fail "$*: $(cat said)"
    [ ! -e r.wndl ] || fail "$*: a recording"
}
refused 2 "takes numbers of processes" -p x
refused 2 "takes numbers of processes" -p 1,
refused 2 "choose one of" -p 1 --tree 1
refused 2 "leave out --heap" -p 1 --heap
refused 2 "with --engine auto, outside or stop only" -p 1 --engine timer
refused 125 "--engine stop -p PID" --engine stop -- true
refused 2 "is of no use" -p 1 --no-children
refused 2 "--stack-size takes 1024 to 65016" -p 1 --stack-size 64K
refused 2 "COMMAND is missing"
refused 125 "there is no process 2147483647" -p 2147483647
start ./threads
for task in "/proc/$pid/task"/*; do
    [ "${task##*/}" -eq "$pid" ] || tid=${task##*/}
done
refused 125 "$tid is a thread of process $pid" -p "$tid"
refused 127 "none" -p "$pid" -- ./none
(
    ulimit -n 16
    refused 125 "ulimit -n" -p "$pid"
)
if [ "$(id -u)" -eq 0 ] && have setpriv; then
    chmod 755 "$work"
    cp "$windlass" ./copy
    mkdir -m 777 theirs
    status=0
    (cd theirs && XDG_RUNTIME_DIR=$work/theirs setpriv --reuid 65534 \
        --regid 65534 --clear-groups ../copy record -o r.wndl -p "$pid") \
        2>said || status=$?
    [ $status -eq 125 ] || fail "exit status $status for another user"
    grep -q "process $pid belongs to user 0 (root)" said || fail "$(cat said)"
fi
finish

# ---- as another user, whose events leave out the kernel

[ "$(id -u)" -eq 0 ] && have setpriv || exit 0
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] || exit 0
user="setpriv --reuid 65534 --regid 65534 --clear-groups"
# shellcheck disable=SC2086 # words
start $user ./threads
# shellcheck disable=SC2086
(cd theirs && XDG_RUNTIME_DIR=$work/theirs exec $user ../copy record -r 200 \
    -o u.wndl -p "$pid") 2>said 9>&- &
recorder=$!
until_true "it is recorded" env XDG_RUNTIME_DIR="$work/theirs" sh -c \
    "'$windlass' ctl $recorder status | grep -q '1 of 1'"
until_true "it has run" has_used $(($(used) + 500))
kill -INT "$recorder"
wait "$recorder" || fail "exit status $?: $(cat said)"
"$recdump" theirs/u.wndl >dump
sampled 100 "of a user's process"
complete_above 99
finish
