#!/bin/sh
# unwind_table.sh WINDLASS: `windlass unwind-table` of real libraries, of
# damaged files and of the wrong ones; its rows against GNU readelf's.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
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

[ "$(uname -m)" = x86_64 ] || skip "not x86-64"
libc=$(ldd /bin/sh | awk '/libc\.so/ { print $3 }')
[ -n "$libc" ] || skip "no libc.so"

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

if have readelf && have python3; then
    "$windlass" unwind-table show --dump "$work/libc.wut" >"$work/dump"
    readelf -wF "$libc" >"$work/rows" 2>/dev/null || true
    python3 "$here/../../oracle/unwind_table_vs_readelf.py" "$work/dump" "$work/rows" ||
        fail "the rows are not readelf's"
fi

# --- refusals

head -c 1000 "$work/libc.wut" >"$work/short.wut"
expect_failure 'short.wut: an unwind table cut short' \
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
objcopy -O binary --only-section=.eh_frame "$libc" "$work/frames" &&
    head -c "$(wc -c <"$work/frames")" /dev/zero >"$work/zeros" &&
    objcopy --update-section .eh_frame="$work/zeros" "$libc" "$work/none" &&
    for action in "verify $work/none $work/libc.wut" \
        "build $work/none -o $work/none.wut"; do
        # shellcheck disable=SC2086 # several words
        expect_failure 'error: [^:]*/none: .eh_frame has no rules for any code' \
            "$windlass" unwind-table $action
    done
expect_failure 'not an unwind table' \
    "$windlass" unwind-table show "$libc"
expect_failure 'build OBJ -o FILE' "$windlass" unwind-table build "$libc"
expect_failure "'mend' is not an action" \
    "$windlass" unwind-table mend "$libc"
expect_failure "'mend' is not an action" "$windlass" unwind-table mend
expect_failure 'an action is missing' "$windlass" unwind-table
expect_failure "FILE is missing after 'show'" "$windlass" unwind-table show
expect_failure "OBJ is missing after 'build'" \
    "$windlass" unwind-table build -o "$work/x.wut"
expect_failure "FILE is missing after 'verify'" \
    "$windlass" unwind-table verify "$libc"

# What was there stays until the new one is whole, and who may read it as well.
mkdir "$work/kept"
kept=$work/kept/t.wut
(umask 027 && "$windlass" unwind-table build /bin/sh -o "$kept" 2>"$work/err") ||
    fail "not built: $(cat "$work/err")"
[ "$(stat -c %a "$kept")" = 640 ] || fail "access: $(stat -c %a "$kept")"
chmod 604 "$kept"
cp "$kept" "$work/before"
exec 3<"$kept"
if (
    trap '' XFSZ
    ulimit -f 1
    "$windlass" unwind-table build "$libc" -o "$kept" 2>"$work/err"
); then
    fail "a table was written beyond the limit of a file's size"
fi
grep -q 'cannot write [^ ]*t.wut: ' "$work/err" || fail "$(cat "$work/err")"
if (
    ulimit -c 0
    ulimit -f 1
    exec "$windlass" unwind-table build "$libc" -o "$kept" 2>"$work/err"
); then
    fail "a table was written beyond the limit of a file's size"
elif [ $? -le 128 ]; then
    fail "a signal did not end it"
fi
cmp -s "$kept" "$work/before" || fail "a failed build changed the table"
[ "$(ls "$work/kept")" = t.wut ] || fail "left behind: $(ls "$work/kept")"
"$windlass" unwind-table build "$libc" -o "$kept" 2>"$work/err" ||
    fail "not built again: $(cat "$work/err")"
cmp -s "$kept" "$work/libc.wut" || fail "the new table is another"
cmp -s "$work/before" - <&3 || fail "who had the old one open sees another"
exec 3<&-
[ "$(stat -c %a "$kept")" = 604 ] || fail "new access: $(stat -c %a "$kept")"
[ "$(ls "$work/kept")" = t.wut ] || fail "left behind: $(ls "$work/kept")"

# What is no regular file is written to and stays; so does a link.
ln -s t.wut "$work/kept/link"
"$windlass" unwind-table build /bin/sh -o "$work/kept/link" 2>"$work/err" ||
    fail "through a link: $(cat "$work/err")"
[ -L "$work/kept/link" ] && cmp -s "$kept" "$work/before" ||
    fail "not written to where a link leads"
mkfifo "$work/kept/pipe"
cat "$work/kept/pipe" >"$work/piped" &
"$windlass" unwind-table build /bin/sh -o "$work/kept/pipe" 2>"$work/err" ||
    fail "to a pipe: $(cat "$work/err")"
wait
[ -p "$work/kept/pipe" ] && cmp -s "$work/piped" "$work/before" ||
    fail "a pipe did not get it"
if [ -c /dev/full ]; then
    expect_failure 'cannot write /dev/full: ' \
        "$windlass" unwind-table build /bin/sh -o /dev/full
    [ -c /dev/full ] || fail "/dev/full is gone"
fi
"$windlass" unwind-table build /bin/sh -o /dev/null 2>"$work/err" &&
    [ -c /dev/null ] || fail "to /dev/null: $(cat "$work/err")"

# Where no other file can be made, and where nothing may be written.
if [ "$(id -u)" -ne 0 ]; then
    chmod 555 "$work/kept"
    "$windlass" unwind-table build "$libc" -o "$kept" 2>"$work/err" ||
        fail "in a folder that is kept: $(cat "$work/err")"
    cmp -s "$kept" "$work/libc.wut" || fail "not written in place"
    chmod 755 "$work/kept"
    chmod 444 "$kept"
    expect_failure 'cannot write [^ ]*t.wut: ' \
        "$windlass" unwind-table build /bin/sh -o "$kept"
    cmp -s "$kept" "$work/libc.wut" || fail "a read-only table was changed"
fi

# What is another's stays that, also where no other's can be moved over it.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >"$work/out"; then
    mkdir "$work/shared"
    shared=$work/shared/t.wut
    chmod 755 "$work"
    folders=777
    # Elsewhere nobody may write to another's file in such a folder.
    grep -qx 0 /proc/sys/fs/protected_regular && folders="777 1777"
    for access in $folders; do
        chmod "$access" "$work/shared"
        cp "$work/libc.wut" "$shared"
        chown 0:0 "$shared"
        chmod 666 "$shared"
        setpriv --reuid 1 --regid 1 --clear-groups \
            "$windlass" unwind-table build /bin/sh -o "$shared" 2>"$work/err" ||
            fail "over another's in a folder of $access: $(cat "$work/err")"
        cmp -s "$shared" "$work/before" || fail "another's is not the new one"
        [ "$(stat -c %u:%g:%a "$shared")" = 0:0:666 ] ||
            fail "another's is $(stat -c %u:%g:%a "$shared") now"
        [ "$(ls "$work/shared")" = t.wut ] || fail "left: $(ls "$work/shared")"
        rm "$shared"
    done
fi

# A file that is mounted by itself cannot be moved over.
if unshare -rm true 2>"$work/err"; then
    mkdir "$work/mounts"
    cp "$work/libc.wut" "$work/mounts/from"
    : >"$work/mounts/t.wut"
    unshare -rm sh -c 'mount --bind "$1/from" "$1/t.wut" &&
        "$2" unwind-table build /bin/sh -o "$1/t.wut"' \
        sh "$work/mounts" "$windlass" 2>"$work/err" ||
        fail "over a mount point: $(cat "$work/err")"
    cmp -s "$work/mounts/from" "$work/before" || fail "a mount point is not it"
    [ "$(ls "$work/mounts")" = "$(printf 'from\nt.wut')" ] ||
        fail "left: $(ls "$work/mounts")"
fi

# ---- in an archive, as Android loads libraries
if have zip; then
    mkdir -p "$work/apk/lib"
    cp "$libc" "$work/apk/lib/stored.so"
    cp "$libc" "$work/apk/lib/packed.so"
    (cd "$work/apk" && zip -q -0 a.apk lib/stored.so &&
        zip -q -9 a.apk lib/packed.so)
    stored="$work/apk/a.apk!/lib/stored.so"
    "$windlass" unwind-table build "$stored" -o "$work/apk.wut" \
        2>"$work/err" || fail "of an archive: $(cat "$work/err")"
    cmp "$work/apk.wut" "$work/libc.wut" || fail "it is another in an archive"
    "$windlass" unwind-table verify "$stored" "$work/libc.wut" >"$work/out" ||
        fail "verify of an archive's: $(cat "$work/out")"
    for command in unwind-info dump-syms; do
        "$windlass" "$command" "$libc" 2>"$work/err" |
            sed 's/^\(MODULE .*\) [^ ]*$/\1/' >"$work/plain"
        "$windlass" "$command" "$stored" 2>"$work/err" |
            sed 's/^\(MODULE .*\) [^ ]*$/\1/' >"$work/stored"
        [ -s "$work/stored" ] || fail "$command: nothing: $(cat "$work/err")"
        cmp "$work/plain" "$work/stored" || fail "$command: another answer"
        expect_failure 'packed.so: .* compressed in the archive' \
            "$windlass" "$command" "$work/apk/a.apk!/lib/packed.so"
        expect_failure 'none.so: .*no such file in the archive' \
            "$windlass" "$command" "$work/apk/a.apk!/none.so"
    done
    cp "$work/apk/a.apk" "$work/apk/before"
    expect_failure 'it is the input' \
        "$windlass" unwind-table build "$stored" -o "$work/apk/a.apk"
    cmp "$work/apk/a.apk" "$work/apk/before" || fail "the archive was changed"
fi
exit $failed
