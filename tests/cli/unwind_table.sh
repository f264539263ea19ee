#!/bin/sh
# unwind_table.sh WINDLASS: `windlass unwind-table` of real libraries, of
# damaged files and of the wrong ones; its rows against GNU readelf's.
set -eu
windlass=$1
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "$*"
    failed=1
}

# expect_failure WHAT-IT-SAYS COMMAND...
expect_failure() {
    said=$1
    shift
    if "$@" >"$work/out" 2>"$work/err"; then
        fail "succeeded: $*"
    elif ! grep -q "$said" "$work/err"; then
        fail "$* says: $(cat "$work/err"), not: $said"
    fi
}

[ "$(uname -m)" = x86_64 ] || exit 77
libc=$(ldd /bin/sh | awk '/libc\.so/ { print $3 }')
[ -n "$libc" ] || exit 77

"$windlass" unwind-table build "$libc" -o "$work/libc.wut" 2>"$work/err" ||
    fail "build: $(cat "$work/err")"
"$windlass" unwind-table verify "$libc" "$work/libc.wut" >"$work/out" ||
    fail "verify failed"
grep -q 'right at all of' "$work/out" || fail "verify says: $(cat "$work/out")"
"$windlass" unwind-table show "$work/libc.wut" >"$work/out"
grep -q '^unwind table, version 2, x86-64, build-id [0-9a-f]' "$work/out" ||
    fail "show says: $(head -n 1 "$work/out")"
size=$(wc -c <"$work/libc.wut")
awk -v size="$size" '/ bytes / { sum[$0 ~ /^all/] += $(NF - 3) }
    END { exit sum[0] != size || sum[1] != size }' "$work/out" ||
    fail "the parts that show tells of do not make up $size bytes"

# --- every row that readelf knows

if command -v readelf >/dev/null && command -v python3 >/dev/null; then
    "$windlass" unwind-table show --dump "$work/libc.wut" >"$work/dump"
    readelf -wF "$libc" >"$work/rows" 2>/dev/null || true
    python3 "$here/unwind_table_vs_readelf.py" "$work/dump" "$work/rows" ||
        fail "the rows are not readelf's"
fi

# --- refusals

head -c 1000 "$work/libc.wut" >"$work/short.wut"
expect_failure 'short.wut: is an unwind table cut short' \
    "$windlass" unwind-table show "$work/short.wut"
cp "$work/libc.wut" "$work/damaged.wut"
printf 'x' | dd of="$work/damaged.wut" bs=1 seek=5000 conv=notrunc 2>/dev/null
expect_failure 'damaged.wut: .*checksum' \
    "$windlass" unwind-table verify "$libc" "$work/damaged.wut"
expect_failure 'libc.wut: .*another binary, by its build-id' \
    "$windlass" unwind-table verify /bin/sh "$work/libc.wut"
objcopy --remove-section=.eh_frame --remove-section=.eh_frame_hdr \
    "$libc" "$work/bare" 2>"$work/err" &&
    expect_failure 'error: [^:]*/bare: has no call frame information' \
        "$windlass" unwind-table verify "$work/bare" "$work/libc.wut"
expect_failure 'is not an unwind table' \
    "$windlass" unwind-table show "$libc"
expect_failure 'build OBJ -o FILE' "$windlass" unwind-table build "$libc"
expect_failure 'none of build, show and verify' \
    "$windlass" unwind-table mend "$libc"
expect_failure "unknown action 'mend'" "$windlass" unwind-table mend
expect_failure 'an action is missing' "$windlass" unwind-table
expect_failure "FILE is missing after 'show'" "$windlass" unwind-table show
expect_failure "OBJ is missing after 'build'" \
    "$windlass" unwind-table build -o "$work/x.wut"
expect_failure "FILE is missing after 'verify'" \
    "$windlass" unwind-table verify "$libc"
exit $failed
