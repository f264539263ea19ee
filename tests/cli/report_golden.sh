#!/bin/sh
# report_golden.sh WINDLASS MAKE_RECORDING [--bless]: what report and export
# print for the recordings of report/*.recipe, against report/*.expected.
set -eu
windlass=$(realpath "$1")
make_recording=$(realpath "$2")
bless=${3-}
cases=$(cd "$(dirname "$0")/report" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
LC_ALL=C
TZ=Asia/Tokyo # times are told in UTC, wherever one is
export LC_ALL TZ
unset PAGER WINDLASS_OPTIONS || true

# A command as it is typed, then what it says and its exit status.
try() {
    echo "\$ windlass $*"
    status=0
    "$windlass" "$@" 2>&1 || status=$?
    [ "$status" -eq 0 ] || echo "[exit status $status]"
    echo
}

# The same without the head of the report.
try_table() {
    try "$@" | awk '
        NR == 1 { print }
        /^ +self \(|^ share |^ total |^No |^ +time \(s/ { on = 1 }
        on || /^Shares/'
}

try_all() {
    try report "$1"
    try_table report --by line -n 3 "$1"
    try_table report --by module "$1"
    try_table report --by thread "$1"
    try report --tree --min 1 "$1"
    try_table report --time blocked "$1"
    try_table report --time wall --tree "$1"
    try_table report --marks "$1"
    try report --tree --json --marks "$1"
    try report --time wall --json --by thread "$1"
    try export -f folded "$1"
    try export -f folded --time blocked "$1"
    try export -f folded --time wall "$1"
}

failed=0
for recipe in "$cases"/*.recipe; do
    name=$(basename "$recipe" .recipe)
    "$make_recording" "$name.wndl" <"$recipe"
    try_all "$name.wndl" >"$name.got"
    try_all "$name.wndl" >"$name.again"
    cmp "$name.got" "$name.again"
    if [ "$bless" = --bless ]; then
        cp "$name.got" "$cases/$name.expected"
    elif ! diff -u "$cases/$name.expected" "$name.got"; then
        failed=1
    fi
done
exit $failed
