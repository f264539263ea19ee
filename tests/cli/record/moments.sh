#!/bin/sh
# CPU time is in the functions that used it: not that of before the recording
# in the first sample, and that of threads that live for less than an interval.
. "$(dirname "$0")/../lib/record_lib.sh"

# The total time of a function's row in ms.
total() {
    "$windlass" report -n 50 r.wndl >report
    awk -v name="$1" '{ time = 0
        for (i = 1; i < NF; i++) {
            if ($(i + 1) == "ms" || $(i + 1) == "us")
                time = $i * ($(i + 1) == "us" ? 0.001 : 1)
            if ($(i + 1) == name) { print int(time); exit }
        } }' report
}
# before loading|starting: the ms of CPU time in ./report.json.
before() {
    ns=$(sed -n "s/.*\"$1_cpu_ns\":\([0-9]*\).*/\1/p" report.json)
    echo $((${ns:-0} / 1000000))
}
# at_most NUMBER COUNT WHAT
at_most() {
    [ "$2" -le "$1" ] || fail "$2 $3, more than $1: $(cat report)"
}
for engine in $(engines); do
    # (Those take no sample of running threads, or none of short ones.)
    [ "$engine" != outside ] && [ "$engine" != tick ] || continue
    record 7 --engine "$engine" -- "$fixtures/moments" >used
    read -r innocent_ms request_ms <used
    innocent=$(total innocent)
    at_most $((innocent_ms + 30)) "${innocent:-0}" "ms in innocent() by $engine"
    # 300 ms of 500 threads; by 300 samples in expectation, with a standard
    # deviation of 11: half as many are 13 of them away, and still 9 if each
    # timer comes late by a tenth of a ms.
    requests=$(total request)
    at_least $((request_ms / 2)) "${requests:-0}" "ms in request() by $engine"
    at_most $((request_ms * 3 / 2)) "$requests" "ms in request() by $engine"
    # 300 samples of 300 ms may stand for more than was used, or for less: then
    # the rest is reported.
    "$windlass" report --json r.wndl >report.json
    set -- $(sed -n 's/.*"command_cpu_ns":\([0-9]*\),"cpu_ns":\([0-9]*\),"unsampled_cpu_ns":\([0-9]*\),.*/\1 \2 \3/p' report.json)
    [ "$1" -gt 400000000 ] && [ $(($2 + $3)) -ge "$1" ] ||
        fail "of $1 ns, $2 and $3 are reported by $engine: $(cat report)"
    # The 200 ms of the image before are not in the time before.
    at_most 150 "$(before loading)" "ms of linking by $engine"
    grep -q 'of it in exec and dynamic linking' report ||
        fail "$engine: no row for linking: $(cat report)"
    grep -q 'of it before recording began' report ||
        fail "$engine: no row for the start: $(cat report)"
done

# So is the time of processes that live for less.
record 0 -- sh -c 'i=0; while [ $i -lt 50 ]; do /bin/true; i=$((i + 1)); done'
"$windlass" report r.wndl >report
grep -q 'more is in none of the samples' report ||
    fail "short processes are missing: $(cat report)"

# What the loader runs before us, which a constructor of the first library stands
# for here, is time of dynamic linking, and in no function.
have gcc || exit 0
cat >slow.c <<'END'
#include <time.h>
__attribute__((constructor)) static void link_slowly(void)
{
    while (clock() < CLOCKS_PER_SEC / 10)
        ;
}
END
echo 'int main(void) { return 0; }' >quick.c
gcc -O1 -shared -fPIC -Wl,-z,initfirst -o libslow.so slow.c
gcc -O1 -o quick quick.c -Wl,--no-as-needed ./libslow.so
record 0 -- ./quick
"$windlass" report --json r.wndl >report.json
at_least 90 "$(before loading)" "ms of linking"
[ -z "$(total link_slowly)" ] || fail "linking has samples: $(cat report)"
