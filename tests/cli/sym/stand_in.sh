#!/bin/sh
# SPDX-License-Identifier: MIT
# stand_in.sh WINDLASS: windlass by the names of LLVM's symbolizers, as
# sanitizers and people talk to them, beside those where they are installed.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
export LC_ALL=C
windlass=$(realpath "$1")
command -v gcc >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset WINDLASS_DEBUG_DIRS DEBUGINFOD_URLS || true
failed=0
for name in llvm-symbolizer llvm-addr2line x86_64-linux-gnu-addr2line; do
    ln -s "$windlass" $name
done

# same WHAT: standard input is what `got` must be.
same() {
    cat >want
    cmp -s want got && return
    echo "FAIL $1"
    diff want got | head -n 10
    failed=1
}

cat >'a b.c' <<'END'
static inline __attribute__((always_inline)) int twice(int x)
{
    __asm__ volatile("nop\n\tnop");
    return x * 2;
}
int work(int x)
{
    return twice(x) + 1;
}
int main(int argc, char **argv)
{
    (void)argv;
    return work(argc);
}
END
gcc -O1 -g -no-pie -fno-pie -Wl,--build-id 'a b.c' -o 'a b'
id=$(readelf -n 'a b' | sed -n 's/ *Build ID: //p')
mkdir -p "debug/.build-id/$(echo "$id" | cut -c 1-2)"
cp 'a b' "debug/.build-id/$(echo "$id" | cut -c 1-2)/$(
    echo "$id" | cut -c 3-).debug"
at=$(nm 'a b' | sed -n 's/ T work$//p')

# ---- lines for llvm-symbolizer
cat >lines <<END
CODE "$work/a b" 0x$at
"$work/a b" $(printf %d "0x$at") and more
'$work/a b' 0$(printf %o "0x$at")
CODE FILE:"$work/a b" work
"$work/a b" work+1
"$work/a b" 0x1
"$work/a b" nosuch
BUILDID:$id 0x$at
CODE $work/missing 0x10
BUILDID:abcd 0x10
BUILDID:xyz 0x10

,
"$work/a b"
CODE
FILE:
0x10
END
./llvm-symbolizer --debug-file-directory=debug <lines >got 2>errors
frames="twice
$work/a b.c:3:5
work
$work/a b.c:8:12
"
whole="work
$work/a b.c:3:5
"
unknown="??
??:0:0
"
same "lines" <<END
$frames
$frames
$frames
$whole
$whole
$unknown
$unknown
$frames
$unknown
$unknown
$unknown
$unknown
$unknown
$unknown
$unknown
$unknown
$unknown
END
cp errors got
same "errors" <<END
llvm-symbolizer: error: '$work/missing': No such file or directory
llvm-symbolizer: no file with build-id abcd in the debug folders; see --debug-dir
llvm-symbolizer: error: 'xyz': wrong format of build-id
llvm-symbolizer: error: '': no input filename has been specified
llvm-symbolizer: error: ',': no module offset has been specified
llvm-symbolizer: error: '"$work/a b"': no module offset has been specified
llvm-symbolizer: error: 'CODE': no module offset has been specified
llvm-symbolizer: error: 'FILE:': must be followed by an input file
llvm-symbolizer: error: '0x10': no module offset has been specified
END

# Variables are not known: one warning, and answers that end where they must.
printf 'DATA "%s" 0x10\nFRAME "%s" 0x10\nCODE "%s" work\n' "$work/a b" \
    "$work/a b" "$work/a b" | ./llvm-symbolizer >got 2>errors
same "variables" <<END
??
0 0
??:?

??

$whole
END
[ "$(wc -l <errors)" -eq 1 ] && grep -q 'warning: .*DATA and FRAME' errors || {
    echo "FAIL the warning: $(cat errors)"
    failed=1
}

# An answer comes before the next line.
mkfifo to from
./llvm-symbolizer <to >from &
exec 3>to 4<from
for _ in 1 2; do
    echo "\"$work/a b\" work" >&3
    while read -r line <&4 && [ -n "$line" ]; do
        echo "$line"
    done >got
    same "an answer before the next line" <<END
work
$work/a b.c:3:5
END
done
exec 3>&- 4<&-
wait

# ---- options
./llvm-symbolizer --obj='a b' --no-inlines -a --basenames "0x$at" >got
same "--no-inlines" <<END
0x$(printf %x "0x$at")
work
a b.c:3:5

END
./llvm-symbolizer -e 'a b' -pretty-print --adjust-vma=0x100 \
    "$(printf '0x%x' $((0x$at + 0x100)))" >got
same "--adjust-vma" <<END
twice at $work/a b.c:3:5
 (inlined by) work at $work/a b.c:8:12

END
echo "$at" | ./llvm-addr2line -fiap -e 'a b' >got
same "llvm-addr2line" <<END
0x$(printf %x "0x$at"): twice at $work/a b.c:3
 (inlined by) work at $work/a b.c:8
END
./x86_64-linux-gnu-addr2line -e 'a b' -fi "$at" >got
same "a prefix" <<END
twice
$work/a b.c:3
work
$work/a b.c:8
END
for wrong in --functions=short --output-style=JSON --nonsense --adjust-vma=x; do
    if ./llvm-symbolizer $wrong </dev/null >got 2>errors || [ -s got ] ||
        [ ! -s errors ]; then
        echo "FAIL $wrong"
        failed=1
    fi
done

# ---- markup
load=0x7f0000000000
call=$(printf '0x%x' $((load + 0x$at + 1)))
cat >markup <<END
before
{{{reset}}}
with $(printf '\033[1m')colours$(printf '\033[0m') {{{module:0:a b:elf:$id}}} and more
{{{mmap:$load:0x1000000:load:0:rx:0x0}}}
{{{mmap:0x1000:0x10:load:0:r:0x0}}}
 {{{symbol:_Z1fi}}} {{{symbol:main}}} {{{no such:1}}}{{{nosuch:1}}} {{{pc:$call:ra}}} |
{{{bt:0:$call}}} |
{{{bt:11:0x7f0000000001:pc}}}
{{{bt:1:0x5}}} {{{mmap:0x1008:0x10:load:0:r:0x0}}}
{{{bt:1:0x5}}} {{{bt
{{{module:1:gone:elf:abcdef}}}
{{{mmap:0x3000:0x10:load:1:rx:0x0}}}
{{{mmap:0x4000:0x10:load:0:r:0x0}}}
{{{pc:0x3001}}}
{{{module:1:again:elf:abcdef}}}
{{{reset}}}
END
printf '{{{module:2:last:elf:abcdef}}}\r\nend' >>markup
./llvm-symbolizer --filter-markup --debug-file-directory=debug \
    <markup >got 2>errors
same "markup" <<END
before
with colours [[[ELF module #0x0 "a b"; BuildID=$id [0x1000-0x100f](r),[0x7f0000000000-0x7f0000ffffff](rx)]]]
 f(int) main {{{nosuch:1}}} work[$work/a b.c:3] |
    #0.1  $(printf '0x%016x' $((call - 1))) twice $work/a b.c:3:5 (a b+0x$(printf %x "0x$at"))
    #0    $(printf '0x%016x' $((call - 1))) work $work/a b.c:8:12 (a b+0x$(printf %x "0x$at")) |
   #11    0x00007f0000000001 (a b+0x1)
[[[bt:1:0x5]]] {{{bt
[[[ELF module #0x1 "gone"; BuildID=abcdef [0x3000-0x300f](rx)]]]
[[[ELF module #0x0 "a b"; adds [0x4000-0x400f](r)]]]
[[[pc:0x3001]]]
[[[reset]]]
[[[ELF module #0x2 "last"; BuildID=abcdef]]]
end
END
[ "$(grep -c "error:" errors)" -eq 4 ] || {
    echo "FAIL errors of markup:"
    cat errors
    failed=1
}

# ---- beside LLVM's own
llvm=$(command -v llvm-symbolizer-19 || command -v llvm-symbolizer || true)
if [ -n "$llvm" ]; then
    grep -v 'BUILDID\|^$' lines >known
    for options in "" -a -pa --no-inlines "-s -p" "--output-style=GNU -fi"; do
        # shellcheck disable=SC2086
        ./llvm-symbolizer $options <known >got 2>/dev/null
        # shellcheck disable=SC2086
        "$llvm" $options <known 2>/dev/null >theirs
        same "llvm-symbolizer $options" <theirs
    done
    ./llvm-symbolizer --filter-markup --debug-file-directory=debug \
        <markup >got 2>/dev/null || true
    if "$llvm" --filter-markup --debug-file-directory=debug \
        <markup >theirs 2>/dev/null; then
        same "llvm-symbolizer --filter-markup" <theirs
    fi
fi

# ---- a sanitizer that starts the symbolizer
printf 'int main(int argc, char **argv) { int x = argc; char *p = (char *)&x;
    (void)argv; p[argc * 4] = 1; return x; }\n' >wrong.c
if gcc -g -fsanitize=address wrong.c -o wrong 2>/dev/null; then
    for name in llvm-symbolizer x86_64-linux-gnu-addr2line; do
        mkdir "by-$name"
        link=$work/by-$name/${name#x86_64-linux-gnu-}
        ln -s "$windlass" "$link"
        ASAN_SYMBOLIZER_PATH=$link ASAN_OPTIONS=detect_leaks=0 ./wrong \
            >got 2>&1 || true
        if grep -q 'AddressSanitizer' got && grep -q '#0 0x' got; then
            grep -q "#0 0x.* in main $work/wrong.c:2" got || {
                echo "FAIL AddressSanitizer by $name: $(grep '#0' got)"
                failed=1
            }
        fi
    done
fi
exit $failed
