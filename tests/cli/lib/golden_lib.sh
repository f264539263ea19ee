# SPDX-License-Identifier: MIT
# What the tests of goldens share: `cases` is the name of the folder beside the
# script that has them. They are called with
#   WINDLASS MAKE_RECORDING [--bless]
# and run in a folder of their own, which goes away with them.
set -eu
windlass=$(realpath "$1")
make_recording=$(realpath "$2")
bless=${3-}
cases=$(cd "$(dirname "$0")/$cases" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
LC_ALL=C
TZ=Asia/Tokyo # times are told in UTC, wherever one is
export LC_ALL TZ
unset PAGER WINDLASS_OPTIONS || true
failed=0

# A command as it is typed, then what it says and its exit status.
try() {
    echo "\$ windlass $*"
    status=0
    "$windlass" "$@" >said 2>&1 || status=$?
    # What comes next depends on whether the viewer is built in.
    sed 's/^Next: windlass \(view\|export -f folded\) .*/Next: view or export/' said
    [ "$status" -eq 0 ] || echo "[exit status $status]"
    echo
}

# check NAME: NAME.got is what is expected.
check() {
    if [ "$bless" = --bless ]; then
        cp "$1.got" "$cases/$1.expected"
    elif ! diff -u "$cases/$1.expected" "$1.got"; then
        failed=1
    fi
}

# check_recipes TRY: what that says of each recipe's recording, twice.
check_recipes() {
    for recipe in "$cases"/*.recipe; do
        name=$(basename "$recipe" .recipe)
        "$make_recording" "$name.wndl" <"$recipe"
        "$1" "$name.wndl" >"$name.got"
        "$1" "$name.wndl" >"$name.again"
        cmp "$name.got" "$name.again"
        check "$name"
    done
}
