#!/bin/sh
# speedscope.sh EXPORTMAKE MODULES: speedscope itself, in headless
# Chromium, opens what is written for it, and shows its sums. npm fetches it
# into MODULES, once for a build.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
exportmake=$(realpath "$1")
mkdir -p "$2"
modules=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
browser=$(command -v chromium || command -v chromium-browser || true)
[ -n "$browser" ] || skip "no chromium"
need node
LC_ALL=C # numbers are written as there
export LC_ALL
"$here/../../consumers/fetch.sh" "$modules" || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
HOME=$work
export HOME

for name in threads hostile heap hostile_heap; do
    "$exportmake" speedscope "$name.json" "$here/golden/$name.recipe" \
        "$here/golden/$name.names" 2
done
timeout 600 node "$here/../../consumers/speedscope.mjs" "$modules/node_modules" \
    "$browser" threads.json hostile.json heap.json hostile_heap.json >page
failed=0

# shows FIELD...: in a line of what the pages said
shows() {
    grep -qF -- "$(printf '%s\t' "$@" | sed 's/.$//')" page ||
        { echo "does not show: $*"; failed=1; }
}

shows profile 'app [4711] work;er"<b> [4712]'
shows row '60.00ms (77%)' '60.00ms (77%)' tiny
shows row '78.00ms (100%)' '0.00ns (<0.01%)' middle
shows row '1.00ms (2.8%)' '1.00ms (2.8%)' "<script>alert('x')</script>"
shows row '7.00ms (19%)' '7.00ms (19%)' __proto__
shows profile 'app [100]: bytes allocated'
exit $failed
