#!/bin/sh
# browser.sh EXPORTMAKE CONSUMERS LIBRARIES: the viewer's page: its types
# are checked, its model's tests pass, and headless Chromium shows what is in
# recordings and does what one clicks. npm fetches into the two folders, once
# for a build.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
exportmake=$(realpath "$1")
mkdir -p "$2" "$3"
consumers=$(realpath "$2")
libraries=$(realpath "$3")
here=$(cd "$(dirname "$0")" && pwd)
viewer=$here/../../../viewer
browser=$(command -v chromium || command -v chromium-browser || true)
[ -n "$browser" ] || skip "no chromium"
need node
"$here/../../consumers/fetch.sh" "$consumers" || exit 77
"$here/../../consumers/fetch.sh" "$libraries" "$viewer" || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$viewer/src" "$viewer/test" "$viewer"/*.json "$viewer/page.html" \
    "$viewer/bundle.mjs" "$work"
ln -s "$libraries/node_modules" "$work/node_modules"
cd "$work"
HOME=$work
export HOME

# quietly COMMAND...: says what it said if it failed.
quietly() {
    "$@" >said 2>&1 || { tail -n 60 said; echo "failed: $*"; exit 1; }
}

quietly node node_modules/typescript/bin/tsc --noEmit
quietly node bundle.mjs --tests
quietly node --test dist/test/*.test.mjs
quietly node bundle.mjs

for name in threads hostile heap; do
    for format in view folded; do
        "$exportmake" $format "$name.$format" "$here/../export/golden/$name.recipe" \
            "$here/../export/golden/$name.names" 0
    done
done
timeout 500 node "$here/browser.mjs" "$consumers/node_modules" \
    "$browser" "$work"
