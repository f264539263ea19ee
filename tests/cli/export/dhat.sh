#!/bin/sh
# dhat.sh EXPORTMAKE: Valgrind's own viewer opens what is written for
# it, and shows names as they are.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
exportmake=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
need node
viewer=
for path in /usr/libexec/valgrind /usr/lib/*/valgrind /usr/lib/valgrind; do
    [ ! -f "$path/dh_view.js" ] || viewer=$path/dh_view.js
done
[ -n "$viewer" ] || skip "no dh_view of valgrind"
LC_ALL=C # numbers are written as there
export LC_ALL
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0

# shows TEXT: somewhere on the page
shows() {
    grep -qF -- "$1" page || { echo "$name: does not show: $1"; failed=1; }
}

for name in heap hostile_heap; do
    "$exportmake" dhat out.json "$here/golden/$name.recipe" \
        "$here/golden/$name.names"
    node "$here/dh_view.js" "$viewer" out.json >page ||
        { echo "$name: refused"; failed=1; }
    case $name in
    heap)
        shows 'At t-end:  9,560 bytes (100%) in 76 blocks'
        shows '#2: 0x20: make (tiny.h:3)'
        shows '#3: 0x20: maker (maker.c:14)'
        shows '[truncated]'
        ;;
    *)
        shows "0x1: <script>alert('x')</script> (a.c:1)"
        shows 'main (<b>"main".c:1)'
        shows '__proto__ (a.c:7)'
        shows 'quote" back\slash'
        ;;
    esac
done
exit $failed
