#!/bin/sh
# SPDX-License-Identifier: MIT
# Where PDB files are found, what they are called by, and that symbol files
# made of them say the same.
#
#     pdb.sh WINDLASS
set -eu
. "$(dirname "$0")/../../lib/have.sh"
export LC_ALL=C
windlass=$1
here=$(cd "$(dirname "$0")" && pwd)
need clang-19 lld-link-19 llvm-readobj-19 python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0

fail() {
    echo "FAIL $*"
    failed=1
}

mkdir made
cat >made/a.c <<'END'
volatile int sink;
static inline __attribute__((always_inline)) int deep(int x)
{
    sink = x;
    return x + sink;
}
int start(void)
{
    return deep(3) + deep(4);
}
END
clang-19 --target=x86_64-pc-windows-msvc -O1 -g -gcodeview -c made/a.c -o a.obj
lld-link-19 /debug /nodefaultlib /entry:start /subsystem:console \
    /out:made/a.exe /pdb:made/a.pdb a.obj
guid=$(llvm-readobj-19 --coff-debug-directory made/a.exe |
    sed -n 's/.*PDBGUID: {\(.*\)}/\1/p')
id=$(echo "$guid" | tr -d -)1
frame='#01: ???[PATH +0x1006]'

# Text as a Windows path in a program for sed.
windows() {
    printf '%s' "$1" | sed 's/\\/\\\\/g'
}

# Lines of the inlined call and of the function.
check() {
    what=$1
    path=$2
    shift 2
    echo "$frame" | sed "s|PATH|$path|" |
        "$windlass" fix --inlines "$@" >said 2>errors || fail "$what: status"
    if ! grep -q 'deep .*a.c:4)' said || ! grep -q 'start .*a.c:9)' said; then
        fail "$what: $(cat said errors)"
    fi
}

check "beside the binary, or where it was written" made/a.exe
check "a PDB file alone" made/a.pdb
"$windlass" sym --ids made/a.exe >ids
grep -qi "guid *$guid, age 1" ids || fail "ids of the binary"
"$windlass" sym --ids made/a.pdb >ids
grep -qx "breakpad  $id" ids || fail "ids of the PDB file"

# Other blocks, none of them where one would look for it.
for block in 512 1024 8192; do
    python3 "$here/repack_pdb.py" made/a.pdb shuffled.pdb $block 7
    check "blocks of $block" shuffled.pdb
done

# Away from where it was written.
mkdir moved
mv made/a.pdb made/other
mkdir -p "store/a.pdb/$id"
cp made/a.exe moved/a.exe
cp made/other "store/a.pdb/$id/a.pdb"
check "in a symbol store" moved/a.exe -l store
check "in a debug folder" moved/a.exe --debug-dir store
cp made/other moved/a.pdb
check "beside it" moved/a.exe
for path in made/other moved/a.exe; do
    "$windlass" dump-syms -o a.sym $path 2>/dev/null
    head -n 1 a.sym | grep -q "^MODULE windows x86_64 $id " ||
        fail "MODULE of $path"
    check "a symbol file of $path" a.sym
done
# Others look for it by the PDB file's name.
[ "$(head -n 1 a.sym)" = "MODULE windows x86_64 $id a.pdb" ] ||
    fail "MODULE: $(head -n 1 a.sym)"
mkdir -p "symbols/a.pdb/$id"
cp a.sym "symbols/a.pdb/$id/a.sym"

# The binary is not there. One without its name's suffix is not looked for.
mkdir alone
cp made/other alone/a.pdb
check "beside where it was" alone/a.exe
check "beside a library that was" alone/a.DLL
check "the binary missing, a symbol store" gone/a.exe -l store
check "the binary missing, a folder" gone/a.exe -l alone
check "the binary missing, a debug folder" gone/a.exe --debug-dir alone
"$windlass" sym -f -e alone/a.exe 0x1006 >said || fail "sym without binary"
grep -q '^deep$' said || fail "sym without binary: $(cat said)"
"$windlass" sym -e alone/a 0x1006 2>errors && fail "sym: no suffix"
grep -q 'alone/a' errors || fail "sym: no suffix: $(cat errors)"

# Windows' paths.
there=$(windows 'C:\out\a.exe')
check "a path of Windows, the binary there" "$there" -l moved
check "a path of Windows, a PDB file" "$there" -l alone
check "a path of Windows, a symbol store" "$there" -l store
check "a path of Windows, moved by --map" "$there" --map 'C:\out=alone'
check "folders below that of --map" "$(windows 'D:\alone\a.exe')" \
    --map 'D:=.'
check "one of a PDB file" "$(windows 'out\a.pdb')" -l alone
echo "$frame" | sed "s|PATH|$there|" | "$windlass" fix -b symbols >said 2>&1
grep -q 'start \[.*a.c:9\]' said || fail "a symbol file: $(cat said)"
# Where they are: by the binary's name, by that of its PDB file.
mkdir -p "by_name/a.exe/$id" renamed
cp a.sym "by_name/a.exe/$id/a.exe.sym"
echo "$frame" | sed "s|PATH|$there|" | "$windlass" fix -b by_name >said 2>&1
grep -q 'start \[.*a.c:9\]' said || fail "by the binary: $(cat said)"
cp moved/a.exe renamed/c.exe
echo "$frame" | sed "s|PATH|renamed/c.exe|" |
    "$windlass" fix -b symbols >said 2>&1
grep -q 'start \[.*a.c:9\]' said || fail "by the PDB file: $(cat said)"
printf '%s\n' '"#01: ???[C:\\out\\a.exe +0x1006]"' |
    "$windlass" fix -j -l alone >said 2>&1 || fail "a path of Windows, JSON"
grep -q '^"#01: start (.*a.c:9)"$' said || fail "JSON: $(cat said)"
mkdir plain
cp made/a.exe plain/a
echo '#01: ???[out\a +0x1006]' | "$windlass" fix -l plain >said 2>/dev/null
grep -q 'start' said && fail "no path of Windows: $(cat said)"

# Of several builds none is taken, unless there is one beside.
mkdir -p "several/a.pdb/$id" several/a.pdb/00112233445566778899AABBCCDDEEFF1
for each in several/a.pdb/*; do
    cp made/other "$each/a.pdb"
done
echo "$frame" | sed 's|PATH|gone/a.exe|' |
    "$windlass" fix -l several >said 2>errors
grep -q 'several builds' errors || fail "several builds: $(cat said errors)"
grep -q 'start' said && fail "one of several builds was taken"
lower=$(echo "$guid" | tr -d - | tr A-F a-f)
swapped=$(echo "$lower" |
    sed 's/^\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)/\4\3\2\1\6\5\8\7/')
asked="#1 0x7f00 in f (gone/a.exe+0x1006) (BuildId: $swapped)"
echo "$asked" | "$windlass" fix -l several >said 2>errors
[ -s errors ] && fail "the build is told: $(cat errors)"

# One of another build is told of and not used.
printf '\0' | dd of=moved/a.pdb bs=1 seek=0 conv=notrunc 2>/dev/null
echo "$frame" | sed 's|PATH|moved/a.exe|' | "$windlass" fix >said 2>errors
grep -q 'a.pdb' errors || fail "damage is not told: $(cat errors)"

# Cut short anywhere, none does harm.
size=$(wc -c <made/other)
for cut in 0 1 31 40 55 600 5000 "$((size / 2))" "$((size - 1))"; do
    head -c "$cut" made/other >cut.pdb
    "$windlass" sym -f -e cut.pdb 0x1006 >said 2>errors || {
        [ $? -le 2 ] && grep -q cut.pdb errors || fail "cut at $cut"
    }
done

# A directory that points at itself, in itself or in the list of its blocks;
# blocks of all streams in one place; sizes that are none. It is said where.
cat >wild.py <<'END'
import struct, sys
whole = open(sys.argv[1], "rb").read()
block, _, _, size, _, listed = struct.unpack_from("<6I", whole, 32)
(at,) = struct.unpack_from("<I", whole, listed * block)
(count,) = struct.unpack_from("<I", whole, at * block)
sizes = struct.unpack_from(f"<{count}I", whole, at * block + 4)
blocks = sum(-(-n // block) for n in sizes if n != 0xFFFFFFFF)
streams = at * block + 4 + 4 * count
places = {
    "listed_in_itself": [(listed * block, listed)],
    "listed_in_header": [(52, 0)],
    "listed_nowhere": [(52, 0xFFFFFFFF)],
    "directory_huge": [(44, 0xFFFFFFFF)],
    "block_size": [(32, block + 1)],
    "streams_many": [(at * block, 0x3FFFFFFF)],
    "stream_huge": [(at * block + 8, len(whole))],
}
for to in (0, listed, at):
    places[f"streams_at_{to}"] = [(streams + 4 * i, to) for i in range(blocks)]
for name, numbers in places.items():
    data = bytearray(whole)
    for where, number in numbers:
        struct.pack_into("<I", data, where, number)
    open(f"wild_{name}.pdb", "wb").write(data)
END
python3 wild.py made/other
for wild in wild_*.pdb; do
    timeout 20 "$windlass" sym -f -e "$wild" 0x1006 >said 2>errors &&
        fail "$wild: $(cat said)"
    grep -q "^windlass: error: $wild: [a-z0-9 ]*+0x[0-9a-f]*: ." errors ||
        fail "$wild: $(cat errors)"
done
exit $failed
