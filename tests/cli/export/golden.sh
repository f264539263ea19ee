#!/bin/sh
# golden.sh EXPORTMAKE [--bless]: what golden/*.recipe become in each
# format, against golden/*.FORMAT; messages as protoc decodes them, pages as
# view_page.py does.
set -eu
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
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

# Names that no compiler would make, in the formats that others read; those
# that the other recipes have are compared by other tests.
for name in hostile hostile_heap; do
    for format in folded callgrind json dmd; do
        [ $name$format != hostiledmd ] || continue
        make $format
        check $name.$format
        case $format in
        json | dmd) python3 -m json.tool out >shown || failed=1 ;;
        callgrind)
            ! command -v callgrind_annotate >/dev/null ||
                callgrind_annotate out >shown || failed=1
            ;;
        esac
    done
done

for name in threads hostile heap hostile_heap; do
    for format in speedscope firefox; do
        make $format
        check $name.$format.json
    done
    if command -v python3 >/dev/null; then
        make view
        python3 "$here/../lib/view_page.py" out >decoded
        mv decoded out
        check $name.view
    fi
    case $name in *heap) make dhat; check $name.dhat.json ;; esac
    if command -v protoc >/dev/null; then
        make pprof
        gzip -dc out | protoc --proto_path="$cases" \
            --decode=windlass.Profile pprof.proto | messages >decoded
        mv decoded out
        check $name.pprof
    fi
done
[ $failed -eq 0 ] || exit 1
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
command -v protoc >/dev/null || { echo "skipped: no protoc"; exit 77; }
