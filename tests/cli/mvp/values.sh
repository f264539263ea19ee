#!/bin/sh
# values.sh WINDLASS: programs whose loads are known, of every compiler that is
# there: each figure of the results equals that of a model of its own.
set -eu
windlass=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C

fail() {
    echo "values: $1"
    shift
    for file in "$@"; do
        cat "$file"
    done
    exit 1
}

# Both loops read 31,251 sectors each: the block begins 16 bytes after a border.
first=$(grep -n '/\* first' "$here/sums.c" | cut -d: -f1)
second=$(grep -n '/\* second' "$here/sums.c" | cut -d: -f1)
cp "$here/sums.c" .
for cc in gcc clang clang-14 clang-19; do
    command -v "$cc" >is || continue
    for level in -O0 -O1; do
        "$cc" -gdwarf-4 "$level" -fno-vectorize -o sums sums.c 2>cc.err ||
            "$cc" -gdwarf-4 "$level" -o sums sums.c
        "$windlass" mvp -q -o sums.mvp -- ./sums >out
        "$windlass" mvp --show sums.mvp >out
        for line in "$first" "$second"; do
            grep -Eq "^wasted 968,781  \(31/32 cbs, 31,251 sects\)  0x[0-9A-F]+: main \(sums\.c:$line\)\$" out ||
                fail "$cc $level: no such line at $line" out
        done
    done
done

# Vectors are counted apart.
gcc -gdwarf-4 -O3 -o sums sums.c
"$windlass" mvp -q -o sums.mvp -- ./sums >out
"$windlass" mvp --show sums.mvp >out
grep -Eq "^250,000 loads of 16 bytes  \(31,251 sects\)  0x[0-9A-F]+: main \(sums\.c:$first\)\$" out ||
    fail "vectors are not counted" out

# Random programs.
for seed in 1 2; do
    python3 "$here/random_loads.py" make "$seed" >loads.c
    for bits in 64 32; do
        gcc "-m$bits" -msse2 -gdwarf-4 -O1 -pthread -o loads loads.c 2>cc.err ||
            gcc "-m$bits" -msse2 -gdwarf-4 -O1 -pthread -o loads loads.c \
                -idirafter /usr/include/x86_64-linux-gnu 2>cc.err || {
            [ "$bits" = 32 ] || fail "loads.c is not compiled" cc.err
            continue
        }
        "$windlass" mvp -q -o loads.mvp -- ./loads
        "$windlass" mvp --show loads.mvp --json >loads.json
        python3 "$here/random_loads.py" check "$seed" "$bits" loads.json >out 2>&1 ||
            fail "seed $seed, $bits bits: not as the model says" out
    done
done
echo "values: all right"
