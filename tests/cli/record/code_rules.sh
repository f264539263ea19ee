#!/bin/sh
# Code without any rules gets some from itself while it is recorded: that of a
# program, its libraries and plugins, in children too. Samples that came before
# the rules are finished afterwards. The code here is too long to be followed to
# its return by the program's own runtime. Rules are kept for the next recording.
. "$(dirname "$0")/../lib/record_lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "not x86-64"
need gcc

# straight NAME: a function that adds its argument, 800 times a turn.
straight() {
    cat <<END
    .text
    .globl $1
    .type $1, @function
$1:
    push %rbx
    sub \$32, %rsp
    mov %rdi, %rbx
1:
    .rept 800
    add %rdi, %rax
    .endr
    dec %rbx
    jnz 1b
    add \$32, %rsp
    pop %rbx
    ret
    .size $1, . - $1
    .section .note.GNU-stack,"",@progbits
END
}
straight straight >straight.s
straight plug >plug.s
cat >main.c <<'END'
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
long straight(long);
static volatile long sum;
__attribute__((noinline)) static long outer(long n)
{
    volatile char room[333];
    room[3] = 1;
    return straight(n) + room[3];
}
int main(int count, char **arguments)
{
    sum += outer(1000000L);
    if (count > 1) {
        void *plugin = dlopen(arguments[1], RTLD_NOW);
        sum += ((long (*)(long))dlsym(plugin, "plug"))(1000000L);
    }
    if (count > 1 && fork() == 0) {
        sum += outer(1000000L);
        _exit(0);
    }
    return wait(0) < -1;
}
END
gcc -O1 -fomit-frame-pointer -Wl,--build-id main.c straight.s -o main
gcc -shared plug.s -o plugin.so

record 0 --unwind cfi -r 1000 -- ./main
"$windlass" export -o folded.txt r.wndl 2>/dev/null
grep -q 'main;outer;straight ' folded.txt &&
    fail "main was found without rules: $(cat folded.txt)"

by_code() {
    complete_above 99.5
    "$windlass" export -o folded.txt r.wndl 2>/dev/null
    grep -Eq "^main;_start;.*;main;$1 " folded.txt ||
        fail "not by rules from code: $(cat folded.txt)"
    grep -q '^main;straight ' folded.txt && fail "lost: $(cat folded.txt)"
    return 0
}
kept=$(ls tables 2>/dev/null || true)
[ -z "$kept" ] || fail "--unwind cfi has kept rules: $kept"
record 0 -r 1000 -- ./main
by_code 'outer;straight'
grep -q 'rules made from code' said && fail "complains: $(cat said)"

# The next one has them from the start.
# (Other modules may have got some, too.)
id=$(readelf -n main | sed -n 's/.*Build ID: //p')
kept=$(echo "tables/$id"*.wcode)
[ -s "$kept" ] || fail "no rules were kept"
record 0 -r 1000 -- ./main
by_code 'outer;straight'
grep -q 'frames: .* by CFI, [0-9]* innermost' said ||
    fail "the kept rules were not used: $(cat said)"

# A damaged file is made anew; a folder of no use costs nothing else.
echo 'no such rules' >"$kept"
record 0 -r 1000 -- ./main
by_code 'outer;straight'
grep -q "rules made from code are not kept: $work/$kept: not used: it is damaged" \
    said || fail "says nothing of the damage: $(cat said)"
record 0 -r 1000 -- ./main
by_code 'outer;straight'
grep -q 'rules made from code' said && fail "it was not made anew: $(cat said)"
WINDLASS_TABLE_CACHE=$work/main
record 0 -r 1000 -- ./main
by_code 'outer;straight'
grep -q 'rules made from code are not kept: .*/main: cannot use this folder' said ||
    fail "says nothing of the folder: $(cat said)"
WINDLASS_TABLE_CACHE=
record 0 -r 1000 -- ./main
by_code 'outer;straight'
WINDLASS_TABLE_CACHE=$work/tables

# The frame pointer points to the arguments here, which lead to no root.
record 0 --unwind fp -r 1000 -- ./main
if (complete_above 10) 2>/dev/null; then
    fail "stacks of one frame count as whole"
fi

record 0 -r 1000 -- ./main ./plugin.so
by_code plug

# Without a build-id and symbols the same.
strip main
objcopy --remove-section=.note.gnu.build-id main
record 0 -r 1000 -- ./main
complete_above 99.5

# So has a 32-bit program.
[ -e "$fixtures/narrow" ] || exit 0
cat >straight_32.s <<'END'
    .text
    .globl straight
    .type straight, @function
straight:
    push %ebx
    sub $32, %esp
    mov 40(%esp), %ebx
    mov %ebx, %ecx
    shr $3, %ebx
1:
    .rept 6000
    add %ecx, %eax
    .endr
    dec %ebx
    jnz 1b
    add $32, %esp
    pop %ebx
    ret
    .size straight, . - straight
    .section .note.GNU-stack,"",@progbits
END
gcc -m32 -O1 -fomit-frame-pointer -Wl,--build-id main.c straight_32.s -o main
record 0 -r 1000 -- ./main
complete_above 99.5
"$windlass" export -o folded.txt r.wndl 2>/dev/null
grep -Eq '^main;_start;.*;main;outer;straight ' folded.txt ||
    fail "32 bits: not by rules from code: $(cat folded.txt)"
id=$(readelf -n main | sed -n 's/.*Build ID: //p')
[ -s "$(echo "tables/$id"*.wcode)" ] || fail "32 bits: no rules were kept"
