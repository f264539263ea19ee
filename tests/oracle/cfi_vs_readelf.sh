#!/bin/sh
# cfi_vs_readelf.sh CFIDUMP [FILE...]: every row of every FDE as cfi reads it
# against GNU readelf and llvm-dwarfdump, and every lookup through
# .eh_frame_hdr and by pc against a reading from the start. Without files:
# the largest and oddest that Debian systems have, those that are there.
#
# Where the readers differ by their own ways, the text is made equal first:
#   readelf prints "u" for undefined and for registers without a rule alike,
#     so undefined is left out of that comparison (llvm's has it);
#   readelf prints "exp" for any expression (llvm's prints operators);
#   readelf prints no row for an FDE of nothing but nops: it has its CIE's;
#   both print rows that start where their FDE ends (hand-written code of
#     32-bit libc): no pc is in them, cfi has none;
#   llvm-dwarfdump up to 14 forgets to restore the CFA in DW_CFA_restore_state,
#     so the CFA is left out of that comparison (readelf's has it);
#   it does not toggle the signing of AArch64's return addresses either: those
#     files are held against that of 19, their CFAs too;
#   readelf knows nothing of signing.
set -eu
. "$(dirname "$0")/../lib/have.sh"
cfidump=$1
shift
here=$(dirname "$0")
if [ $# -eq 0 ]; then
    # Without x32 ones: readelf names their registers as i386's in part.
    libs=$(ldconfig -p | grep -v /libx32/ | sed -n \
        's/^\t\(libc\.so\.6\|libcrypto\.so\.3\|libssl\.so\.3\) .*=> //p')
    cc1plus=$(c++ -print-prog-name=cc1plus 2>/dev/null || true)
    # shellcheck disable=SC2086
    set -- $libs /usr/bin/python3 /usr/bin/xz "$cc1plus" \
        /usr/aarch64-linux-gnu/lib/libc.so.6 \
        /usr/aarch64-linux-gnu/lib/libstdc++.so.6 \
        /usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

differ() {
    if ! diff "$work/ours" "$work/theirs" >"$work/diff"; then
        echo "$1: rows differ from $2 (< ours):"
        head -n 20 "$work/diff"
        failed=1
    fi
}

# Libraries with .debug_frame alone, made here, with each version of its CIE.
cat >"$work/f.c" <<'END'
int g(int *a);
int f(int n)
{
    int a[n];
    return g(a) + g(a);
}
END
for version in 1 3 4; do
    made=$work/debug_frame_$version.so
    if cc -g -O2 -fno-asynchronous-unwind-tables -shared -nostdlib -fPIC \
        -Wl,--no-ld-generated-unwind-info \
        -Wa,--gdwarf-cie-version=$version -o "$made" "$work/f.c"; then
        set -- "$@" "$made"
    fi
done

# What compilers make for AArch64: signed return addresses, stacks grown in a
# loop, CFAs by x29 and by others, frames larger than instructions reach.
cat >"$work/a64.c" <<'END'
int g(void *a);
int leaf(int n) { return n * 3; }
int locals(int n) { volatile int a[20]; a[n] = 1; return a[n + 1]; }
int vla(int n) { int a[n]; return g(a) + g(a); }
int big(int n) { char a[70000]; return g(a) + n; }
int huge(int n) { char a[1700000]; return g(a) + n; }
int tail(void *a) { return g(a) ? g(a) + 1 : g(a); }
END
made_for_a64() {
    made=$work/a64_$#.so
    if "$@" -shared -nostdlib -fPIC -o "$made" "$work/a64.c"; then
        made_files="$made_files $made"
    fi
}
made_files=
if have aarch64-linux-gnu-gcc; then
    cross="aarch64-linux-gnu-gcc -fasynchronous-unwind-tables"
    # shellcheck disable=SC2086
    {
        made_for_a64 $cross -O2
        made_for_a64 $cross -O2 -mbranch-protection=pac-ret
        made_for_a64 $cross -O2 -mbranch-protection=pac-ret+leaf+b-key \
            -fstack-clash-protection
        made_for_a64 $cross -O1 -fomit-frame-pointer -fstack-clash-protection \
            -fno-asynchronous-unwind-tables -fno-unwind-tables -g
    }
fi
# shellcheck disable=SC2086
set -- "$@" $made_files

expression='DW_OP_[a-z0-9_]+( [0-9A-Zx+-]+)?'
for file; do
    have "$file" || continue
    a64=0
    readelf -h "$file" | grep -q 'Machine: *AArch64' && a64=1
    section=.debug_frame
    readelf -SW "$file" | grep -q ' \.eh_frame ' && section=.eh_frame
    "$cfidump" lookup "$file" >"$work/lookup" || failed=1
    echo "$file: $section: $(tail -n 1 "$work/lookup")"
    "$cfidump" rows "$file" >"$work/rows"

    sed -E -e "s/$expression(, $expression)*/exp/g" \
        -e 's/[A-Z0-9]+=undefined(, |$)//g' -e 's/, $//' \
        -e 's/[:,] reg34=1$//' "$work/rows" |
        if [ $a64 = 1 ]; then sed -E 's/(CFA=[^ ]*[^: ])$/\1: /'; else cat; fi \
        >"$work/ours"
    readelf --debug-dump=frames-interp "$file" 2>/dev/null |
        awk -v section="$section" -v a64=$a64 \
            -f "$here/../lib/readelf_rows.awk" \
            >"$work/theirs"
    differ "$file" readelf

    if [ $a64 = 1 ]; then
        have llvm-dwarfdump-19 || continue
        cp "$work/rows" "$work/ours"
        llvm-dwarfdump-19 --eh-frame "$file" |
            awk -v section="$section" -v cfa=1 \
                -f "$here/../lib/llvm_rows.awk" >"$work/theirs"
        differ "$file" llvm-dwarfdump
        continue
    fi
    have llvm-dwarfdump || continue
    sed 's/CFA=[^:]*: //' "$work/rows" >"$work/ours"
    llvm-dwarfdump --eh-frame "$file" |
        awk -v section="$section" -f "$here/../lib/llvm_rows.awk" \
            >"$work/theirs"
    differ "$file" llvm-dwarfdump
done
exit $failed
