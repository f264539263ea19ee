# llvm-dwarfdump --eh-frame as the lines of `cfidump rows`, without the CFA
# (see cfi_vs_readelf.sh) unless -v cfa=1: only the section named by -v section=, no row that
# starts at its FDE's end.

function hex8(text)
{
    while (length(text) < 8)
        text = "0" text
    return text
}

/ contents:$/ { wanted = $1 == section }
!wanted { next }
$4 == "FDE" {
    split(substr($6, 4), range, /\.\.\./)
    print $1, $4, $5, $6
    next
}
/^ +0x/ {
    if (hex8(substr($1, 3, length($1) - 3)) == range[2])
        next
    if (!cfa)
        sub(/CFA=[^:]*: /, "")
    # AArch64: a return address without a signature is what any is at first.
    sub(/[:,] reg34=0/, "")
    # Vector registers are not tracked.
    gsub(/, B[0-9]+=\[[^]]*\]|, B[0-9]+=[a-z]+/, "")
    sub(/: B[0-9]+=[^ ]*$/, "")
    sub(/: B[0-9]+=[^ ]*, /, ": ")
    print
}
