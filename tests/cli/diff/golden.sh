#!/bin/sh
# golden.sh WINDLASS MAKE_RECORDING [--bless]: what diff says of recordings made
# from recipes of ../report/, against golden/*.expected.
cases=golden
. "$(dirname "$0")/../lib/golden_lib.sh"

# changed OUT SCRIPT: the recording of two processes, edited.
changed() {
    sed "$2" "$cases/../../report/golden/two_processes.recipe" | "$make_recording" "$1"
}

changed a1.wndl ''
changed a2.wndl 's/^sample 0 600/sample 0 620/'
changed a3.wndl 's/^sample 0 600/sample 0 590/'
changed b1.wndl 's/^sample 0 600/sample 0 900/; s/^sample 1 90/sample 1 10/'
changed b2.wndl 's/^sample 0 600/sample 0 890/; s/^sample 1 90/sample 1 10/'
changed same.wndl 's/^sample 0 150/sample 0 152/'
changed renamed.wndl 's/libhelp/libaid/; s/vdso/v/; /-:7f/d
    s,^image /opt/app/app,image /opt/app/ppa,'
changed cut.wndl 's/^done.*/cut 30/'
"$make_recording" blocked.wndl <"$cases/../../report/golden/blocked.recipe"
"$make_recording" none.wndl <"$cases/../../report/golden/no_samples.recipe"
"$make_recording" heap1.wndl <"$cases/../../report/heap_golden/two_processes.recipe"
sed 's/^counts 0 0 100 80/counts 0 0 100 70/' \
    "$cases/../../report/heap_golden/two_processes.recipe" | "$make_recording" heap2.wndl
"$make_recording" sampled.wndl <"$cases/../../report/heap_golden/sampled.recipe"

{
    try diff a1.wndl b1.wndl
    try diff --by line -n 2 a1.wndl b1.wndl
    try diff --by module a1.wndl b1.wndl
    try diff --by thread a1.wndl b1.wndl
    try diff --by path a1.wndl b1.wndl
    try diff --compare amount --filter libhelp a1.wndl b1.wndl
    try diff --time wall --filter '!vdso' blocked.wndl a1.wndl
    try diff --by path --json a1.wndl b1.wndl
    try diff a1.wndl cut.wndl
} >two.got
check two
{
    try diff a1.wndl a2.wndl a3.wndl -- b1.wndl b2.wndl
    try diff --compare amount a1.wndl a2.wndl -- b1.wndl b2.wndl
    try diff --json -n 1 a1.wndl a2.wndl -- b1.wndl b2.wndl
    try diff a1.wndl a2.wndl a3.wndl
    try diff --by path --plot plot.svg --filter libhelp -n 3 \
        a1.wndl a2.wndl b1.wndl b2.wndl
    cat plot.svg
    try diff a1.wndl a2.wndl a3.wndl a1.wndl a2.wndl a3.wndl b1.wndl \
        b2.wndl -- same.wndl cut.wndl
    try diff a1.wndl a2.wndl a3.wndl a1.wndl a2.wndl a3.wndl b1.wndl \
        b2.wndl same.wndl -n 1
} >many.got
check many
{
    try diff --threshold 5 a1.wndl b1.wndl
    try diff --threshold 20 a1.wndl b1.wndl -n 1
    try diff --threshold 0.01 a1.wndl same.wndl -n 1
    try diff --threshold 20 --compare amount a1.wndl b1.wndl -n 1
    try diff --threshold 1 --filter vdso a1.wndl b1.wndl
} >threshold.got
check threshold
{
    try diff --by fn --blocks live heap1.wndl heap2.wndl
    try diff --by line --blocks live heap1.wndl sampled.wndl
    try diff --by module --blocks live -s num-blocks heap1.wndl heap2.wndl heap1.wndl
    try diff --by path --blocks live --compare share -s req --process 100 \
        heap1.wndl heap2.wndl
    try diff --threshold 1 --blocks live heap1.wndl heap2.wndl
    try diff heap1.wndl heap2.wndl -- heap1.wndl
} >heap.got
check heap
{
    try diff a1.wndl heap1.wndl a1.wndl
    try diff heap1.wndl a1.wndl heap1.wndl
    try diff a1.wndl heap1.wndl --by fn
    try diff a1.wndl none.wndl
    try diff --time blocked a1.wndl a2.wndl
    try diff --by thread heap1.wndl heap2.wndl
    try diff --by fn -a heap1.wndl heap2.wndl
    try diff --by fn --time wall heap1.wndl heap2.wndl
    try diff --time cpu heap1.wndl heap2.wndl
    try diff --by fn heap1.wndl sampled.wndl
    try diff --by fn sampled.wndl heap1.wndl
    try diff heap1.wndl a1.wndl
    try diff --filter nothing_like_it --plot none.svg a1.wndl a2.wndl
    [ ! -e none.svg ] || echo a picture of nothing
    try diff -n 1 a1.wndl renamed.wndl
    try diff --blocks live a1.wndl a2.wndl
    try diff -f 3 a1.wndl a2.wndl a3.wndl
    try diff --heap a1.wndl a2.wndl
    try diff a1.wndl --
    try diff a1.wndl -- -- a2.wndl
    try diff -- a1.wndl
    try diff a1.wndl a2.wndl gone.wndl
    echo not a recording >broken.wndl
    try diff a1.wndl a2.wndl broken.wndl
    head -c 20 a1.wndl >short.wndl
    try diff a1.wndl short.wndl
    echo '{"version": 5, "invocation": {}}' >dmd.json
    try diff a1.wndl dmd.json
    try diff a1.wndl a2.wndl dmd.json
    try diff --by fn dmd.json dmd.json
} >errors.got
check errors

# Whatever is lost of a recording, there is an answer or a reason.
size=$(wc -c <a1.wndl)
at=0
while [ "$at" -lt "$size" ]; do
    head -c "$at" a1.wndl >part.wndl
    status=0
    "$windlass" diff part.wndl a2.wndl >part 2>&1 || status=$?
    [ "$status" -le 1 ] && [ -s part ] ||
        { echo "diff_golden: cut at $at: status $status"; failed=1; }
    at=$((at + 23))
done
exit $failed
