#!/bin/sh
# Differential check of the VM profiler: the accesses that Valgrind's own tool
# lackey sees, put through a model of the clock in Python, fault exactly where
# vmprof says they do, for ten sizes of memory and pages of 4K and 64K.
#
# Both tools must put the program's memory at the same place within a page.
# Valgrind puts the stack of an x86 program below its own, for which the kernel
# picks any page of 4K by chance. In one run of 16 such a stack lies in two pages
# of 64K, so x86 programs are compared with pages of 4K only.
#
# vmprof_vs_lackey.sh WINDLASS TOOLS WALK...
set -eu
windlass=$1
tools=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Both tools from one folder: $VALGRIND_LIB is on the program's own stack.
mkdir "$work/tools"
ln -s "$tools"/* "$work/tools/"
for file in /usr/libexec/valgrind/lackey-*; do
    ln -s "$file" "$work/tools/"
done

# compare SHIFT FRAMES... -- COMMAND...
compare() {
    shift_bits=$1
    shift
    frames= mem=
    while [ "$1" != -- ]; do
        frames="$frames $1"
        mem="$mem,$(($1 << shift_bits))"
        shift
    done
    shift
    VALGRIND_LIB=$work/tools valgrind --tool=lackey --trace-mem=yes \
        --log-file="$work/trace" "$@" >/dev/null
    # shellcheck disable=SC2086 # a list of numbers
    python3 "$here/vmprof_model.py" "$work/trace" "$shift_bits" $frames \
        >"$work/wanted"
    VALGRIND_LIB=$work/tools valgrind -q --tool=vmprof --system=no \
        --mem="${mem#,}" --page=$((1 << shift_bits)) \
        --vmprof-out-file="$work/vm" "$@" >/dev/null
    awk '$1 == "instructions" { i = $2 } $1 == "data" { d = $2 }
        $1 == "memory" { print i, d, $5, $6, $7, $8, $9, $10 }' \
        "$work/vm" >"$work/seen"
    diff "$work/wanted" "$work/seen" || {
        echo "vmprof and the model differ: $* (pages of 1 << $shift_bits)"
        exit 1
    }
}

# is_x86 PROGRAM: the class of the ELF file is that of 32 bits.
is_x86() {
    [ "$(od -An -tu1 -j4 -N1 "$1" | tr -d ' ')" = 1 ]
}

for program in "$@"; do
    compare 12 8 16 40 64 100 150 200 300 400 1000 -- "$program" 1
    compare 12 5 33 77 101 -- "$program" 4711
    if ! is_x86 "$program"; then
        compare 16 4 10 20 -- "$program" 9
    fi
done
"$windlass" vmprof --show "$work/vm" >/dev/null
echo "vmprof faults where the model does"
