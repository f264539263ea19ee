#!/bin/sh
# Stacks go through generated code without frame pointers that the program has
# registered for exceptions or told debuggers of; the real functions still get
# what they are given; and what is taken back or unmapped does no harm.
. "$(dirname "$0")/../lib/record_lib.sh"
frames=$fixtures/frames
need "$frames"

# go_through HOW: the program, and what it is as a library of another.
go_through() {
    record 0 -r 1000 -- "$frames" 300 "$1"
    check_through "$1" main
    record 0 -r 1000 -- "$fixtures/frames_local" "$fixtures/frames.so" 300 "$1"
    check_through "$1 in a library" main
}

# check_through WHAT CALLER
check_through() {
    complete_above 99.9
    "$windlass" export -o folded.txt r.wndl 2>/dev/null
    grep -q "$2;.*;burn" folded.txt ||
        fail "$1: $2 was not found: $(cat folded.txt)"
}

record 0 -r 1000 -- "$frames" 300 none
"$windlass" export -o folded.txt r.wndl 2>/dev/null
grep -q 'main;.*burn' folded.txt && fail "main was found without being told"

for how in frame table again freed; do
    go_through "$how"
done

record 0 -r 1000 -- "$fixtures/frames_local" "$fixtures/frames.so" 300 gdb
check_through "gdb" main

# An executable's own function for debuggers, and one that its library is bound
# to, have no hook before them: their lists are looked at. The recorder has to
# find them first.
#
# goes_through WHAT COMMAND...: nine of ten, of enough.
goes_through() {
    what=$1
    shift
    for ms in 500 3000 20000; do
        record 0 -r 1000 -- "$@" $ms "$what"
        "$windlass" export -o folded.txt r.wndl 2>/dev/null
        awk '/;main;.*;burn/ { with += $NF } /burn/ { all += $NF }
            END { exit !(all > 50 && with > all * 9 / 10) }' folded.txt &&
            return 0
    done
    fail "$what: $* does not go through: $(cat folded.txt)"
}
goes_through gdb "$frames"
goes_through gdb-again "$frames"
goes_through gdb "$fixtures/frames_local" "$fixtures/frames_bound.so"

# What is taken back is forgotten.
record 0 -r 1000 -- "$frames" 2000 gdb-gone
"$windlass" export -o folded.txt r.wndl 2>/dev/null
awk '/;main;.*burn/ { with += $NF } /burn/ { all += $NF }
    END { exit !(with < all * 3 / 4) }' folded.txt ||
    fail "what is taken back is used: $(cat folded.txt)"

# Half of it is registered; nothing else is made up of the rest.
record 0 -r 1000 -- "$frames" 400 gone
"$windlass" export -o folded.txt r.wndl 2>/dev/null
awk '/main;.*burn/ { with += $NF } /burn/ { all += $NF }
    END { exit !(with > all / 4 && with < all * 3 / 4) }' folded.txt ||
    fail "not about half of it goes to main: $(cat folded.txt)"

record 0 -r 1000 -- "$frames" 500 storm
check_through "storm" run_in_thread

# The same from outside, where threads are blocked.
record 0 -- "$frames" 500 waits
"$windlass" export --time blocked -o folded.txt r.wndl 2>/dev/null
grep -q 'main;.*wait_for' folded.txt && fail "main was found from outside"
record 0 -- "$frames" 500 blocked
"$windlass" export --time blocked -o folded.txt r.wndl 2>/dev/null
grep -q 'main;.*;wait_for' folded.txt ||
    fail "not found from outside: $(cat folded.txt)"

# A real one.
lli=$(command -v lli lli-19 lli-14 | head -n 1)
[ -n "$lli" ] || { echo "skipped: no lli"; exit 0; }
cat >hot.ll <<'END'
define i64 @spin(i64 %n) noinline {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %old = phi i64 [ 1, %entry ], [ %new, %loop ]
  %more = mul i64 %old, 31
  %new = xor i64 %more, %i
  %next = add i64 %i, 1
  %goes_on = icmp ult i64 %next, %n
  br i1 %goes_on, label %loop, label %end
end:
  ret i64 %new
}

define i32 @main() {
  %sum = call i64 @spin(i64 200000000)
  ret i32 0
}
END
for kind in mcjit orc; do
    record 0 -r 1000 -- "$lli" -jit-kind=$kind hot.ll
    complete_above 99.9
done
