#!/bin/sh
# breakpad.sh WINDLASS: symbol files of Breakpad: where 'fix -b' finds them,
# what it makes of them, 'sym' on one, and the ids of builds.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
need cc objcopy od
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C
unset WINDLASS_DEBUG_DIRS

failed=0
# same WHAT: out must be what wanted is.
same() {
    if ! cmp -s wanted out; then
        echo "breakpad: $1:"
        diff wanted out | cat -A | head -20
        failed=1
    fi
}

# ids: a build-id is a GUID whose first three fields are numbers.
echo 'int main(void) { return 0; }' >main.c
cc -g -Wl,--build-id=0x00112233445566778899aabbccddeeff01234567 -o prog main.c
cc -Wl,--build-id=0x0011 -o short main.c
cc -Wl,--build-id=none -o none main.c
id=33221100554477668899AABBCCDDEEFF0
cat >wanted <<END
file      prog
build-id  00112233445566778899aabbccddeeff01234567
breakpad  $id
guid      33221100-5544-7766-8899-aabbccddeeff, age 0
file      short
build-id  0011
breakpad  000011000000000000000000000000000
guid      00001100-0000-0000-0000-000000000000, age 0
END
"$windlass" sym --ids prog short >out
same "ids"
# Without one Breakpad takes the first page of the code.
objcopy -O binary -j .text none text
expected=$(od -An -v -tu1 -w1 -N4096 text | awk '
    function xor(a, b, bit, sum) {
        for (bit = 1; bit < 256; bit *= 2)
            if (int(a / bit) % 2 != int(b / bit) % 2)
                sum += bit
        return sum + 0
    }
    { at = (NR - 1) % 16; sum[at] = xor(sum[at], $1) }
    END {
        split("3 2 1 0 5 4 7 6 8 9 10 11 12 13 14 15", order)
        for (i = 1; i <= 16; i++)
            printf "%02X", sum[order[i]]
        print 0
    }')
printf 'file      none\nbreakpad  %s\n' "$expected" >wanted
"$windlass" sym --ids -e none | grep -v guid >out
same "id without a build-id"
code=0
"$windlass" sym --ids main.c prog >out 2>err || code=$?
[ $code = 1 ] && grep -q $id out &&
    grep -q 'main.c.*not an ELF, PE, PDB, Mach-O, WebAssembly or Breakpad' err || {
    echo "breakpad: ids of what is no binary: $code"
    cat out err
    failed=1
}

# A symbol file, in the places of several binaries.
symbols() {
    cat <<END
MODULE Linux x86_64 $1 $2
FILE 0 /src/a b.c
FILE 1 hg:hg.mozilla.org/x:caps/B.cpp:04c31e994f29e72dd81a7340100d12f67e48a5b4
FILE 2 git:github.com/r/r:io.rs:84c898d65adf2f39a5a98507f1fe0ce10a2b8dbc
INLINE_ORIGIN 0 middle "it"
INLINE_ORIGIN 7 _ZN2ns9innermostEv
FUNC 1000 20 0 outer(int)
INLINE 0 11 0 0 1004 8
INLINE 1 22 1 7 1008 4
1000 4 10 0
1004 4 20 1
1008 4 30 2
PUBLIC 2000 0 $3
STACK CFI INIT 1000 20 .cfa: \$rsp 8 + .ra: .cfa 8 - ^
END
}
mkdir -p one/prog/$id one/prog/0 two/gone.so/ABC1 two/xul.pdb/DEF2 \
    two/prog/$id two/many/1 two/many/2
symbols $id prog in_one >one/prog/$id/prog.sym
symbols 0 prog other >one/prog/0/prog.sym
symbols $id prog in_two >two/prog/$id/prog.sym
symbols ABC1 gone.so gone >two/gone.so/ABC1/gone.so.sym
symbols DEF2 xul.pdb '?xul@ns@@YAHH@Z' >two/xul.pdb/DEF2/xul.sym
symbols 1 many one >two/many/1/many.sym
symbols 2 many two >two/many/2/many.sym
cat >in <<'END'
#01: ???[prog +0x1000] x
#02: ???[prog +0x1008]
#03: ???[prog +0x100c]
#04: ???[prog +0x2004]
#05: ???[prog +0x3]
#06: ???[/not/here/gone.so +0x2000]
#07: ???[C:\x\xul.dll +0x2000] y
#08: ???[/not/here/many +0x2000]
#09: f[none +0x0]
#10: at ./gone.so+0x1000 and
END
cat >wanted <<'END'
#01: outer(int) [/src/a b.c:10] x
#02: outer(int) [/src/a b.c:11]
#03: outer(int) [prog + 0x100c]
#04: in_one [prog + 0x2004]
#05: ??? [prog + 0x3]
#06: gone [/not/here/gone.so + 0x2000]
#07: ns::xul(int) [C:\x\xul.dll + 0x2000] y
#08: ??? [/not/here/many + 0x2000]
#09: f [none + 0x0]
#10: at outer(int) [/src/a b.c:10] and
END
"$windlass" fix -b one --breakpad two in >out 2>err
same "fix -b"
cat >wanted <<'END'
windlass: error: failed to read `/not/here/many`
windlass: several builds of it have symbol files, and there is no binary to choose by
END
mv err out
same "fix -b, standard error"
"$windlass" sym -f --no-demangle -e two/xul.pdb/DEF2/xul.sym 2000 |
    grep -qF '?xul@ns@@YAHH@Z' || {
    echo "breakpad: no name as Microsoft mangles it"
    failed=1
}
sed -n 2,4p in >frames
echo '#04: in_two [prog + 0x2004]' >wanted
"$windlass" fix -b two -b one frames | sed -n 3p >out
same "the first folder wins"
cat >wanted <<'END'
#02: ns::innermost() [io.rs:30] [inlined]
#02: middle "it" [caps/B.cpp:22] [inlined]
#02: outer(int) [/src/a b.c:11]
#03: outer(int) [prog + 0x100c]
#04: in_one [prog + 0x2004]
END
"$windlass" fix -b one --inlines frames >out
same "inlined frames"
printf '{"a": "#02: b[prog +0x1008]"}' >in
printf '%s' '{"a": "#02: ns::innermost() [io.rs:30] [inlined]\n' \
    '#02: middle \"it\" [caps/B.cpp:22] [inlined]\n' \
    '#02: outer(int) [/src/a b.c:11]"}' >wanted
"$windlass" fix -j --inlines -b one in >out
same "JSON"
# Kept answers are the same, and files of equal ids are told apart.
"$windlass" fix -b one --inlines frames >wanted
"$windlass" fix -b one --inlines --cache kept frames >out
same "the first time with --cache"
"$windlass" fix -b one --inlines --cache kept frames >out
same "the second time"
[ "$(ls kept | wc -l)" = 1 ] || {
    echo "breakpad: kept: $(ls kept)"
    failed=1
}
"$windlass" fix -b two --cache kept frames | sed -n 3p >out
echo '#04: in_two [prog + 0x2004]' >wanted
same "another file of that id, with --cache"

# sym, on one.
cat >wanted <<'END'
ns::innermost()
io.rs:30
middle "it"
caps/B.cpp:22
outer(int)
/src/a b.c:11
??
??:0
END
"$windlass" sym -e one/prog/$id/prog.sym -Cfi 1008 20 >out
same "sym"
printf '%s\n' '0x0000000000001000-0x0000000000001020 outer(int)' \
    '0x0000000000002000 in_one' >wanted
"$windlass" sym -e one/prog/$id/prog.sym --all-functions >out
same "all functions"
printf '%s\n' 'outer(int)' '/src/a b.c:11' >wanted
"$windlass" sym -e one/prog/$id/prog.sym -fi 'outer(int)+8' | tail -n 2 >out
same "a function by its name"
printf 'file      %s\nbreakpad  ABC1\n' two/gone.so/ABC1/gone.so.sym >wanted
"$windlass" sym --ids two/gone.so/ABC1/gone.so.sym >out
same "ids of a symbol file"
code=0
"$windlass" sym -e two/gone.so/ABC1/gone.so.sym -j .text 0 >out 2>err || code=$?
[ $code = 1 ] && grep -q 'no loaded section' err || {
    echo "breakpad: a section of a symbol file: $code"
    cat err
    failed=1
}

# Damage is told.
sed 's/^FUNC/FUNC x/' one/prog/$id/prog.sym >damaged.sym
"$windlass" sym -e damaged.sym 0 >out 2>err
grep -q 'damaged.sym: symbols+0x[0-9a-f]*: FUNC' err || {
    echo "breakpad: damage:"
    cat err
    failed=1
}
echo 'MODULE Linux' >damaged.sym
code=0
"$windlass" sym -e damaged.sym 0 >out 2>err || code=$?
[ $code = 1 ] && grep -q 'MODULE record without its fields' err || {
    echo "breakpad: a damaged MODULE record: $code"
    cat err
    failed=1
}

# A folder that is not there is told of, and so is a file in its place.
echo nothing | "$windlass" fix -b nosuchdir -b out >out2 2>err
[ "$(cat out2)" = nothing ] &&
    grep -q 'warning: -b nosuchdir: No such file or directory' err &&
    grep -q 'warning: -b out: not a folder' err || {
    echo "breakpad: a missing folder:"
    cat err
    failed=1
}
[ $failed = 0 ] && echo "breakpad: symbol files are found and read"
exit $failed
