#!/bin/sh
# Code without any rules gets some from itself while it is recorded: that of a
# program and its libraries from the first sample on, that of a plugin soon after
# it was loaded; in children too. The code here is too long to be followed to its
# return by the program's own runtime.
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
        sum += ((long (*)(long))dlsym(plugin, "plug"))(6000000L);
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

record 0 -r 1000 -- ./main
complete_above 99.5
"$windlass" export -o folded.txt r.wndl 2>/dev/null
grep -Eq '^main;_start;.*;main;outer;straight ' folded.txt ||
    fail "not by rules from code: $(cat folded.txt)"

record 0 -r 1000 -- ./main ./plugin.so
complete_above 90
"$windlass" export -o folded.txt r.wndl 2>/dev/null
grep -Eq '^main;_start;.*;main;plug ' folded.txt ||
    fail "not in the plugin: $(cat folded.txt)"

# Without a build-id and symbols the same.
strip main
objcopy --remove-section=.note.gnu.build-id main
record 0 -r 1000 -- ./main
complete_above 99.5
