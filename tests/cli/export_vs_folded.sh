#!/bin/sh
# export_vs_folded.sh EXPORTMAKE WINDLASS MAKE_RECORDING: every format holds
# the same stacks with the same costs as folded ones do.
set -eu
exportmake=$(realpath "$1")
windlass=$(realpath "$2")
make_recording=$(realpath "$3")
here=$(cd "$(dirname "$0")" && pwd)
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
LC_ALL=C
export LC_ALL
failed=0

# Bytes that are not UTF-8 are left as they are in folded stacks alone.
sorted() {
    iconv -f UTF-8 -t UTF-8 <"$1" >/dev/null 2>&1 && cat "$1" ||
        python3 -c 'import sys
sys.stdout.buffer.write(sys.stdin.buffer.read().decode("utf-8", "replace")
    .encode())' <"$1"
}

# compare WHAT FORMAT FILE TIME UNIT THREADS: with the stacks in `folded`
compare() {
    python3 "$here/export_to_folded.py" "$2" "$3" "$4" "$5" "$6" |
        sort >got
    sorted folded | sort >want
    if ! diff want got >difference; then
        echo "export_vs_folded: $1 as $2 of $4:"
        cut -c1-300 difference | head -n 20
        failed=1
    fi
}

# go's own reader, where there is one. What it prints of hostile names cannot
# be told apart again.
compare_raw() {
    command -v go >/dev/null || return 0
    HOME=$work go tool pprof -raw "$2" >raw 2>err ||
        { echo "$1: pprof: $(cat err)"; failed=1; }
    [ "$1" = hostile ] || compare "$1" pprof-raw raw "$3" "$4" "$5"
}

# Named frames, inlined ones and names that no compiler would make.
for name in threads hostile; do
    threads=0
    [ $name != threads ] || threads=1
    for time in cpu:0 blocked:1 wall:2; do
        make() {
            "$exportmake" "$1" "$2" "$here/export/$name.recipe" \
                "$here/export/$name.names" "${time#*:}"
        }
        make folded folded
        make pprof out.pb.gz
        make speedscope out.speedscope.json
        [ -s folded ] || [ $name$time = hostileblocked:1 ]
        compare $name pprof out.pb.gz "${time%:*}" 1000000 $threads
        compare $name speedscope out.speedscope.json "${time%:*}" 1000000 \
            $threads
    done
    compare_raw $name out.pb.gz wall 1000000 $threads
done
time=cpu:0
name=heap
make folded folded
make pprof out.pb.gz
compare heap pprof out.pb.gz alloc 1 0
compare_raw heap out.pb.gz alloc 1 0
make speedscope out.speedscope.json
compare heap speedscope out.speedscope.json alloc 1 0
make dhat out.dhat.json
compare heap dhat out.dhat.json alloc 1 0

# Through the command, of all recordings there are.
for recipe in "$here"/report/*.recipe; do
    name=$(basename "$recipe" .recipe)
    "$make_recording" in.wndl <"$recipe"
    unit=$(awk '$1 == "meta" { print $2; exit }' "$recipe")
    [ "$unit" -gt 0 ] || unit=1000000
    threads=$("$windlass" report --by thread --json in.wndl | python3 -c '
import collections, json, sys
rows = json.load(sys.stdin)["threads"]
count = collections.Counter(r["process"] for r in rows)
print(int(any(n > 1 for n in count.values())))')
    "$windlass" export -f folded --time wall in.wndl >folded 2>err
    for format in pprof speedscope; do
        "$windlass" export -f $format --time wall in.wndl >out 2>err
        compare "$name" $format out wall "$unit" "$threads"
    done
done
exit $failed
