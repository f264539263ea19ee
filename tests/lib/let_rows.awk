# The lines of readelf_rows.awk as those of `windlass unwind-info --dump`, with
# "exp" for any expression, each behind its start and end for sorting. Both
# numbers are decimal; rows that touch are not put together yet.
function number(hex,    i, value)
{
    hex = tolower(hex)
    sub(/^0x/, "", hex)
    value = 0
    for (i = 1; i <= length(hex); i++)
        value = value * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
    return value
}
function plain(value)
{
    if (value ~ /exp/)
        return "exp"
    if (value ~ /^\[/) {
        gsub(/[][]/, "", value)
        return "*(" tolower(value) ")"
    }
    if (value ~ /^CFA/)
        return tolower(value)
    sub(/^[RE]/, "", value)
    return value ~ /^[0-9]/ ? "oldR" value : "old" value
}
function flush(end)
{
    if (start != "" && end > start)
        printf "%.0f %.0f %s\n", start, end, rule
    start = ""
}
$2 == "FDE" {
    flush(fde_end)
    split(substr($4, 4), bounds, /\.\.\./)
    fde_end = number(bounds[2])
    next
}
{
    at = $1
    sub(/:$/, "", at)
    at = number(at)
    flush(at)
    start = at
    delete value
    cfa = $2
    sub(/^CFA=/, "", cfa)
    sub(/:$/, "", cfa)
    for (i = 3; i <= NF; i++) {
        sub(/,$/, "", $i)
        name = $i
        sub(/=.*/, "", name)
        sub(/^[^=]*=/, "", $i)
        value[substr(name, 2)] = $i
    }
    rule = "cfa=" plain(cfa)
    rule = rule " RA=" ("IP" in value ? plain(value["IP"]) : "unknown")
    rule = rule " SP=" ("SP" in value ? plain(value["SP"]) : "cfa")
    rule = rule " BP=" ("BP" in value && value["BP"] != "same" ? \
        plain(value["BP"]) : "oldBP")
    rule = rule " BX=" ("BX" in value && value["BX"] != "same" ? \
        plain(value["BX"]) : "oldBX")
}
END { flush(fde_end) }
