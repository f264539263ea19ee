#!/bin/sh
# mvp.sh WINDLASS: runs, their status and their results; the forms in which
# results are shown; and messages where a run is not possible.
set -eu
windlass=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C

fail() {
    echo "mvp: $1"
    shift
    for file in "$@"; do
        cat "$file"
    done
    exit 1
}

# run STATUS ARG...: windlass mvp; leaves ./out and ./err.
run() {
    wanted=$1
    shift
    status=0
    "$windlass" mvp "$@" >out 2>err || status=$?
    [ "$status" -eq "$wanted" ] ||
        fail "status $status instead of $wanted: $*" err
}

# said PATTERN FILE: a line must match.
said() {
    grep -Eq -e "$1" "$2" || fail "no line of $2 matches: $1" "$2"
}

# The report after a run, and again from its file in each form.
gcc -gdwarf-4 -O0 -o sums "$here/sums.c"
run 0 -o sums.%p.mvp -- ./sums
[ "$(cat out)" = -500000 ] || fail "the program printed something else" out
said '^windlass: results: sums\.[0-9]+\.mvp$' err
said '^Loads that are not of a stack: 2,[0-9,]+ at [0-9,]+ sites$' err
said '^wasted 968,781  \(31/32 cbs, 31,251 sects\)  0x[0-9A-F]+: main \(sums\.c:[0-9]+\)$' err
results=$(echo sums.*.mvp)
run 0 --show "$results" -n 1
[ "$(grep -c '^wasted ' out)" -eq 1 ] || fail "not one row" out
said '^[0-9,]+ more sites: -n N$' out
run 0 --show "$results" --json
python3 - out <<'END' || fail "the JSON is not right" out
import json, sys
d = json.load(open(sys.argv[1]))
assert d["version"] == 1 and d["command"] == "./sums" and not d["is_running"]
assert d["loads"] == sum(s["loads"] for s in d["sites"])
assert d["vector_loads"] == sum(s["loads"] for s in d["vectors"])
for s in d["sites"]:
    assert s["wasted"] == s["constant_bits"] * s["sectors"], s
    assert 0 < s["pages"] <= s["sectors"] <= 2 * s["loads"], s
wasted = [s["wasted"] for s in d["sites"]]
assert wasted == sorted(wasted, reverse=True)
main = [s for s in d["sites"] if s["function"] == "main"]
assert [s["sectors"] for s in main] == [31251, 31251], main
assert all(s["file"].endswith("sums.c") and s["line"] for s in main)
END
run 0 --show "$results" --callgrind graph
said '^events: Wasted Sectors Loads Wide$' graph
[ "$(grep -cE '^[0-9]+ 968781 31251 1000000$' graph)" -eq 2 ] ||
    fail "the loops have other costs"

# Damaged results.
head -c 300 "$results" >cut
run 1 --show cut
said '^windlass: error: cut: the last line is missing' err
printf 'windlass-mvp 1\nload 40 0 3 1 1 1 0 0 0\nend\n' >bad
run 1 --show bad
said '^windlass: error: bad: line 2 is invalid' err
run 1 --show sums
said 'an ELF program' err
status=0
"$windlass" report "$results" >out 2>err || status=$?
[ $status -ne 0 ] && grep -q "results of mvp.*'windlass mvp --show $results'" err ||
    fail "report does not say what the file is" err

# The program's own status and signals.
run 7 -q -o status.mvp -- sh -c 'exit 7'
run 143 -q -o killed.mvp -- sh -c 'kill -TERM $$'
[ -f killed.mvp ] || fail "a program that a signal ended left no results"

# A program that is killed outright: its results of a while before are a part.
cat >endless.c <<'END'
#include <stdlib.h>
int main(void)
{
    int *p = calloc(1000, sizeof *p);
    for (long i = 0;; i++)
        if (p[i % 1000] != 0)
            return 1;
}
END
gcc -g -O1 -o endless endless.c 2>cc.err
"$windlass" mvp -q -o endless.mvp -- ./endless >out 2>err &
waited=0
until grep -Eq '^load [0-9a-f]+ 0 4 [0-9]+ 32 [12] 0 0 0$' endless.mvp 2>none; do
    [ "$waited" -lt 600 ] || fail "no results while it runs" err
    waited=$((waited + 1))
    sleep 0.5
done
kill -KILL "$(awk '$1 == "pid" { print $2 }' endless.mvp)"
status=0
wait "$!" || status=$?
[ "$status" -eq 137 ] || fail "status $status of a program that is killed" err
run 0 --show endless.mvp -n 10000
said '^A part of the run: the program went on' out
said '^wasted [0-9,]+  \(32/32 cbs, 32 sects\).*: main \(endless\.c:6\)$' out

# A fork counts for itself, an exec writes what was counted.
cat >forks.c <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int *p;
int __attribute__((noinline)) load(long i) { return p[i]; }
int main(void)
{
    p = calloc(1 << 20, 1);
    for (int i = 0; i < 1000; i++)
        load(i * 32);
    if (fork() == 0)
        return load(5) + load(64);
    wait(NULL);
    load(0);
    return 0;
}
END
gcc -g -O1 -o forks forks.c
run 0 -q -o forks.%p.mvp -- ./forks
[ "$(ls forks.*.mvp | wc -l)" -eq 2 ] || fail "not two files of a fork"
for file in forks.*.mvp; do
    run 0 --show "$file" --json
    python3 - out <<'END' >>loads
import json, sys
print(*[(s["loads"], s["sectors"]) for s in json.load(open(sys.argv[1]))["sites"]
        if s["function"] == "load" and s["sectors"] > 1])
END
done
[ "$(sort loads | tr '\n' ' ')" = "(1001, 1001) (2, 2) " ] ||
    [ "$(sort loads | tr '\n' ' ')" = "(1001, 1000) (2, 2) " ] ||
    fail "the loads of a fork" loads
run 0 -q --trace-children -o tree.%p.mvp -- sh -c '/bin/true; exec /bin/echo'
[ "$(grep -l '^command /bin/true' tree.*.mvp | wc -l)" -eq 1 ] &&
    [ "$(grep -l '^command /bin/echo' tree.*.mvp | wc -l)" -eq 1 ] ||
    fail "no results of the programs that were started"
run 0 -q -o part.mvp -- sh -c 'exec /bin/true'
run 0 --show part.mvp
said '^A part of the run: the program went on' out
[ -z "$(ls ./*.part 2>/dev/null)" ] || fail "parts of files are left"

# Static programs, and those of 32 bits.
gcc -g -O0 -static -o static "$here/sums.c"
run 0 -o static.mvp -- ./static
said '^wasted 968,781  \(31/32 cbs, 31,251 sects\)  0x[0-9A-F]+: main' err
if gcc -m32 -g -O0 -o sums32 "$here/sums.c" \
    -idirafter /usr/include/x86_64-linux-gnu 2>cc.err; then
    run 0 -o sums32.mvp -- ./sums32
    said '^wasted 968,7(50|81)  \(31/32 cbs, 31,25[01] sects\)  0x[0-9A-F]+: main' err
fi

# No results: Valgrind cannot run it, or the tool cannot write; not even those
# of an earlier run are shown.
cp status.mvp stale.mvp
run 127 -o stale.mvp -- ./nothing
said 'the run left no results' err
if gcc -g -gdwarf64 -o dwarf64 "$here/sums.c" 2>cc.err; then
    run 1 -q -o dwarf64.mvp -- ./dwarf64
    said 'left no results.*; if it gives up on debug information, strip' err
    strip dwarf64
    run 0 -q -o dwarf64.mvp -- ./dwarf64
fi
run 1 -q -o no/such/folder.mvp -- true
said 'the run left no results' err
printf 'int main(void) { __asm__("vpxorq %%zmm0, %%zmm0, %%zmm0"); }\n' >avx.c
if gcc -o avx avx.c 2>cc.err; then
    run 132 -q -o avx.mvp -- ./avx
    said 'SIGILL ended the command: .*AVX-512.*a build without them' err
    [ -f avx.mvp ] || fail "nothing was left of a program that SIGILL ended"
fi
cp sums set_uid
chmod u+s set_uid
run 125 -q -o set_uid.mvp -- ./set_uid
said 'set_uid is set-user-ID, .*run a copy without these rights$' err
printf '#!%s/set_uid\n' "$PWD" >script
chmod +x script
run 125 -q -o set_uid.mvp -- ./script
said 'set_uid is set-user-ID' err

# What is not possible.
run 2
said 'COMMAND is missing' err
run 2 --show a b
run 2 --callgrind x -- true
said '--callgrind needs --show' err
run 2 -o '%q{HOME}' -- true
said 'only %p stands for something' err
PATH=/nowhere run 125 -- /bin/true
said 'cannot find valgrind; install it' err
mkdir other
printf '#!/bin/sh\necho valgrind-1.2.3\n' >other/valgrind
chmod +x other/valgrind
PATH=$work/other:$PATH run 125 -- /bin/true
said 'valgrind is valgrind-1\.2\.3, but this windlass was built for' err
echo "mvp: all right"
