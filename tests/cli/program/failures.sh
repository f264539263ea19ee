#!/bin/sh
# failures.sh WINDLASS MAKE_RECORDING FAILING: each allocation, and each opening
# of a file, that fails is reported, and the status says that the output is not
# whole. All of small inputs, some of larger ones.
set -eu
windlass=$(realpath "$1")
make_recording=$(realpath "$2")
failing=$(realpath "$3")
command -v cc >/dev/null && command -v nm >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset WINDLASS_OPTIONS WINDLASS_DEBUG_DIRS DEBUGINFOD_URLS || true
LC_ALL=C TZ=UTC0 COLUMNS=100
export LC_ALL TZ COLUMNS
failed=0

cat >program.c <<'C'
volatile int sink;
__attribute__((noinline)) static void leaf(int n)
{
    sink += n;
}
int main(void)
{
    leaf(1);
    return sink - 1;
}
C
cc -g -O1 -o program program.c
leaf=$(nm program | awk '$3 == "leaf" { print $1 }')
main=$(nm program | awk '$3 == "main" { print $1 }')
cat >cpu.recipe <<END
meta 1000000 1 1 box $work ./program
process 0 10 $work/program ./program
thread 0 10 main
image $work/program -
sample 0 5 0 0:$main 0:$leaf!
ended 0 5
exit 0 1
done 0 0
END
cat >heap.recipe <<END
meta 0 0 0 box $work ./program
process 0 10 $work/program ./program
image $work/program -
heap 0 3 0
site 0 0 100 4 0:$main 0:$leaf
snapshot 0 0 - 2 1 200 208 104 0 0 208 10 0 0 0 /
counts 0 0 2 1 2 0 500
live 0 5 208 2 5 104 1
leaks 0 0 1 0 0
exit 0 1
done 0 0
END
for kind in cpu heap; do
    "$make_recording" $kind.wndl <$kind.recipe
done
echo "$work/program(+0x$leaf)[0x7f0000001000]" >text

# whole WHAT LEAST ARGUMENT...: at least so many of WHAT fail in turn.
whole() {
    what=$1
    least=$2
    shift 2
    LD_PRELOAD=$failing FAILING=$what "$windlass" "$@" >said 2>&1 || failed=1
    runs=$(sed -n 's/^\([0-9]*\) runs of .*/\1/p' said)
    [ "${runs:-0}" -ge "$least" ] || failed=1
    [ $failed -eq 0 ] || {
        echo "failures: $what: windlass $*: at least $least runs wanted"
        cat said
        exit 1
    }
}

# each LEAST-MEMORY LEAST-FILES ARGUMENT...
each() {
    memory=$1
    files=$2
    shift 2
    whole memory "$memory" "$@"
    whole files "$files" "$@"
}

each 5 2 report cpu.wndl
each 5 2 report --tree --json cpu.wndl
each 5 2 report heap.wndl
each 5 4 annotate --callers leaf cpu.wndl
each 5 2 diff cpu.wndl cpu.wndl
each 5 2 export -f folded cpu.wndl
each 5 2 export -f pprof -o - cpu.wndl
each 5 2 export -f dhat heap.wndl
each 5 2 fix text
each 5 1 sym -e program "0x$leaf"
each 5 2 dump-syms program
each 5 2 unwind-info program
each 5 1 merge -o - cpu.wndl cpu.wndl
"$windlass" unwind-table build program -o program.wut 2>said
each 1 1 unwind-table show program.wut
each 2 2 unwind-table verify program program.wut
mkdir list
cp cpu.wndl list
each 5 2 ls list
each 20 5 doctor
each 20 5 doctor ./program
each 20 10 record -q -o again.wndl -- echo hi
each 20 10 heap -q -o again.wndl -- echo hi
