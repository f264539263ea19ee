#!/bin/sh
# SPDX-License-Identifier: MIT
# sym.sh WINDLASS EXAMPLE: what `windlass sym` takes and says; and what the
# example of the library does.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
export LC_ALL=C
windlass=$(realpath "$1")
example=$(realpath "$2")
need gcc
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset WINDLASS_DEBUG_DIRS || true
failed=0

# same WHAT: standard input is what `got` must be.
same() {
    cat >want
    cmp -s want got && return
    echo "FAIL $1"
    diff want got | head -n 10
    failed=1
}

sym() {
    "$windlass" sym "$@" >got 2>errors
}

# fails STATUS TEXT OPTION...: exit status and a part of the error.
fails() {
    status=$1
    text=$2
    shift 2
    got=0
    "$windlass" sym "$@" </dev/null >out 2>errors || got=$?
    if [ "$got" -ne "$status" ] || ! grep -qFe "$text" errors || [ -s out ]; then
        echo "FAIL sym $*: exit status $got, $(cat errors)"
        failed=1
    fi
}

cat >one.c <<'END'
static int twin(int x) { return x + 1; }
int add(int x) { return twin(x); }
int two(int);
int main(int argc, char **argv)
{
    (void)argv;
    return add(argc) + two(argc);
}
END
cat >two.c <<'END'
static int twin(int x) { return x + 2; }
int two(int x) { return twin(x); }
END
gcc -O0 -g -no-pie -fno-pie -Wl,--build-id one.c two.c -o prog
at() {
    nm prog | sed -n "s/^0*\([0-9a-f]*\) [tT] $1\$/\1/p"
}
main=$(at main)

sym -e prog -fs main main+0 "0x$main" "$main" " $main" nobody 1
same "names and numbers" <<'END'
main
one.c:5
main
one.c:5
main
one.c:5
main
one.c:5
main
one.c:5
??
??:0
??
??:0
END

# Versions of symbols, as addr2line -C writes them.
cat >versions.c <<'END'
__asm__(".symver _Z3oldi, _Z1fi@V1, remove");
__asm__(".symver _Z3newi, _Z1fi@@V2, remove");
int _Z3oldi(int x) { return x + 1; }
int _Z3newi(int x) { return x + 2; }
END
printf 'V1 { };\nV2 { } V1;\n' >versions.map
if gcc -shared -fPIC -o versions.so versions.c \
    -Wl,--version-script=versions.map 2>/dev/null; then
    sym -e versions.so -fC "$(nm versions.so |
        sed -n 's/ T _Z1fi@@V2$//p')" "$(nm versions.so |
        sed -n 's/ T _Z1fi@V1$//p')"
    same "versions" <<'END'
f(int)@@V2
??:?
f(int)@V1
??:?
END
fi

# A file that is compressed as a whole, as kernel modules are.
for pack in xz zstd; do
    have $pack || continue
    $pack -q -c prog >prog.packed
    sym -e prog.packed -fs main+0
    same "packed by $pack" <<'END'
main
one.c:5
END
    head -c 2000 prog.packed >cut.packed
    fails 1 "ends within its" -e cut.packed main
done

# A name of hexadecimal digits alone is a number, unless +0 is after it.
sym -e prog -fps add add+0 add+0x0 add+
same "hexadecimal names" <<'END'
?? ??:0
add at one.c:2
add at one.c:2
?? ??:0
END

nm prog | grep ' [Tt] main$' | sym -e prog -fps
same "what nm prints" <<'END'
main at one.c:5
END

sym -e prog -fps twin
same "several functions of one name" <<'END'
twin at one.c:1
twin at two.c:1
END

printf 'main\r\n\n  two \nnobody\nadd+0' | sym -e prog -fps
same "standard input" <<'END'
main at one.c:5
?? ??:0
two at two.c:2
?? ??:0
add at one.c:2
END

sym -e prog --rva --style llvm -a $(printf '%x' $((0x$main - 0x400000)))
same "offsets from the image base" <<END
0x$(printf '%x' $((0x$main - 0x400000)))
main
$work/one.c:5:1

END

"$example" prog "$(printf '%x' $((0x$main - 0x400000)))" 1 >got
same "the example" <<END
main at $work/one.c:5
not known
END

sym -e prog --style json -s nobody main 1
same "JSON" <<END
{"format":"windlass-sym","version":1,"input":"nobody","frames":[]}
{"format":"windlass-sym","version":1,"input":"main","address":"0x$main","rva":"0x$(
    printf '%x' $((0x$main - 0x400000)))","frames":[{"inlined":false,"function":"main","mangled":"main","file":"one.c","line":5,"column":1,"start":{"address":"0x$main","rva":"0x$(
    printf '%x' $((0x$main - 0x400000)))"},"language":"$(
    # what the compiler takes a C file for
    readelf --debug-dump=info prog | sed -n 's/.*DW_AT_language .*(ANSI \(C[0-9]*\)).*/\1/p;
        s/.*DW_AT_language .*(\(C[0-9]*\)).*/\1/p' | head -n 1)"}]}
{"format":"windlass-sym","version":1,"input":"1","address":"0x1","rva":"0x$(
    printf '%x' $((1 - 0x400000)))","frames":[]}
END

# Names that only the unit's language tells from others.
unit_name() {
    printf 'int f(void) __asm__("%s"); int f(void) { return 1; }\n' "$2" >unit.c
    gcc -gdwarf-4 -dA -S -o unit.s unit.c
    sed -i "s/0x[0-9a-f]*\(.*# DW_AT_language\)/$1\1/" unit.s
    gcc -c -o unit.o unit.s
    sym -C -f -e unit.o 0 "$3"
    sed -n '1p;3p' got >got_names
    mv got_names got
    same "$2 in language $1" <<END
$3
$3
END
}
unit_name 0x18 base_GHCziBase_zpzp_info base_GHC.Base_++_info
unit_name 0x1b camlStdlib__List__map_482 Stdlib.List.map_482
unit_name 0x9 'UU_$$_RUN$LONGINT' 'UU.RUN(LONGINT)'
unit_name 0xc base_GHCziBase_zpzp_info base_GHCziBase_zpzp_info

# A unit that claims the code of the next one: each has what it knows.
gcc -O0 -gdwarf-4 -dA -S one.c two.c
sed '0,/# DW_AT_high_pc/s/\.Letext0-\.Ltext0/&+4096/' one.s >claims.s
gcc -no-pie -o claims claims.s two.s
objcopy -R .debug_aranges claims
sym -s -f -e claims two main
same "a unit that claims code of others" <<END
two
two.c:2
main
one.c:5
END

# Functions of which debug information has no addresses: names of symbols, and
# lines.
awk '/# \(DW_AT_(low|high)_pc\)/ { if (++seen[$0] > 1) sub(/0x1/, "0x3e0") }
    { print }' two.s >bare.s
gcc -no-pie -o bare one.s bare.s
[ "$(readelf --debug-dump=info bare | grep -c DW_AT_low_pc)" -lt \
    "$(readelf --debug-dump=info claims | grep -c DW_AT_low_pc)" ]
sym -s -f -e bare two main
same "functions without addresses" <<END
two
two.c:2
main
one.c:5
END

sym -e prog --all-functions
sed -n 's/^0x0*\([0-9a-f]*\)-0x[0-9a-f]* \(.*\)/\1 \2/p' got >functions
for name in main two add; do
    grep -qx "$(at $name) $name" functions || {
        echo "FAIL --all-functions: no $name"
        failed=1
    }
done
[ "$(grep -c ' twin$' functions)" -eq 2 ]

# Answers come as questions do.
mkfifo ask told
timeout 60 "$windlass" sym -e prog -fps <ask >told &
exec 3>ask 4<told
for name in main two main; do
    echo $name >&3
    read -r answer <&4
    case $answer in
    "$name at "*) ;;
    *)
        echo "FAIL answer to $name: $answer"
        failed=1
        ;;
    esac
done
exec 3>&-
wait $! || failed=1
exec 4<&-

# Stripped, with a debug file by build-id; then by nothing but the build-id.
id=$(readelf -n prog | sed -n 's/.*Build ID: //p')
rest=${id#??}
folder=debug/.build-id/${id%"$rest"}
mkdir -p "$folder"
objcopy --only-keep-debug prog "$folder/$rest.debug"
strip -s prog -o stripped
sym -e stripped --debug-dir debug -fs main
same "a debug file by build-id" <<'END'
main
one.c:5
END
sym --build-id "$id" --debug-dir debug -fs main
same "the debug file alone" <<'END'
main
one.c:5
END
mv stripped "$folder/$rest"
sym --build-id "$id" --debug-dir debug -fs main
same "a binary by build-id" <<'END'
main
one.c:5
END

# The debug file's table of symbols and the binary's count as one.
echo 'int shared(void) { return 3; } int main(void) { return shared(); }' >shared.c
gcc -rdynamic shared.c -o both
objcopy --only-keep-debug --strip-symbol=shared both both.debug
at=$(nm both | awk '$3 == "shared" { print $1 }')
strip -s both
objcopy --add-gnu-debuglink=both.debug both
sym -e both -f "0x$at" main
same "a debug file without one of the symbols" <<'END'
shared
??:?
main
??:?
END

fails 2 "-e OBJ or --build-id ID is missing"
fails 2 "-e and --build-id do not go together" -e prog --build-id abcd
fails 2 "-C and --no-demangle do not go together" -e prog -C --no-demangle
fails 2 "--all-functions takes no addresses" -e prog --all-functions 1
fails 2 "--build-id takes hexadecimal digits" --build-id xy
fails 2 "--style takes one of" -e prog --style elsewise
fails 1 "cannot open nowhere: No such" -e nowhere 1
fails 1 "no file with build-id abcd" --build-id abcd
fails 1 "one.c: " -e one.c 1
head -c 3000 prog >cut
fails 1 "cut: " -e cut 1

# A unit that is lost is told of, and the rest is answered.
at_info=$(readelf -SW prog | sed -n 's/.* \.debug_info *PROGBITS *[0-9a-f]* \([0-9a-f]*\) .*/\1/p')
cp prog damaged
printf '\377\377' | dd of=damaged bs=1 seek=$((0x$at_info + 12)) conv=notrunc \
    status=none
sym -e damaged -f main
[ "$(head -n 1 got)" = main ] || {
    echo "FAIL damaged: $(cat got)"
    failed=1
}
grep -q "1 unit of debug information is damaged\|damaged: damaged" errors || {
    echo "FAIL damaged: $(cat errors)"
    failed=1
}

# So are functions that are in a file that is not there.
gcc -O0 -g -gsplit-dwarf one.c two.c -o split
rm ./*one.dwo
sym -e split -f main
[ "$(head -n 1 got)" = main ] || {
    echo "FAIL split: $(cat got)"
    failed=1
}
grep -q "1 file of debug information is missing.*one.dwo" errors || {
    echo "FAIL split: $(cat errors)"
    failed=1
}

# Object files: addresses count from the first code, or from a section.
cat >object.c <<'END'
int first(int x) { return x + 1; }
__attribute__((section(".init.text"))) int other(int x) { return x + 2; }
END
gcc -O1 -g -c object.c -o object.o
sym -e object.o -f -s 0
same "object file" <<'END'
first
object.c:1
END
sym -e object.o -j .init.text -f -s 0
same "section of an object file" <<'END'
other
object.c:2
END
fails 1 "no loaded section has the name .none" -e object.o -j .none 0
fails 2 "do not go together" -e object.o -j .text --rva 0
exit $failed
