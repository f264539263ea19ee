#!/bin/sh
# blocks.sh WINDLASS: the data of heap blocks: what is shown of it, and random
# programs, whose figures equal those of a model of its own.
set -eu
windlass=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
include=$here/../../../include
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C

fail() {
    echo "blocks: $1"
    shift
    for file in "$@"; do
        cat "$file"
    done
    exit 1
}

# said PATTERN FILE: a line must match.
said() {
    grep -Eq -e "$1" "$2" || fail "no line of $2 matches: $1" "$2"
}

# What is shown of structs, arrays and pairs.
cp "$here/lists.c" .
gcc -gdwarf-4 -O1 -I"$include" -o lists lists.c
"$windlass" mvp --blocks -q -o lists.mvp -- ./lists
"$windlass" mvp --show lists.mvp >out
said '^Loads in blocks of the heap: [0-9.]+ %$' out
said '^  in no block, in libc\.so\.6: [0-9.]+ %$' out
sed -n '/1,000 blocks of 40 bytes/,/enough/p' out |
    sed 's/(.*lists\.c/(lists.c/
        s/\(offset [02]4*, 8 bytes: \)[0-9]*/\1N/' >found
line=$(grep -n 'malloc(sizeof \*n)' lists.c | cut -d: -f1)
cat >wanted <<END
saves 16,000 of 40,000 bytes  1,000 blocks of 40 bytes  allocated by main (lists.c:$line)
  offset 0, 8 bytes: N of 64 bits constant; a pointer
  offset 8, 8 bytes: 63 of 64 bits constant; 2 values: 1, 5
  offset 16, 4 bytes: 22 of 32 bits constant; uint16_t would do
  offset 24, 8 bytes: N of 64 bits constant; a pointer
  offset 32, 8 bytes: 63 of 64 bits constant; equals offset 8
  bytes 20-23 never read or written
  24 bytes are enough, the largest fields first
END
diff wanted found >diff || fail "a list is shown otherwise" diff out
# Where one of three equal fields departs, the other two are still equal.
line=$(grep -n 'malloc(sizeof \*t)' lists.c | cut -d: -f1)
sed -n "/allocated by .*lists\.c:$line)/,/enough/s/.*\(offset [0-9]*\), .*; /\1: /p" \
    out >found
cat >wanted <<END
offset 0: uint8_t would do
offset 4: uint16_t would do
offset 8: equals offset 0
offset 16: uint16_t would do
offset 24: uint16_t would do
offset 32: equals offset 24
END
diff wanted found >diff || fail "three equal fields are shown otherwise" diff out
said '^saves 16,000 bytes  1,000 pairs: the pointer at offset 24.* of 40 bytes allocated by main .* leads to 24 bytes allocated by main' out
said 'blocks?, elements of 16 bytes  allocated by main' out
said '^  offset 4, 2 bytes.*: 16 of 16 bits constant; always 3$' out
said '^saves 2,300 of 2,400 bytes  100 blocks of 24 bytes  allocated by pool_take' out

# A static program's malloc is not replaced; a child counts for itself, and a
# program that is killed leaves what was counted.
gcc -static -gdwarf-4 -O1 -I"$include" -o static lists.c
"$windlass" mvp --blocks -o static.mvp -- ./static >out 2>err
said '^No block of the heap is known: the program is static' err
cat >forks.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static __attribute__((noinline)) void use(int count)
{
    for (int i = 0; i < count; i++) {
        volatile long *p = malloc(16);
        p[0] = i;
        (void)p[0];
        free((void *)p);
    }
}
int main(void)
{
    use(30);
    if (fork() == 0) {
        use(7);
        _exit(0);
    }
    wait(NULL);
    execl("/bin/sh", "sh", "-c", "kill -9 $$", (char *)NULL);
    return 1;
}
END
gcc -gdwarf-4 -O1 -o forks forks.c
status=0
"$windlass" mvp --blocks -q -o forks.%p.mvp -- ./forks 2>err || status=$?
[ $status -eq 137 ] || fail "a killed program has status $status" err
for file in forks.*.mvp; do
    "$windlass" mvp --show "$file" | grep -E '^A part|allocated by use'
done | sort >found
said '^A part of the run' found
said 'saves .*  30 blocks of 16 bytes  allocated by use' found
said 'saves .*  7 blocks of 16 bytes  allocated by use' found

# A wrapper of malloc is known by its callers, which ask for one size each.
cat >wraps.c <<'END'
#include <stdlib.h>
static __attribute__((noinline)) void *get(size_t size)
{
    void *volatile p = malloc(size);
    return p;
}
static __attribute__((noinline)) void *get_small(void) { return get(24); }
static __attribute__((noinline)) void *get_middle(void) { return get(40); }
static __attribute__((noinline)) void *get_large(int n) { return get(n + 90); }
static __attribute__((noinline)) void *get_huge(void) { return get(1000); }
int main(void)
{
    for (int i = 0; i < 20; i++)
        *(void *volatile *)get_small() = *(void *volatile *)get_middle() =
            *(void *volatile *)get_large(i) = get_huge();
    return 0;
}
END
gcc -gdwarf-4 -O1 -fno-optimize-sibling-calls -o wraps wraps.c
"$windlass" mvp --blocks -q -o wraps.mvp -- ./wraps
"$windlass" mvp --show wraps.mvp >out
for kind in small middle large huge; do
    said "  20 blocks.*  allocated by get_$kind " out
done

# Random programs.
for bits in 64 32; do
    python3 "$here/random_blocks.py" make 1 "$bits" >random.c
    gcc "-m$bits" -gdwarf-4 -O1 -o random random.c 2>cc.err ||
        gcc "-m$bits" -gdwarf-4 -O1 -o random random.c \
            -idirafter /usr/include/x86_64-linux-gnu 2>cc.err || {
        [ "$bits" = 32 ] || fail "random.c is not compiled" cc.err
        continue
    }
    "$windlass" mvp --blocks -q -o random.mvp -- ./random
    "$windlass" mvp --show random.mvp --json >random.json
    python3 "$here/random_blocks.py" check 1 "$bits" random.json >out 2>&1 ||
        fail "$bits bits: not as the model says" out
done
echo "blocks: all right"
