#!/bin/sh
# export_vs_folded.sh EXPORTMAKE WINDLASS MAKE_RECORDING: every format holds
# the same stacks with the same costs as folded ones do.
set -eu
. "$(dirname "$0")/../lib/have.sh"
exportmake=$(realpath "$1")
windlass=$(realpath "$2")
make_recording=$(realpath "$3")
here=$(cd "$(dirname "$0")" && pwd)
cases=$(cd "$here/../cli" && pwd)
PYTHONPATH=$cases/lib
export PYTHONPATH
need python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
LC_ALL=C
export LC_ALL
failed=0

# compare NAME TIME UNIT THREADS FORMAT=FILE...: with the stacks in `folded`
compare() {
    name=$1
    shift
    python3 "$here/export_vs_folded.py" folded "$@" ||
        { echo "export_vs_folded: $name differs"; failed=1; }
}

make() {
    "$exportmake" "$2" "$3" "$cases/export/golden/$1.recipe" "$cases/export/golden/$1.names" \
        "$4"
}

# go's own reader, where there is one. What it prints of hostile names cannot
# be told apart again.
compare_raw() {
    have go || return 0
    HOME=$work go tool pprof -raw pprof >raw 2>err ||
        { echo "$1: pprof: $(cat err)"; failed=1; }
    [ "$1" = hostile ] || compare "$@" pprof-raw=raw
}

# Named frames, inlined ones and names that no compiler would make.
for name in threads hostile; do
    threads=0
    [ $name != threads ] || threads=1
    for time in cpu:0 blocked:1 wall:2; do
        for format in folded pprof speedscope firefox view; do
            make $name $format $format "${time#*:}"
        done
        [ -s folded ] || [ $name$time = hostileblocked:1 ]
        compare $name "${time%:*}" 1000000 $threads pprof=pprof \
            speedscope=speedscope firefox=firefox view=view
    done
    compare_raw $name wall 1000000 $threads
done
for format in folded pprof speedscope firefox dhat view; do
    make heap $format $format 0
done
[ -s folded ]
compare heap alloc 1 0 pprof=pprof speedscope=speedscope firefox=firefox \
    dhat=dhat view=view
compare_raw heap alloc 1 0

# Through the command, of all recordings there are.
for recipe in "$cases"/report/golden/*.recipe; do
    name=$(basename "$recipe" .recipe)
    "$make_recording" in.wndl <"$recipe"
    unit=$(awk '$1 == "meta" { print $2; exit }' "$recipe")
    [ "$unit" -gt 0 ] || unit=1000000
    threads=$(awk '$1 == "thread" && ++n[$2] > 1 { two = 1 }
        END { print two + 0 }' "$recipe")
    for format in folded pprof speedscope firefox; do
        "$windlass" export -f $format --time wall in.wndl >$format 2>err
    done
    compare "$name" wall "$unit" "$threads" pprof=pprof \
        speedscope=speedscope firefox=firefox
    "$windlass" export -f json --time wall -o out.json.gz in.wndl 2>err
    "$windlass" report --json --tree --marks --time wall in.wndl >json
    gzip -dc out.json.gz | cmp - json || failed=1
done
"$make_recording" in.wndl <"$cases/report/heap_golden/two_processes.recipe"
"$windlass" report --json --max-frames 1000 in.wndl >json
"$windlass" export -f json in.wndl | cmp - json || failed=1
exit $failed
