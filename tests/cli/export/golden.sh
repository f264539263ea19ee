#!/bin/sh
# export_golden.sh EXPORTMAKE [--bless]: what export/*.recipe become in each
# format, against export/*.FORMAT; messages as protoc decodes them, pages as
# view_page.py does.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
need python3
exportmake=$(realpath "$1")
bless=${2-}
here=$(cd "$(dirname "$0")" && pwd)
cases=$here/golden
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
LC_ALL=C
export LC_ALL
failed=0

# The 100 KB name would make the goldens long.
check() {
    sed 's/xxxx*/x.../g; s/^creator: windlass .*/creator: windlass/' out >got
    if [ "$bless" = --bless ]; then
        cp got "$cases/$1"
    elif ! diff -u "$cases/$1" got; then
        failed=1
    fi
}

# A message a line.
messages() {
    awk '{ sub(/^ +/, " "); printf "%s", $0 } /^}|^[^ ].*[^{]$/ { print "" }'
}

make() {
    "$exportmake" "$1" out "$cases/$name.recipe" "$cases/$name.names" "${2-0}"
}

# What the format of the golden `$1` is made and looked at with.
decode() {
    case $1 in
    view)
        python3 "$here/../lib/view_page.py" out >decoded
        mv decoded out
        ;;
    pprof)
        gzip -dc out | protoc --proto_path="$cases" \
            --decode=windlass.Profile pprof.proto | messages >decoded
        mv decoded out
        ;;
    json | dmd) python3 -m json.tool out >shown || failed=1 ;;
    callgrind)
        ! have callgrind_annotate ||
            callgrind_annotate out >shown || failed=1
        ;;
    esac
}

# A golden is RECIPE.FORMAT or RECIPE.FORMAT.json; an empty one is filled by
# --bless.
for golden in "$cases"/*; do
    golden=${golden##*/}
    name=${golden%%.*}
    format=${golden#*.}
    format=${format%.json}
    case $format in recipe | names | proto) continue ;; esac
    [ $format != pprof ] || have protoc || continue
    make $format
    decode $format
    check $golden
done
[ $failed -eq 0 ] || exit 1
need protoc
