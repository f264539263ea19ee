#!/bin/sh
# lines.sh WINDLASS MAKE_RECORDING: what annotate shows of a function whose
# binary and sources are there, moved, or gone. Which line an address belongs
# to is asked of addr2line.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
make_recording=$(realpath "$2")
here=$(realpath "$(dirname "$0")")
need cc nm readelf objdump addr2line
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C
unset PAGER WINDLASS_OPTIONS || true
failed=0

mkdir src
cat >src/program.c <<'END_OF_C'
static volatile int sink;
static inline __attribute__((always_inline)) void tiny(int n)
{
	sink += n;
}
static __attribute__((noinline)) void busy(int n)
{
    tiny(n);
    sink = sink * 3;
}
int main(int argc, char **argv)
{
    (void)argv;
    busy(argc);
    return sink == 0;
}
END_OF_C
cc -g -O1 -fno-ipa-icf -Wl,--build-id -o program "$work/src/program.c"
build_id=$(readelf -n program | sed -n 's/.*Build ID: //p')
base=$(readelf -lW program | awk '$1 == "LOAD" { print $3; exit }')

# ADDRESS LINE of each instruction of busy: the innermost line.
objdump -d program | awk '
    /^[0-9a-f]+ <busy>:/ { on = 1; next }
    /^$/ { on = 0 }
    on { sub(":", "", $1); print $1 }' >addresses
xargs addr2line -a -i -e program <addresses | awk '
    /^0x/ { address = $1; getline; split($1, part, ":"); print address, part[2] }
    ' >lines
at_line() {
    awk -v line="$1" '$2 == line { print $1; exit }' lines
}
rva() {
    printf '%x' "$(($1 - base))"
}
of_tiny=$(at_line 4)
of_busy=$(at_line 9)
of_main=0x$(nm program | awk '$3 == "main" { print $1 }')
{
    echo "meta 1000000 1 1 box / ./program"
    echo "process 0 7 $work/program ./program"
    echo "thread 0 7 program"
    echo "image $work/program $build_id"
    echo "sample 0 20 0 0:$(rva $((of_main + 1))) 0:$(rva "$of_tiny")!"
    echo "sample 0 10 0 0:$(rva $((of_main + 1))) 0:$(rva "$of_busy")!"
    echo "block 0 1 30000000 0 0 0:$(rva $((of_main + 1))) 0:$(rva "$of_busy")!"
    echo "done 0 0"
} | "$make_recording" program.wndl

# expect WHAT PATTERN FILE: a line of the file must match.
expect() {
    if ! grep -Eq "$2" "$3"; then
        echo "annotate: $1: no line matches: $2"
        cat "$3"
        failed=1
    fi
}

# refuses STATUS PATTERN ARGUMENT...: nothing on stdout, PATTERN on stderr.
refuses() {
    wanted=$1
    pattern=$2
    shift 2
    status=0
    "$windlass" "$@" >out 2>err || status=$?
    if [ "$status" -ne "$wanted" ] || ! grep -Eq "$pattern" err ||
        [ -s out ]; then
        echo "annotate: windlass $*: status $status, not $wanted, or without:" \
            "$pattern: $(cat err)"
        failed=1
    fi
}

"$windlass" annotate --callers busy program.wndl >whole
expect head '^Function +busy  program.c:[678]  \[program\]$' whole
expect self '^Self +30 ms, 100.0% of all CPU time$' whole
expect source "^Source +$work/src/program.c( \(changed.*)?$" whole
expect line '^ 66.7% +20.00 ms +66.7% +8      tiny\(n\);$' whole
expect inlined '^ 66.7% +20.00 ms +\| inlined tiny  program.c:4  sink \+= n;$' whole
expect other '^ 33.3% +10.00 ms +33.3% +9      sink = sink \* 3;$' whole
expect free '^ +10  }$' whole
expect declared '^ +6  static __attribute__.* void busy.int n.$' whole
expect callers '^100.0% +30.00 ms  main  program.c:1[1-4]  \[program\]$' whole
if grep -Eq '^ +1[2-9]  ' whole; then
    echo "annotate: lines of main, too: $(cat whole)"
    failed=1
fi

# An inlined function, wherever it is; and one that only calls.
"$windlass" annotate tiny program.wndl >inlined
expect "tiny" '^100.0% +20.00 ms +100.0% +4          sink \+= n;$' inlined
"$windlass" annotate main program.wndl >main
expect "main" '^Self +0 ns, 0.0% of all CPU time$' main
"$windlass" annotate --time blocked busy program.wndl >blocked
expect "blocked" '^Self .*, 100.0% of all blocked time$' blocked
"$windlass" annotate --ignore tiny busy program.wndl >ignored
expect "ignored" '^100.0% +10.00 ms +100.0% +9 ' ignored
"$windlass" annotate --context 1 busy program.wndl >near
expect "context" '^ +7  {$' near
"$windlass" annotate --context 1 -o near.txt busy program.wndl 2>said
cmp near near.txt || failed=1

# Instructions: the cost is at the address of the sample.
"$windlass" annotate --asm busy program.wndl >code
expect "code" "^ 66.7% +20.00 ms +66.7% +$(printf '%x' "$of_tiny")  [a-z]" code
expect "code" "^ 33.3% +10.00 ms +33.3% +$(printf '%x' "$of_busy")  [a-z]" code
expect "line of code" '^ +\| inlined tiny  program.c:4  ' code
expect "line of code" '^ +program.c:9      sink = sink \* 3;$' code
awk 'NR == FNR { wanted[$1]; next }
    { for (i = 1; i < NF; i++) if ($i in wanted) { delete wanted[$i]; break } }
    END { for (a in wanted) { print "annotate: no instruction at " a; bad = 1 }
        exit bad }' addresses code || failed=1
"$windlass" annotate --asm --syntax intel busy program.wndl >intel
if grep -q '%e' intel || ! grep -Eq ' e[a-d]x|\[rip' intel; then
    echo "annotate: not Intel's syntax: $(cat intel)"
    failed=1
fi
"$windlass" annotate --json busy program.wndl >json
expect "json" '"line":8,"self":20,"self_ns":20000000,"total":20' json
expect "json" '"function":"tiny".*"line":4,"self":20' json

# Sources elsewhere, or nowhere: that is said once.
mv src other
"$windlass" annotate busy program.wndl >gone
expect "gone" "^Source +$work/src/program.c: No such file or directory$" gone
expect "gone" '^ 66.7% +20.00 ms +66.7% +8$' gone
[ "$(grep -c 'source-map' gone)" = 1 ] || failed=1
"$windlass" annotate --source-map /none=/x --source-map "$work/src=other" \
    --callers busy program.wndl >mapped
sed "s:^Source.*:Source:" whole >whole.body
sed "s:^Source.*:Source:" mapped >mapped.body
diff whole.body mapped.body || failed=1
expect "mapped" '^Source +other/program.c' mapped
printf 'a\0b\n' >other/program.c
"$windlass" annotate --source-map "$work/src=other" busy program.wndl >zeros
expect "zeros" '^Source +other/program.c: not a text$' zeros
: >other/program.c
"$windlass" annotate --source-map "$work/src=other" busy program.wndl >empty
expect "empty" '^Source +other/program.c: the file is empty$' empty
printf 'one\ntwo\n' >other/program.c
"$windlass" annotate --source-map "$work/src=other" busy program.wndl >short
expect "short" '^ 66.7% +20.00 ms +66.7% +8$' short
refuses 2 'source-map src: write FROM=TO' annotate --source-map src busy program.wndl
refuses 2 'source-map =src: write FROM=TO' annotate --source-map =src busy program.wndl

# Functions that are not there, or have no such time.
refuses 2 'FUNCTION bsuy: no function .*; did you mean busy\?' annotate bsuy program.wndl
refuses 2 'FUNCTION nothing_like_it: no function of the stacks has this name$' \
    annotate nothing_like_it program.wndl
refuses 2 'FUNCTION : no function of the stacks has this name$' \
    annotate '' program.wndl
refuses 2 'FUNCTION is missing' annotate
refuses 1 'tiny: no blocked time of the selected stacks is in it; try --time cpu' \
    annotate --time blocked tiny program.wndl
refuses 1 'holds nothing of what was selected' annotate --thread nobody \
    busy program.wndl
refuses 2 'are for heaps' annotate --blocks peak busy program.wndl
refuses 2 'context is for lines' annotate --asm --context 2 busy program.wndl
refuses 2 "did you mean 'windlass annotate FUNCTION'" annotate -s busy

# Another binary in its place, and none.
cp program kept
printf 'int main(void) { return 1; }\n' >other.c
cc -Wl,--build-id -o program other.c
status=0
"$windlass" annotate main program.wndl >out 2>err || status=$?
[ $status -eq 2 ] || failed=1
"$windlass" annotate --asm "program+0x$(rva "$of_busy")" program.wndl >replaced
expect "replaced" '^Code +not used: replaced after the recording$' replaced
expect "replaced" '10.00 ms +\? +in none of these instructions$' replaced
rm program
"$windlass" annotate "program+0x$(rva "$of_busy")" program.wndl >nothing
expect "nothing" '^Source +no debug information names it$' nothing

# Heaps, by the bytes of their blocks.
"$make_recording" both.wndl <"$here/../report/heap_golden/mixed"
"$windlass" annotate --heap app+0x21 both.wndl >heap
expect "heap" '^Self +224 bytes, 100.0% of all bytes$' heap
expect "heap" '^100.0% +224 +100.0% +\?$' heap
"$windlass" annotate --json --heap app+0x10 both.wndl >heap.json
expect "heap" '"self":0,"self_bytes":0,"total":2,"total_bytes":224' heap.json
refuses 2 'not for a heap' annotate --heap --time cpu app+0x21 both.wndl
exit $failed
