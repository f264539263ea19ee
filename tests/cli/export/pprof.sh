#!/bin/sh
# pprof.sh EXPORTMAKE: go's own pprof shows each function with the sums
# of folded stacks (its -raw output is compared by export_vs_folded.sh), and
# takes names that no compiler would make.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
exportmake=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
need go
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
HOME=$work LC_ALL=C
export HOME LC_ALL
failed=0

# top NAME UNIT: what pprof shows of all functions, as NAME FLAT CUM
top() {
    "$exportmake" pprof pprof "$here/golden/$1.recipe" \
        "$here/golden/$1.names" 0
    go tool pprof -top -unit="$2" -nodecount=1000 -nodefraction=0 \
        -edgefraction=0 pprof >top 2>err || { cat err; failed=1; }
    awk -v unit="$2" '
        shown {
            flat = $1; cum = $4
            sub(unit "$", "", flat); sub(unit "$", "", cum)
            sub(/^ *[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +/, "")
            sub(/ \(inline\)$/, "")
            print $0 " " flat " " cum
        }
        /^ *flat +flat%/ { shown = 1 }' top | sort
}

# sums NAME FIRST UNIT: the same of folded stacks; frames are from FIRST on
sums() {
    "$exportmake" folded folded "$here/golden/$1.recipe" \
        "$here/golden/$1.names" 0
    awk -v first="$2" -v unit="$3" '
        {
            cost = $NF * unit
            sub(/ [0-9]+$/, "")
            split("", seen)
            count = split($0, frames, ";")
            for (i = first; i <= count; i++) {
                if (!(frames[i] in seen))
                    cum[frames[i]] += cost
                seen[frames[i]]
            }
            flat[frames[count]] += cost
        }
        END {
            for (name in cum)
                printf "%s %d %d\n", name, flat[name], cum[name]
        }' folded | sort
}

top threads ns >got
sums threads 3 1000000 >want
[ "$(wc -l <want)" -gt 8 ]
diff want got || { echo "threads differ"; failed=1; }
top heap B >got
sums heap 2 1 >want
[ "$(wc -l <want)" -gt 8 ]
diff want got || { echo "a heap differs"; failed=1; }
for name in hostile hostile_heap; do
    top $name B >got
    [ "$(wc -l <got)" -eq 9 ] || { echo "$name: $(cut -c1-99 got)"; failed=1; }
done
exit $failed
