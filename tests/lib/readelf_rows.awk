# readelf --debug-dump=frames-interp as the lines of `cfidump rows`: only the
# section named by -v section=; "exp" for any expression; registers marked "u"
# left out; no row that starts at its FDE's end. x86-64 and i386, or AArch64 with
# -v a64=1.

# Without leading zeros, or of at least 8 digits.
function hex(text)
{
    sub(/^0+/, "", text)
    return text == "" ? "0" : text
}

function hex8(text)
{
    text = hex(text)
    while (length(text) < 8)
        text = "0" text
    return text
}

function rule(text)
{
    sub(/\+0$/, "", text)
    if (text ~ /^c/)
        return "[CFA" substr(text, 2) "]"
    if (text ~ /^v([+-]|$)/)
        return "CFA" substr(text, 2)
    if (text == "exp")
        return "[exp]"
    if (text == "vexp")
        return "exp"
    return text == "s" ? "same" : llvm(text)
}

# As llvm-dwarfdump calls it.
function llvm(name)
{
    name = toupper(name)
    if (a64)
        sub(/^(X|SP)/, name ~ /^X/ ? "W" : "WSP", name)
    return name
}

# Registers cfi tracks; readelf calls the return address "ra".
function rules(    i, text)
{
    text = ""
    for (i = 3; i <= NF; i++) {
        if ($i == "u" || name[i] !~ tracked)
            continue
        text = text (text == "" ? "" : ", ") llvm(name[i]) "=" rule($i)
    }
    return text
}

# An FDE of nothing but nops has its CIE's row, which readelf does not repeat.
function flush()
{
    if (in_fde && !rows)
        print "  0x" start ": " initial[cie]
}

BEGIN {
    tracked = "^[re]?([a-d]x|[sd]i|[sb]p|ip)$|^r[0-9]+$"
    if (a64)
        tracked = "^x[0-9]+$|^sp$"
}
/^Contents of/ {
    flush()
    in_fde = 0
    wanted = index($0, " " section " ")
    next
}
!wanted { next }
$4 == "CIE" {
    flush()
    in_fde = 0
    id = $1
    wide = length($2) == 16
    next
}
$4 == "FDE" {
    flush()
    in_fde = 1
    rows = 0
    cie = substr($5, 5)
    split(substr($6, 4), range, /\.\./)
    start = hex(range[1])
    print $1 " FDE cie=" cie " pc=" hex8(range[1]) "..." hex8(range[2])
    next
}
$1 == "LOC" {
    for (i = 3; i <= NF; i++)
        name[i] = $i == "ra" ? (a64 ? "x30" : wide ? "rip" : "eip") : $i
    next
}
/^[0-9a-f]+ / && $2 ~ /^(r|e[a-ds]|ebp|exp|sp[+-]|x[0-9])/ {
    gsub(/r[0-9]+ \(/, "") # "r5 (rdi)" for a register as a rule
    gsub(/\)/, "")
    sub(/\+0$/, "", $2)
    row = "CFA=" ($2 == "exp" ? $2 : llvm($2)) ": " rules()
    if (in_fde) {
        rows++
        if (hex8($1) != hex8(range[2]))
            print "  0x" hex($1) ": " row
    } else {
        initial[id] = row
    }
}
END { flush() }
