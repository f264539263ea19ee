# gnu_exidx.awk: what GNU readelf -u tells of entries of the generic model, as
# exidxdump says it.
/^0x/ { start = toupper(substr($1, 3)); sub(/:$/, "", start); told = 0 }
/Personality routine:.*_personality_v0>/ { print "0x" start; told = 1 }
told && /^  0x/ {
    sub(/^(  ?0x[0-9a-f][0-9a-f])+ */, "")
    if ($0 ~ /^pop \{D/) {
        split($0, names, /[^0-9]+/)
        print "skip " (names[3] == "" ? 1 : names[3] - names[2] + 1) * 8
    } else {
        gsub(/r14/, "lr")
        gsub(/r12/, "ip")
        gsub(/r11/, "fp")
        gsub(/r15/, "pc")
        print
    }
}
