#!/bin/sh
# x86_lengths.sh X86LENGTHS: every instruction of large libraries has the length
# that objdump gives it. What objdump itself calls bad, and lone prefixes in data
# that it takes for code, are left out; so are fwait, which it joins to the next,
# and AMD's XOP, which is refused.
set -eu
. "$(dirname "$0")/../lib/have.sh"
lengths=$1
need objdump
seen=0

# check BITS FILE
check() {
    [ -r "$2" ] || return 0
    objdump -dw "$2" 2>/dev/null | awk -F '\t' '
        /^ *[0-9a-f]+:\t/ && $3 !~ /\(bad\)|^\.byte|^rex[.WRXB]*$/ && $2 !~ /^(9b|8f [0-9a-f][89a-f])/ {
            gsub(/ /, "", $2)
            print $2
        }' >"$work/all"
    count=$(wc -l <"$work/all")
    "$lengths" "$1" <"$work/all" >"$work/ours"
    [ "$(tail -n 1 "$work/ours")" = "$count instructions" ] || {
        echo "$2: expected $count instructions: $(tail -n 1 "$work/ours")"
        exit 1
    }
    sed '$d' "$work/ours" | sort | uniq -c | sort -rn >"$work/other"
    [ ! -s "$work/other" ] || {
        echo "$2: other lengths, times, ours, bytes:"
        head -20 "$work/other"
        exit 1
    }
    seen=$((seen + count))
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in libc.so.6 libm.so.6 libgmp.so.10 libdav1d.so.6; do
    check 64 "/usr/lib/x86_64-linux-gnu/$name"
done
for folder in /usr/lib/i386-linux-gnu /usr/lib32; do
    check 32 "$folder/libc.so.6"
    check 32 "$folder/libm.so.6"
done
[ "$seen" -gt 10000 ] || skip "no libraries"
