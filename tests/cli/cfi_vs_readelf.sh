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
#     so the CFA is left out of that comparison (readelf's has it).
set -eu
cfidump=$1
shift
here=$(dirname "$0")
if [ $# -eq 0 ]; then
    # Without x32 ones: readelf names their registers as i386's in part.
    libs=$(ldconfig -p | grep -v /libx32/ | sed -n \
        's/^\t\(libc\.so\.6\|libcrypto\.so\.3\|libssl\.so\.3\) .*=> //p')
    cc1plus=$(c++ -print-prog-name=cc1plus 2>/dev/null || true)
    # shellcheck disable=SC2086
    set -- $libs /usr/bin/python3 /usr/bin/xz "$cc1plus"
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

expression='DW_OP_[a-z0-9_]+( [0-9A-Zx+-]+)?'
for file; do
    [ -r "$file" ] || continue
    section=.debug_frame
    readelf -SW "$file" | grep -q ' \.eh_frame ' && section=.eh_frame
    "$cfidump" lookup "$file" >"$work/lookup" || failed=1
    echo "$file: $section: $(tail -n 1 "$work/lookup")"
    "$cfidump" rows "$file" >"$work/rows"

    sed -E -e "s/$expression(, $expression)*/exp/g" \
        -e 's/[A-Z0-9]+=undefined(, |$)//g' -e 's/, $//' "$work/rows" \
        >"$work/ours"
    readelf --debug-dump=frames-interp "$file" 2>/dev/null |
        awk -v section="$section" -f "$here/../lib/readelf_rows.awk" \
            >"$work/theirs"
    differ "$file" readelf

    command -v llvm-dwarfdump >/dev/null || continue
    sed 's/CFA=[^:]*: //' "$work/rows" >"$work/ours"
    llvm-dwarfdump --eh-frame "$file" |
        awk -v section="$section" -f "$here/../lib/llvm_rows.awk" \
            >"$work/theirs"
    differ "$file" llvm-dwarfdump
done
exit $failed
