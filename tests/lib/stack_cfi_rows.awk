# `windlass unwind-info --breakpad` as the lines of readelf_rows.awk that are
# rows: each STACK CFI record is folded into those before it. "exp" for a CFA
# that is not a register and an offset; registers whose rule is an expression
# or ".undef" are left out.
# -v wide=1 for x86-64, -v a64=1 for AArch64, whose names have no mark; they are
# llvm-dwarfdump's.
function plain(text,    part, n)
{
    n = split(text, part, " ")
    if (n == 1 && part[1] ~ /^[$.a-z]/)
        return name_of(part[1])
    if (n == 3 && part[3] ~ /^[-+]$/)
        return name_of(part[1]) part[3] part[2]
    if (part[1] == ".cfa" && n == 2 && part[2] == "^")
        return "[CFA]"
    if (part[1] == ".cfa" && n == 4 && part[4] == "^")
        return "[CFA" part[3] part[2] "]"
    return "exp"
}
function name_of(text)
{
    if (text == ".undef")
        return "exp"
    if (text == ".ra")
        return a64 ? "W30" : wide ? "RIP" : "EIP"
    if (a64 && text !~ /^[.]/)
        return text == "sp" ? "WSP" : "W" substr(text, 2)
    return toupper(substr(text, 2))
}
function put(name, text)
{
    if (text == "")
        return
    text = plain(text)
    if (text == "exp" && name != "CFA")
        text = name
    # The return address of libc's TLS descriptors: readelf says nothing of it.
    if (a64 && name == "W30" && text == "W15")
        text = name
    value[name] = text
}
function print_row(    i, row)
{
    row = ""
    for (i = 1; i <= count; i++)
        if (order[i] in value && value[order[i]] != order[i])
            row = row (row == "" ? "" : ", ") order[i] "=" value[order[i]]
    print "  0x" at ": CFA=" value["CFA"] ": " row
}
BEGIN {
    names = "EAX ECX EDX EBX ESP EBP ESI EDI EIP"
    if (wide)
        names = "RAX RDX RCX RBX RSI RDI RBP RSP R8 R9 R10 R11 R12 R13 R14" \
            " R15 RIP"
    count = split(names, order, " ")
    if (a64)
        for (count = 0; count < 31; count++)
            order[count + 1] = "W" count
}
{
    first = 4
    at = $3
    if ($3 == "INIT") {
        delete value
        at = $4
        first = 6
    }
    name = ""
    text = ""
    for (i = first; i <= NF; i++) {
        if ($i ~ /:$/) {
            put(name, text)
            name = name_of(substr($i, 1, length($i) - 1))
            text = ""
        } else {
            text = text (text == "" ? "" : " ") $i
        }
    }
    put(name, text)
    print_row()
}
