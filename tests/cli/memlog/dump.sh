#!/bin/sh
# SPDX-License-Identifier: MIT
# dump.sh WINDLASS INCLUDE: logs as a recording: events as marks, sizes as a
# curve.
. "$(dirname "$0")/memlog_lib.sh"
need python3
cat >logs.c <<'EOS'
#include <windlass/memlog.h>
static struct wndl_memlog_type size = {
    "size", WNDL_MEMLOG_REPORT, 0, {{NULL, NULL}}, {0, 0}};
static struct wndl_memlog_type load = {
    "load", WNDL_MEMLOG_LOADED, 0, {{NULL, NULL}}, {0, 0}};
static struct wndl_memlog_type never = {
    "never ends", WNDL_MEMLOG_OTHER, 0, {{NULL, NULL}}, {0, 0}};
int main(void)
{
    const int64_t small = 1000000;
    const int64_t large = 5000000;
    wndl_memlog_append(&size, &small, 1);
    wndl_memlog_begin(&never, NULL, 0);
    wndl_memlog_begin(&load, &large, 1);
    wndl_memlog_append(&size, &large, 1);
    wndl_memlog_end(&load, &large, 1);
    wndl_memlog_append(&size, &small, 1);
    return 0;
}
EOS
cc -O1 -I"$include" logs.c -o logs || fail "cannot compile"
./logs && ./logs || fail "logs: $?"
# (Other tests' programs may have logged in the folder of /dev/shm, as `other`.)
cp logs other
./other || fail "other: $?"
memlog dump --process logs -o all.wndl
grep -q 'wrote all.wndl' err || fail "nothing was written"
"$windlass" export -f firefox -o all.json all.wndl >out 2>err || fail "export: $?"
cat >check.py <<'EOS'
import json
import sys
profile = json.load(open("all.json"))
strings = profile["shared"]["stringArray"]
assert len(profile["counters"]) == 2, profile["counters"]
for counter in profile["counters"]:
    assert counter["name"] == "RSS"
    assert counter["samples"]["count"] == [1000000, 4000000, -4000000], counter
threads = [t for t in profile["threads"] if t["markers"]["length"] != 0]
assert len(threads) == 2, len(threads)
for thread in threads:
    names = [strings[i] for i in thread["markers"]["name"]]
    assert sorted(names) == sorted(sys.argv[1:]), names
EOS
python3 check.py "size: resident 1 MB" "load end: size 5 MB" \
    "size: resident 5 MB" "never ends begin" "size: resident 1 MB" \
    >out 2>&1 || fail "the export"

# What the options select is dumped, and nothing else.
memlog dump --process logs --type size -o sizes.wndl
"$windlass" export -f firefox -o all.json sizes.wndl >out 2>err ||
    fail "export: $?"
python3 check.py "size: resident 1 MB" "size: resident 5 MB" \
    "size: resident 1 MB" >out 2>&1 || fail "the export of one type"

# Recordings take the logs of their processes in.
cat >check_both.py <<'EOS'
import json
import sys
both = json.load(open(sys.argv[1]))
assert len(both["counters"]) == 1
assert both["counters"][0]["samples"]["count"][0] == 1000000
threads = [t for t in both["threads"] if t["markers"]["length"] != 0]
assert [t["markers"]["length"] for t in threads] == [5]
EOS
# has_both FILE: the profile and the events.
has_both() {
    "$windlass" export -f firefox -o both.json "$1" >out 2>err ||
        fail "export of $1: $?"
    python3 check_both.py both.json >out 2>&1 || fail "the export of $1"
    rm both.json
}
"$windlass" record -o cpu.wndl ./logs >out 2>err || fail "record: $?"
grep -q '6 events of memory event logs are in cpu.wndl' err ||
    fail "nothing is said of the events"
has_both cpu.wndl
"$windlass" heap -q -o heap.wndl ./logs >out 2>err || fail "heap: $?"
has_both heap.wndl
rm run/windlass/*.ring
"$windlass" record -q -o none.wndl true >out 2>err || fail "record: $?"

# In a copy of a recording: those that it does not have.
WINDLASS_MEMLOG=off "$windlass" record -q -o without.wndl \
    ./logs >out 2>err || fail "record: $?"
"$windlass" export -f firefox -o without.json without.wndl >out 2>err ||
    fail "export: $?"
grep -q '"counters":\[\]' without.json || fail "a size that nobody logged"
memlog dump -o twice.wndl --with cpu.wndl
grep -q ' events are of other processes or times than cpu.wndl, or it has' err ||
    fail "nothing is said of what is left out"
has_both twice.wndl
"$windlass" memlog dump -o no.wndl --with dump.sh-not-there >out 2>err &&
    fail "a recording that is not there"
"$windlass" memlog dump -o no.wndl --with logs >out 2>err && fail "no recording"
"$windlass" memlog dump -o all.wndl >out 2>err && fail "a recording was overwritten"
"$windlass" memlog dump >out 2>err && fail "no file"
exit 0
