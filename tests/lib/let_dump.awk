# `windlass unwind-info --dump` as the lines of let_rows.awk.
function number(hex,    i, value)
{
    sub(/^\[?0x/, "", hex)
    sub(/\]:$/, "", hex)
    value = 0
    for (i = 1; i <= length(hex); i++)
        value = value * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
    return value
}
function plain(value)
{
    if (value ~ /^(cfa|old[A-Z0-9]+)([-+][0-9]+)?$|^unknown$/ ||
        value ~ /^\*\(cfa([-+][0-9]+)?\)$/)
        return value
    return "exp"
}
{
    sub(/ \(signal frame\)$/, "")
    line = sprintf("%.0f %.0f", number($1), number($3) + 1)
    for (i = 5; i <= NF; i++) {
        if ($i == "in")
            continue
        name = $i
        sub(/=.*/, "", name)
        sub(/^[^=]*=/, "", $i)
        line = line " " name "=" plain($i)
    }
    print line
}
