#!/bin/sh
# debuginfod.sh WINDLASS MAKE_RECORDING: a report asks a debuginfod server for
# several debug files at a time, and says on a terminal what it waits for.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
make_recording=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
need cc nm readelf objcopy strip python3 script
ldconfig -p 2>/dev/null | grep -q libdebuginfod.so.1 ||
    skip "no libdebuginfod.so.1"
work=$(mktemp -d)
server=
stop() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || :
    wait 2>/dev/null || :
    rm -rf "$work"
}
trap stop EXIT
cd "$work"
export LC_ALL=C HOME="$work" DEBUGINFOD_CACHE_PATH="$work/cache"
unset WINDLASS_DEBUG_DIRS http_proxy HTTP_PROXY all_proxy ALL_PROXY || :
mkdir served

fail() {
    echo "report_debuginfod: $*"
    exit 1
}

{
    echo "meta 1000000 1 1 box / ./program"
    echo "process 0 7 $work/lib1.so ./program"
    echo "thread 0 7 program"
    for i in 1 2 3; do
        printf '%s int hidden%d(int n) { return n * %d; }\n' \
            'static __attribute__((noinline, used))' $i $i >lib$i.c
        cc -g -O1 -shared -fPIC -Wl,--build-id -o lib$i.so lib$i.c
        id=$(readelf -n lib$i.so | sed -n 's/.*Build ID: //p')
        at=$(nm lib$i.so | awk -v name=hidden$i '$3 == name { print $1 }')
        objcopy --only-keep-debug lib$i.so "served/$id"
        strip lib$i.so
        echo "image $work/lib$i.so $id"
        echo "sample 0 10 0 $((i - 1)):$(printf %x "0x$at")!"
    done
    echo "done 0 0"
} | "$make_recording" a.wndl

python3 "$here/debuginfod.py" served 3 >port &
server=$!
for _ in $(seq 100); do
    [ ! -s port ] || break
    sleep 0.1
done
DEBUGINFOD_URLS=http://127.0.0.1:$(cat port)
export DEBUGINFOD_URLS
TERM=xterm timeout 100 script -qec \
    "$windlass report --no-pager --debuginfod a.wndl >report" shown >script.out ||
    fail "report fails: $(cat script.out)"
for i in 1 2 3; do
    grep -q "hidden$i" report || fail "hidden$i has no name: $(cat report)"
done
grep -q 'windlass: looking up symbols, [12] s' shown ||
    fail "says nothing on the terminal: $(cat shown)"

# Nothing but the report where there is no terminal; and the cache answers.
kill "$server"
wait "$server" || :
server=
timeout 100 "$windlass" report --debuginfod a.wndl >again 2>said ||
    fail "report of what is cached fails: $(cat said)"
cmp report again
[ ! -s said ] || fail "says without a terminal: $(cat said)"

# A server that refuses, and nothing in the cache.
DEBUGINFOD_CACHE_PATH="$work/none" timeout 100 "$windlass" report -v \
    --debuginfod a.wndl >refused 2>said || fail "report without the server fails: $(cat said)"
grep -q 'debuginfod failed for 3 modules: .*Connection refused' said ||
    fail "does not say that the server refuses: $(cat said)"
grep -q 'lib1.so: a debug file is not used: .*Connection refused' said ||
    fail "does not say of a module that the server refuses: $(cat said)"
