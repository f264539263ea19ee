#!/bin/sh
# pe_arm64_unwind.sh WINDLASS: the rules that come of .pdata of ARM64 Windows'
# files, at every instruction, against what the code does to the stack; the
# functions and their prologues against llvm-readobj.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
need clang-19 lld-link-19 llvm-readobj-19 llvm-objdump-19 python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C
unset WINDLASS_DEBUG_DIRS
failed=0
fail() {
    echo "pe_arm64_unwind: $*"
    failed=1
}

cat >program.c <<'END_C'
void *memset(void *p, int c, __SIZE_TYPE__ n) { char *q = p; while (n--) *q++ = (char)c; return p; }
int _fltused;
int out(const char *f, ...);
__attribute__((noinline)) int leaf(int a) { return a * 3; }
volatile int sink;
__attribute__((noinline)) int out(const char *f, ...) {
  __builtin_va_list ap; __builtin_va_start(ap, f); int n = 0;
  for (; *f; f++) { if (*f == '%') n += __builtin_va_arg(ap, int); else sink += *f; }
  __builtin_va_end(ap); return n; }
__attribute__((noinline)) int many(int *p, int n) {
  int s = 0;
  for (int i = 0; i < n; i++) { s += leaf(p[i]) * i; if (s > 1000) { out("%d", s); s -= p[0]; } }
  return s; }
__attribute__((noinline)) int dynamic(int n) {
  char *p = __builtin_alloca(n); memset(p, n, n);
  return out("%s", p[0]) + many((int *)p, n / 4); }
__attribute__((noinline)) double vectors(double a, double b, double c, int n) {
  double r = a, x = b, y = c, z=a*b;
  for (int i = 0; i < n; i++) { r = r * b + c / a; x = x*r+y; y+=z; out("%f", (int)r); z*=x; }
  return r + a + b + c + x + y+z; }
__attribute__((noinline)) int large(int n) { char buf[70000]; memset(buf, n, sizeof buf); return many((int *)buf, n); }
__attribute__((noinline)) int middle(int n) { char buf[700]; memset(buf, n, sizeof buf); return many((int *)buf, n); }
__attribute__((noinline)) int huge(int n) { static char keep; char buf[20000000]; buf[n*1000]=1; keep=buf[n]; return many((int *)buf, n)+keep; }
__attribute__((noinline)) int six(int a,int b,int c,int d,int e,int f,int g){ int q=many(&a,b),r=many(&c,d),s=many(&e,f); return q*r+s*g+leaf(a)*leaf(b)*leaf(c)+a+b+c+d+e+f; }
int tail(int n) { return n > 3 ? many(&n, 1) + dynamic(n) : dynamic(n * n); }
int start(int n) { return tail(n) + large(n) + middle(n) * tail(n * 3) * tail(n * 5) + huge(n) + six(n,n,n,n,n,n,n)+ (int)vectors(n,n,n,n); }
END_C
cat >chkstk.s <<'END_S'
 .globl __chkstk
__chkstk: ret
END_S

# What compilers do not use, and use seldom.
cat >forms.s <<'END_S'
 .macro func name
 .globl \name
 .def \name; .scl 2; .type 32; .endef
 .p2align 2
 .seh_proc \name
\name:
 .endm
 .macro done
 .seh_endfunclet
 .seh_endproc
 .endm
 .text
 func start
 pacibsp
 .seh_pac_sign_lr
 stp x19, x20, [sp, #-96]!
 .seh_save_r19r20_x 96
 stp x21, x22, [sp, #16]
 .seh_save_next
 stp x23, x24, [sp, #32]
 .seh_save_next
 stp x25, x26, [sp, #48]
 .seh_save_regp x25, 48
 stp x27, x28, [sp, #64]
 .seh_save_regp x27, 64
 stp x29, x30, [sp, #80]
 .seh_save_fplr 80
 add x29, sp, #80
 .seh_add_fp 80
 sub sp, sp, #32
 .seh_stackalloc 32
 .seh_endprologue
 mov x9, sp
 sub x9, x9, x0
 mov sp, x9
 cbz x0, 1f
 .seh_startepilogue
 sub sp, x29, #80
 .seh_add_fp 80
 ldp x29, x30, [sp, #80]
 .seh_save_fplr 80
 ldp x27, x28, [sp, #64]
 .seh_save_regp x27, 64
 ldp x25, x26, [sp, #48]
 .seh_save_regp x25, 48
 ldp x23, x24, [sp, #32]
 .seh_save_next
 ldp x21, x22, [sp, #16]
 .seh_save_next
 ldp x19, x20, [sp], #96
 .seh_save_r19r20_x 96
 autibsp
 .seh_pac_sign_lr
 .seh_endepilogue
 ret
1: nop
 nop
 .seh_startepilogue
 sub sp, x29, #80
 .seh_add_fp 80
 ldp x29, x30, [sp, #80]
 .seh_save_fplr 80
 ldp x27, x28, [sp, #64]
 .seh_save_regp x27, 64
 ldp x25, x26, [sp, #48]
 .seh_save_regp x25, 48
 ldp x23, x24, [sp, #32]
 .seh_save_next
 ldp x21, x22, [sp, #16]
 .seh_save_next
 ldp x19, x20, [sp], #96
 .seh_save_r19r20_x 96
 autibsp
 .seh_pac_sign_lr
 .seh_endepilogue
 ret
 done

 func one_each
 str x19, [sp, #-64]!
 .seh_save_reg_x x19, 64
 str x30, [sp, #8]
 .seh_save_reg x30, 8
 stp d8, d9, [sp, #16]
 .seh_save_fregp d8, 16
 stp d10, d11, [sp, #32]
 .seh_save_next
 str d12, [sp, #48]
 .seh_save_freg d12, 48
 stp d14, d15, [sp, #-32]!
 .seh_save_fregp_x d14, 32
 str d13, [sp, #-16]!
 .seh_save_freg_x d13, 16
 sub sp, sp, #1, lsl #12
 .seh_stackalloc 4096
 sub sp, sp, #512
 .seh_stackalloc 512
 nop
 .seh_nop
 .seh_endprologue
 bl start
 .seh_startepilogue
 add sp, sp, #512
 .seh_stackalloc 512
 add sp, sp, #1, lsl #12
 .seh_stackalloc 4096
 ldr d13, [sp], #16
 .seh_save_freg_x d13, 16
 ldp d14, d15, [sp], #32
 .seh_save_fregp_x d14, 32
 ldr d12, [sp, #48]
 .seh_save_freg d12, 48
 ldp d10, d11, [sp, #32]
 .seh_save_next
 ldp d8, d9, [sp, #16]
 .seh_save_fregp d8, 16
 ldr x30, [sp, #8]
 .seh_save_reg x30, 8
 ldr x19, [sp], #64
 .seh_save_reg_x x19, 64
 .seh_endepilogue
 b start
 done


 func pairs
 stp x21, x22, [sp, #-48]!
 .seh_save_regp_x x21, 48
 stp x19, x30, [sp, #16]
 .seh_save_lrpair x19, 16
 sub sp, sp, #256
 .seh_stackalloc 256
 .seh_endprologue
 bl start
 .seh_startepilogue
 add sp, sp, #256
 .seh_stackalloc 256
 ldp x19, x30, [sp, #16]
 .seh_save_lrpair x19, 16
 ldp x21, x22, [sp], #48
 .seh_save_regp_x x21, 48
 .seh_endepilogue
 ret
 done

 func any_reg
 stp x20, x21, [sp, #-96]!
 .seh_save_any_reg_px x20, 96
 str x23, [sp, #16]
 .seh_save_any_reg x23, 16
 stp x25, x26, [sp, #32]
 .seh_save_any_reg_p x25, 32
 stp q8, q9, [sp, #48]
 .seh_save_any_reg_p q8, 48
 str d10, [sp, #80]
 .seh_save_any_reg d10, 80
 str x27, [sp, #-16]!
 .seh_save_any_reg_x x27, 16
 .seh_endprologue
 nop
 .seh_startepilogue
 ldr x27, [sp], #16
 .seh_save_any_reg_x x27, 16
 ldr d10, [sp, #80]
 .seh_save_any_reg d10, 80
 ldp q8, q9, [sp, #48]
 .seh_save_any_reg_p q8, 48
 ldp x25, x26, [sp, #32]
 .seh_save_any_reg_p x25, 32
 ldr x23, [sp, #16]
 .seh_save_any_reg x23, 16
 ldp x20, x21, [sp], #96
 .seh_save_any_reg_px x20, 96
 .seh_endepilogue
 ret
 done

 func homes
 stp x29, x30, [sp, #-80]!
 .seh_save_fplr_x 80
 stp x0, x1, [sp, #16]
 .seh_nop
 stp x2, x3, [sp, #32]
 .seh_nop
 stp x4, x5, [sp, #48]
 .seh_nop
 stp x6, x7, [sp, #64]
 .seh_nop
 .seh_endprologue
 nop
 .seh_startepilogue
 ldp x29, x30, [sp], #80
 .seh_save_fplr_x 80
 .seh_endepilogue
 ret
 done

 func longer
 stp x29, x30, [sp, #-32]!
 .seh_save_fplr_x 32
 stp x19, x20, [sp, #16]
 .seh_save_regp x19, 16
 mov x29, sp
 .seh_set_fp
 .seh_endprologue
 cbz x0, 1f
 .seh_startepilogue
 ldp x19, x20, [sp, #16]
 .seh_save_regp x19, 16
 ldp x29, x30, [sp], #32
 .seh_save_fplr_x 32
 .seh_endepilogue
 ret
1:
 .rept 263000
 nop
 .endr
 .seh_startepilogue
 ldp x19, x20, [sp, #16]
 .seh_save_regp x19, 16
 ldp x29, x30, [sp], #32
 .seh_save_fplr_x 32
 .seh_endepilogue
 ret
 done
END_S

# link NAME FILE OPTION...: NAME.exe, with an identity
link() {
    name=$1
    shift
    clang-19 --target=aarch64-pc-windows-msvc -gcodeview -g -o "$name.obj" -c "$@"
    lld-link-19 /debug /nodefaultlib /entry:start /subsystem:console \
        "$name.obj" chkstk.obj /out:"$name.exe" /pdb:"$name.pdb"
}

# check NAME: its rules are what the code does
check() {
    exe=$1.exe
    "$windlass" unwind-info "$exe" >said
    grep -q '^rejected: nothing' said || fail "$1: $(cat said)"
    llvm-readobj-19 --unwind "$exe" >theirs
    llvm-objdump-19 -d --no-show-raw-insn "$exe" >code
    "$windlass" unwind-info --breakpad "$exe" >ours
    count=$(grep -c 'RuntimeFunction {' theirs)
    grep -q "^.pdata: $count functions," said || fail "$1: not $count functions"
    python3 "$here/../../oracle/pe_arm64_vs_code.py" ours theirs code 0x140000000 ||
        fail "$1: differs"
    "$windlass" dump-syms "$exe" 2>/dev/null | grep '^STACK' >dumped
    cmp -s ours dumped || fail "$1: dump-syms has other rules"
    "$windlass" unwind-table build -o table "$exe" 2>/dev/null
    "$windlass" unwind-table verify "$exe" table || fail "$1: its table is wrong"
}

clang-19 --target=aarch64-pc-windows-msvc -c chkstk.s -o chkstk.obj
for level in 0 2 s; do
    link program$level program.c -O$level
    check program$level
done
link framed0 program.c -O0 -fno-omit-frame-pointer
check framed0
link framed program.c -O2 -fno-omit-frame-pointer \
    -mbranch-protection=pac-ret
check framed
"$windlass" unwind-info --dump framed.exe | grep -q '(RA signed)' ||
    fail "no return address is signed"
link signed program.c -Os -mbranch-protection=pac-ret+leaf
check signed
link forms forms.s
check forms
grep -q '; end_c' theirs || fail "no part of a function was looked at"

# --- 32-bit Arm's is refused, and said to be what it is

clang-19 --target=thumbv7-pc-windows-msvc -O1 -w -c -o arm.obj program.c
lld-link-19 /machine:arm /nodefaultlib /entry:start /subsystem:console \
    /force:unresolved arm.obj /out:arm.exe 2>/dev/null || true
if [ -s arm.exe ]; then
    "$windlass" unwind-info arm.exe >said 2>&1 && fail "Arm: $(cat said)"
    grep -q 'is that of 32-bit Arm' said || fail "Arm: $(cat said)"
else
    fail "no file of 32-bit Arm"
fi
exit $failed
