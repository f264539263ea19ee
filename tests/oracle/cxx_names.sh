#!/bin/sh
# SPDX-License-Identifier: MIT
# Differential check of C++ names: those of a file with all that compilers of
# today mangle, and some of libLLVM's and libclang-cpp's, against llvm-cxxfilt
# and c++filt. How they may differ is in cxx_names.py. Names of Rust, which are
# some of librustc_driver's, have to be as libiberty has them.
#
#     cxx_names.sh CXXFILT SOURCES
set -eu
here=$(dirname "$0")
. "$here/../lib/have.sh"
export LC_ALL=C
cxxfilt=$1
need clang++-19 llvm-nm-19 llvm-cxxfilt-19 c++filt python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# The names in the file $1.
judge() {
    "$cxxfilt" <"$1" >"$1.ours"
    llvm-cxxfilt-19 <"$1" >"$1.llvm"
    c++filt <"$1" >"$1.gnu"
    echo "${1##*/}:"
    python3 "$here/cxx_names.py" "$1" "$1.ours" "$1.llvm" "$1.gnu" || failed=1
}

clang++-19 -std=c++23 -fblocks -w -c "$2/cxx_names.cc" -o "$work/names.o"
llvm-nm-19 "$work/names.o" | awk '{ print $NF }' | grep -E '^_+Z' | sort -u \
    >"$work/constructs"
judge "$work/constructs"

ldd "$(command -v clang++-19)" |
    awk '/libLLVM|libclang-cpp/ { print $3 }' >"$work/libraries"
while read -r library; do
    llvm-nm-19 -D "$library" | awk '{ print $NF }' | sed 's/@.*//' |
        grep '^_Z' | sort -u | awk 'NR % 40 == 7' >"$work/${library##*/}"
    judge "$work/${library##*/}"
done <"$work/libraries"

"$cxxfilt" <"$2/rust_names" >"$work/rust"
"$cxxfilt" -l <"$2/rust_names" | diff - "$work/rust" || failed=1
exit $failed
