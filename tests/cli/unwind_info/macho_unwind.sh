#!/bin/sh
# macho_unwind.sh WINDLASS: the rules that come of __unwind_info, in programs
# made of object files that have the same in __eh_frame: LLVM reads that.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
need clang-19 ld64.lld-19 llvm-dwarfdump-19 llvm-objdump-19 python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C PYTHONDONTWRITEBYTECODE=1
unset WINDLASS_DEBUG_DIRS

cat >program.c <<'END_C'
int printf(const char *, ...);
void *memset(void *, int, unsigned long);
__attribute__((noinline)) int leaf(int a)
{
    return a * 3;
}
__attribute__((noinline)) int many(int *p, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) {
        s += leaf(p[i]) * i;
        if (s > 1000) {
            printf("%d\n", s);
            s -= p[0];
        }
    }
    return s;
}
__attribute__((noinline)) int dynamic(int n)
{
    char *p = __builtin_alloca(n);
    memset(p, n, n);
    return printf("%s", p) + many((int *)p, n / 4);
}
__attribute__((noinline)) int large(int n)
{
    char buf[70000];
    memset(buf, n, sizeof buf);
    return many((int *)buf, n);
}
__attribute__((noinline)) int middle(int n)
{
    char buf[700];
    memset(buf, n, sizeof buf);
    return many((int *)buf, n);
}
__attribute__((noinline)) int early(int *p, int n)
{
    if (!p)
        return n;
    return many(p, n) * many(p, n - 1) + many(p, n + 1);
}
__attribute__((noinline)) double vectors(double a, double b, int n)
{
    double r = a, x = b;
    for (int i = 0; i < n; i++) {
        r = r * b + x / a;
        x = x * r + early(&n, i);
    }
    return r + a + b + x;
}
int tail(int n)
{
    return n > 3 ? many(&n, 1) + dynamic(n) : dynamic(n * n);
}
int start(int n)
{
    return (int)vectors(n, 2, n) + tail(n) + large(n) + middle(n) * tail(n * 3) * tail(n * 5);
}
END_C
cat >libSystem.tbd <<'END_T'
--- !tapi-tbd
tbd-version: 4
targets: [ x86_64-macos, arm64-macos ]
install-name: '/usr/lib/libSystem.B.dylib'
exports:
  - targets: [ x86_64-macos, arm64-macos ]
    symbols: [ _printf, _memset, dyld_stub_binder, _bzero ]
...
END_T

failed=0
fail() {
    echo "macho_unwind: $*"
    failed=1
}

# For arm64 with frame pointers object files have no __eh_frame: what the
# compiler says in assembly, of one function.
check_frames() {
    clang-19 -target arm64-apple-macos12 -funwind-tables -fno-stack-protector \
        -ffreestanding "$@" -S -o program.s program.c
    sed -n '/^_many:/,/cfi_endproc/s/.*cfi_offset w\([0-9]*\), -\(.*\)/\1 \2/p' \
        program.s | sort >expected
    at=$(llvm-nm-19 program | sed -n 's/^00000001\(.*\) T _many/\1/p')
    sed -n "/INIT $(printf %x "0x$at") /,/cfa: x29 16 +/p" ours |
        sed 's/\.ra:/x30:/' | grep -o 'x[0-9]*: .cfa [0-9]*' |
        sed 's/x\(.*\): .cfa/\1/' | sort >told
    [ -s told ] && cmp -s expected told ||
        fail "arm64 $*: $(cat expected) but $(cat told)"
    llvm-nm-19 -n program >names
    llvm-objdump-19 -d --no-show-raw-insn program >code
    python3 "$here/../../oracle/a64_vs_code.py" ours names code 0x100000000 ||
        fail "arm64 $*: the code does otherwise"
}

# check ARCH HOW OPTION...: __text of the program is that of the object file.
check() {
    arch=$1
    how=$2
    shift 2
    clang-19 -target "$arch-apple-macos12" -funwind-tables \
        -fno-stack-protector -ffreestanding "$@" \
        -femit-dwarf-unwind=always -c -o program.o program.c
    ld64.lld-19 -arch "$arch" -platform_version macos 12 12 -e _start \
        -o program libSystem.tbd program.o
    llvm-nm-19 -n program.o >names
    "$windlass" unwind-info program >said
    grep -q '^rejected: nothing' said || fail "$*: $(cat said)"
    count=$(grep -c ' [Tt] _' names)
    grep -q "^__unwind_info: $count functions," said ||
        fail "$arch $*: not $count functions"
    "$windlass" unwind-info --breakpad program >ours
    "$windlass" dump-syms program 2>/dev/null | grep '^STACK' >dumped
    cmp -s ours dumped || fail "$*: dump-syms has other rules"
    "$windlass" unwind-table build -o table program 2>/dev/null
    "$windlass" unwind-table verify program table || fail "$*: wrong table"
    if [ "$arch$how" = arm64frames ]; then
        check_frames "$@"
        return
    fi
    llvm-dwarfdump-19 --eh-frame program.o >theirs
    llvm-objdump-19 -d --no-show-raw-insn program.o >code
    base=$(llvm-objdump-19 -h program | awk '$2 == "__text" { print $4 }')
    python3 "$here/../../oracle/stack_cfi_vs_llvm.py" ours theirs code \
        $((0x100000000 - 0x$base)) "$how" names || fail "$arch $*: differs"
}

for level in -O0 -O2 -Os; do
    check x86_64 whole $level
    check x86_64 whole $level -fomit-frame-pointer
    check arm64 frames $level
    check arm64 bodies $level -fomit-frame-pointer
done

# Without any.
clang-19 -target arm64-apple-macos12 -fno-stack-protector -ffreestanding \
    -c -o program.o program.c
ld64.lld-19 -arch arm64 -platform_version macos 12 12 -e _start -o program \
    libSystem.tbd program.o
"$windlass" unwind-info program 2>said && fail "it has none"
grep -q 'has no call frame information (__unwind_info)$' said ||
    fail "not what is missing: $(cat said)"
exit $failed
