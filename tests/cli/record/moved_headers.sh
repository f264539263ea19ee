#!/bin/sh
# A library whose program headers are not in its first page, as BOLT leaves it:
# its rules and its build-id are found nevertheless.
. "$(dirname "$0")/../lib/record_lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "not x86-64"
need gcc python3

cat >library.c <<'END'
volatile unsigned long sum;
__attribute__((noinline)) static void leaf(int d)
{
    for (long i = 0; i < 200000; i++)
        sum += (unsigned long)(i * d);
}
__attribute__((noinline)) void deep(int d)
{
    volatile char room[64];
    room[0] = (char)d;
    if (d == 0)
        leaf(3);
    else
        deep(d - 1);
    sum += (unsigned long)room[0];
}
END
echo 'void deep(int); int main(void) { for (int i = 0; i < 400; i++) deep(10); }' \
    >main.c
gcc -O1 -g -shared -fPIC -fomit-frame-pointer library.c -o library.so
gcc -O1 -g main.c ./library.so -o main

# The headers get a segment of their own after all others.
python3 - <<'END'
import struct
HEADER = "<IIQQQQQQ"  # Elf64_Phdr
data = bytearray(open("library.so", "rb").read())
at, = struct.unpack_from("<Q", data, 32)
count, = struct.unpack_from("<H", data, 56)
all = [struct.unpack_from(HEADER, data, at + 56 * i) for i in range(count)]
all = [h for h in all if h[0] != 6]  # PT_PHDR
top = max(h[3] + h[6] for h in all if h[0] == 1)
data += b"\0" * (-len(data) % 4096)
end = len(data)
size = 56 * (len(all) + 1)
place = ((top + 0x1FFFFF) & ~0x1FFFFF) + end % 4096
last = max(i for i, h in enumerate(all) if h[0] == 1)
all.insert(last + 1, (1, 4, end, place, place, size, size, 0x1000))
data += b"".join(struct.pack(HEADER, *h) for h in all)
struct.pack_into("<Q", data, 32, end)
struct.pack_into("<H", data, 56, len(all))
open("library.so", "wb").write(data)
END
./main || fail "the library was not moved rightly"

record 0 -r 1000 -- ./main
complete_above 98
"$windlass" export -o folded.txt r.wndl 2>/dev/null
grep -q 'main;deep;.*deep;leaf ' folded.txt || fail "stacks: $(cat folded.txt)"
"$recdump" r.wndl | grep -q "library.so" || fail "no image of the library"
