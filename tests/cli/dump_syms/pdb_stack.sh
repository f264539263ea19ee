#!/bin/sh
# SPDX-License-Identifier: MIT
# What i386 code does to the stack, as dump-syms writes it of a program with its
# PDB file and of that alone, is what llvm-pdbutil tells, record by record.
#
#     pdb_stack.sh WINDLASS
set -eu
. "$(dirname "$0")/../../lib/have.sh"
export LC_ALL=C
windlass=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
need clang-19 lld-link-19 llvm-pdbutil-19 python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
. "$here/../lib/pdb_sources.sh"
failed=0
fail() {
    echo "pdb_stack: $*"
    failed=1
}

# build NAME MACHINE OPTION...
build() {
    name=$1
    machine=$2
    shift 2
    for source in a.cc b.c; do
        clang-19 --target=$machine-pc-windows-msvc -g -gcodeview -fno-rtti \
            "$@" -c $source -o $source.obj
    done
    lld-link-19 /debug /nodefaultlib /entry:start /subsystem:console \
        "/out:$name.exe" "/pdb:$name.pdb" a.cc.obj b.c.obj
}

# RVA | code | locals | parameters | stack | prologue | saved | 3 flags | program
theirs() {
    llvm-pdbutil-19 dump -fpo "$1" | tr -d '\r' | awk -F ' *[|] ' '
        /^[0-9A-F]+ +[|]/ {
            rva = tolower($1)
            sub(/^0*/, "", rva)
            printf "STACK WIN 4 %s %x %x 0 %x %x %x %x 1 %s\n", rva, $2, $6,
                $4, $7, $3, $5, $11
        }'
}

for how in -O0 -O1 -O2 '-O2 -fno-omit-frame-pointer'; do
    # shellcheck disable=SC2086
    build program i686 $how
    theirs program.pdb | sed 's/ *$//' >wanted
    for file in program.exe program.pdb; do
        "$windlass" dump-syms $file >out 2>err
        sed -n 's/ *$//; /^STACK/p' out >ours
        cmp -s wanted ours ||
            fail "$file $how: $(diff wanted ours | head -n 6)"
        [ ! -s err ] || fail "$file $how: $(cat err)"
    done
    # The program by itself has the rules that its symbol file has.
    "$windlass" unwind-info program.exe >said
    grep -q '^rejected: nothing' said || fail "rules $how: $(cat said)"
    "$windlass" unwind-info --breakpad program.exe >rules
    "$windlass" dump-syms -o program.sym program.exe
    "$windlass" unwind-info --breakpad program.sym >wanted
    cmp -s wanted rules ||
        fail "rules $how: $(diff wanted rules | head -n 6)"
    [ -s rules ] || fail "no rules $how"
    # Programs, run with numbers, come to what the rules do.
    python3 "$here/stack_records.py" program.sym rules >computed ||
        fail "computed $how: $(cat computed)"
    "$windlass" unwind-table build -o table program.exe 2>/dev/null
    "$windlass" unwind-table verify program.exe table ||
        fail "the table $how is wrong"
    count=$(wc -l <ours)
    echo "$how: $count records"
    [ "$count" -gt 10 ] || fail "$how: $count records"
done

# A record of the PDB file that is damaged is told of: here the place of its
# program.
cp program.pdb whole.pdb
python3 -c '
import struct, sys
start, size = (int(word, 16) for word in sys.argv[1:3])
pdb = bytearray(open("program.pdb", "rb").read())
at = pdb.index(struct.pack("<II", start, size))
pdb[at + 20:at + 24] = b"\xff\xff\xff\xff"
open("program.pdb", "wb").write(pdb)' $(awk 'NR == 1 { print $4, $5 }' ours)
"$windlass" unwind-info program.exe >said
grep -q 'damaged records: 1; first: .*program.pdb: frame data+0x' said ||
    fail "a damaged record: $(cat said)"
"$windlass" unwind-table build -o table program.exe 2>err
grep -q 'damaged unwind records of a PDB file: 1; first: .*frame data+0x' err ||
    fail "a damaged record in a table: $(cat err)"
mv whole.pdb program.pdb

# Without the PDB file there are no rules.
mkdir alone
cp program.exe alone/
mv program.pdb away.pdb
"$windlass" unwind-info alone/program.exe >out 2>err &&
    fail "rules without a PDB file: $(cat out)"
grep -q 'nor has a PDB file: program.pdb: no such file beside' err ||
    fail "no PDB file: $(cat err)"

# One that is there and of no use is told of as it is.
build other_build i386 -O0
cp other_build.pdb alone/program.pdb
"$windlass" unwind-info alone/program.exe >out 2>err &&
    fail "rules of another build: $(cat out)"
grep -q 'nor has a PDB file: program.pdb: .*belongs to another build' err ||
    fail "another build: $(cat err)"
"$windlass" unwind-table build -o table alone/program.exe >out 2>err &&
    fail "a table of another build: $(cat out)"
grep -q 'no unwind rules from a PDB file: .*alone/program.pdb: .*another build' err ||
    fail "a table of another build: $(cat err)"
mv away.pdb program.pdb

# Nothing is said of other code; a file without such records says so.
build other x86_64 -O1
"$windlass" dump-syms other.pdb >out 2>err
grep -q '^STACK' out && fail "x86-64 has $(grep -c '^STACK' out) records"
grep -q 'no STACK CFI.*only PDB files of i386 code' err || fail "x86-64: $(cat err)"
exit $failed
