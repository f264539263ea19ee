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
    sed 's/(\/[^ ]*lists\.c/(lists.c/
        s/\(offset [02]4*, 8 bytes, [a-z]*: \)[0-9]*/\1N/' >found
line=$(grep -n 'malloc(sizeof \*n)' lists.c | cut -d: -f1)
cat >wanted <<END
saves 16,000 of 40,000 bytes  struct node (inferred), 1,000 blocks of 40 bytes  allocated by main (lists.c:$line)
  offset 0, 8 bytes, next: N of 64 bits constant; a pointer
  offset 8, 8 bytes, kind: 63 of 64 bits constant; 2 values: 1, 5
  offset 16, 4 bytes, value: 22 of 32 bits constant; uint16_t would do
  offset 24, 8 bytes, name: N of 64 bits constant; a pointer
  offset 32, 8 bytes, copy: 63 of 64 bits constant; equals offset 8
  bytes 20-23 (unused) never read or written
  24 bytes are enough, the largest fields first: next, name, value (2 bytes), kind (1 byte)
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
said '^saves 16,000 bytes  1,000 pairs: the pointer name at offset 24 of 40 bytes allocated by main .* leads to 24 bytes allocated by main' out
said 'blocks?, elements of 16 bytes  allocated by main' out
said '^  offset 4, 2 bytes.*: 16 of 16 bits constant; always 3$' out
said '^saves 2,300 of 2,400 bytes  struct item \(inferred\), 100 blocks of 24 bytes  allocated by pool_take' out

# Types: given, by the variable of a line, of a new, of an inlined call; none
# where two structs are as large.
cat >types.cc <<'END'
#include <stdlib.h>
struct pair { int *first; short second, third; char tail[4]; };
struct twin { long a, b; };
struct Node { Node *next; struct { char kind; int many[3]; } in; double d; };
struct Tree { Node *root; };
struct piece { long id; char unused[56]; };
struct loose { char a; long b; short c[3]; char d; };
struct bits { char a; long b; unsigned c : 3; };
struct by_hand { char a; alignas(4) char b; long c; char d; };
struct based : by_hand { char c; long d; char e; };
struct __attribute__((packed)) tight { char a; long b; char c; };
template <class T> static void use(T *p) { *(volatile long *)p = 1; (void)*(volatile long *)p; }
static void *volatile kept;
static inline __attribute__((always_inline)) Node *inlined(void)
{
    Node *fresh = (Node *)malloc(sizeof(Node));
    return fresh;
}
__attribute__((noinline)) void plain(pair *other)
{
    void *p = malloc(16); /* given */
    use(kept = p);
}
__attribute__((noinline)) void either(pair *x, twin *y) { use(kept = malloc(16)); }
__attribute__((noinline)) void by_line(pair *x)
{
    twin *y = (twin *)malloc(16); /* line */
    use(kept = y);
}
__attribute__((noinline)) void member(Tree *t) { t->root = new Node(); use(t->root); }
__attribute__((noinline)) void within(twin *a) { use(kept = inlined()); }
#define MAKES(type) \
    __attribute__((noinline)) void make_##type(void) \
    { \
        type *made = (type *)malloc(sizeof(type)); \
        use(kept = made); \
    }
MAKES(loose) MAKES(bits) MAKES(by_hand) MAKES(based) MAKES(tight)
__attribute__((noinline)) void many(void) { piece *p = new piece[10]; use(kept = p + 3); }
int main(void)
{
    Tree t;
    for (int i = 0; i < 3; i++) {
        plain(NULL); either(NULL, NULL); by_line(NULL); member(&t); within(NULL);
        make_loose(); make_bits(); make_by_hand(); make_based(); make_tight();
    }
    many();
    return 0;
}
END
g++ -w -gdwarf-4 -O1 -o types types.cc
line=$(grep -n 'given' types.cc | cut -d: -f1)
"$windlass" mvp --blocks -q -o types.mvp -- ./types
"$windlass" mvp --show types.mvp >out
said 'struct pair \(inferred\), 3 blocks of 16 bytes  allocated by plain' out
said ' bytes  3 blocks of 16 bytes  allocated by either' out
said 'struct twin \(inferred\), 3 blocks of 16 bytes  allocated by by_line' out
said 'struct Node \(inferred\), 3 blocks of 32 bytes  allocated by member' out
said 'struct Node \(inferred\), 3 blocks of 32 bytes  allocated by (within|inlined)' out
for type in loose bits by_hand based tight; do
    said "struct $type \\(inferred\\), 3 blocks" out
done
grep 'another order' out >found
echo '  16 bytes in another order, saves 24: b, c, a, d' >wanted
diff wanted found >diff || fail "orders of members are shown otherwise" diff out
"$windlass" mvp --show types.mvp --type "types.cc:$line=struct twin" \
    --type many=piece --type either=Node --type nowhere=pair \
    --type member=gone >out 2>err
said 'struct twin, 3 blocks of 16 bytes  allocated by plain' out
said '^  offset 0, 8 bytes, a: ' out
said '^  bytes 8-15 \(b\) never read or written' out
said 'struct piece, 1 block, elements of 64 bytes  allocated by many' out
said 'either=Node is not used: the type is larger than the blocks' err
said 'nowhere=pair is not used: no line that allocates has that text' err
said 'member=gone is not used: debug information has no such type' err
status=0
"$windlass" mvp --show types.mvp --type pair >out 2>err || status=$?
[ $status -eq 2 ] || fail "a type without a site has status $status" err

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

# One load goes to and fro between blocks of two lines that take each other's
# place in memory: what is known of an address is over with its block.
cat >places.c <<'END'
#include <stdlib.h>
static __attribute__((noinline)) int get(volatile int *p) { return *p; }
static int *one(void) { int *volatile p = malloc(24); *p = 1; return p; } /* one */
static int *two(void) { int *volatile p = malloc(24); *p = 2; return p; } /* two */
int main(void)
{
    int *other = calloc(1, 40), sum = 0;
    for (int i = 0; i < 100; i++) {
        int *p = i % 2 ? one() : two();
        for (int k = 0; k < 1 + i % 2; k++)
            sum += get(p) + get(other);
        free(p);
    }
    return sum == 0;
}
END
gcc -gdwarf-4 -O1 -fno-inline -o places places.c
"$windlass" mvp --blocks -q -o places.mvp -- ./places || true
awk '$1 == "site" && $3 == 50 { lines[$2] = 1 }
    $1 == "read" && $5 == 4 && $2 in lines { print $6 }' places.mvp | sort >found
printf '100\n50\n' >wanted
diff wanted found >diff || fail "loads of two lines in one place" diff places.mvp

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
