#!/bin/sh
# export_speedscope.sh EXPORTMAKE: speedscope itself, in headless Chromium,
# opens what is written for it. Where its npm package is: SPEEDSCOPE, or among
# the global ones.
set -eu
exportmake=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
browser=$(command -v chromium || command -v chromium-browser || true)
[ -n "$browser" ] || { echo "skipped: no chromium"; exit 77; }
package=${SPEEDSCOPE-$(npm root -g 2>/dev/null || true)/speedscope}
page=$package/dist/release/index.html
[ -f "$page" ] || { echo "skipped: no speedscope, see SPEEDSCOPE"; exit 77; }
LC_ALL=C # numbers are written as there
export LC_ALL
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0

# The way of speedscope's own command: a script beside the page has the file.
open_file() {
    {
        printf 'speedscope.loadFileFromBase64("file.json","'
        base64 -w0 out.json
        printf '")'
    } >file.js
    HOME=$work timeout 300 "$browser" --headless --no-sandbox \
        --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader \
        --allow-file-access-from-files --user-data-dir="$work/profile" \
        --virtual-time-budget=30000 --dump-dom \
        "file://$page#localProfilePath=$work/file.js" >dom 2>err
}

shows() {
    grep -qF -- "$1" dom || { echo "$name: does not show: $1"; failed=1; }
}

for name in threads hostile heap; do
    "$exportmake" speedscope out.json "$here/export/$name.recipe" \
        "$here/export/$name.names" 2
    open_file || { echo "$name: $(tail -n 3 err)"; failed=1; }
    case $name in
    threads)
        shows '<title>app --fast - speedscope</title>'
        shows '<span>app [4711] app [4711]</span></td>'
        shows '<span>app [4711] work;er"&lt;b&gt; [4712]</span></td>'
        shows '>25.40ms</td>'
        ;;
    hostile) shows 't&lt;script&gt;\" [7]' ;;
    heap) shows '<span>app [100]: bytes allocated</span></td>' ;;
    esac
done
exit $failed
