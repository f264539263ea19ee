# llvm_exidx.awk: llvm-readobj --unwind of an Arm binary, as exidxdump says it.
/FunctionAddress:/ { print $2 }
/Model: (CantUnwind|Generic)/ { print $2 }
/^ *0x[0-9A-F][0-9A-F] .*;/ {
    byte = $1
    sub(/^[^;]*; */, "")
    if ($0 ~ /^pop \{(d|wR|wCGR)[0-9]/) {
        # FSTMFDX stores a word more than the registers have.
        count = split($0, registers, ",")
        size = $0 ~ /wCGR/ ? 4 : 8
        extra = byte ~ /0x(B3|B[89A-F])/ ? 4 : 0
        print "skip " count * size + extra
    } else if ($0 ~ /^pop \{ra_auth_code\}/) {
        print "skip 4"
    } else {
        print
    }
}
