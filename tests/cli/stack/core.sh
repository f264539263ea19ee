#!/bin/sh
# core.sh WINDLASS: the stacks in core files that the kernel writes.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
source=$(realpath "$(dirname "$0")/crash.c")
need cc
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
TMPDIR=$work
export TMPDIR
unset WINDLASS_OPTIONS WINDLASS_DEBUG_DIRS DEBUGINFOD_URLS || true
LC_ALL=C
export LC_ALL
flags='-g -O1 -fno-stack-protector -U_FORTIFY_SOURCE -pthread -Wl,--build-id'

fail() {
    echo "FAILED: $*"
    for file in got said; do
        [ ! -s $file ] || sed 's/^/    /' $file | head -n 60
    done
    exit 1
}

# crash KIND: leaves the file "core".
crash() {
    rm -f core core.*
    (ulimit -c unlimited && ulimit -s 1024 && ./crash "$1") >/dev/null 2>&1 ||
        true
    for file in core.*; do
        [ ! -e "$file" ] || mv "$file" core
    done
    [ -s core ] || skip "no core files here: $(cat /proc/sys/kernel/core_pattern)"
}

stack() {
    "$windlass" stack "$@" >got 2>said || fail "exit status $?: stack $*"
    [ ! -s said ] || fail "said something: stack $*"
}

# refuses STATUS TEXT ARGUMENT...
refuses() {
    want=$1
    text=$2
    shift 2
    status=0
    "$windlass" stack "$@" >got 2>said || status=$?
    [ $status -eq "$want" ] || fail "exit status $status: stack $*"
    grep -qF -e "$text" said || fail "not said: $text: stack $*"
}

has() {
    grep -qF -e "$1" got || fail "not in the output: $1"
}

# functions NUMBER: those of the stack with that number in the output, innermost
# first, without those that are inlined.
functions() {
    awk -v number="$1" '/^Thread/ { n++ } n == number' got |
        grep -v 'inlined.$' | sed -n 's/^    #[0-9]*: \([^ ]*\).*/\1/p' |
        tr '\n' ' '
}

# shellcheck disable=SC2086
cc $flags -o crash "$source"

# The thread that got the signal comes first, with its registers.
crash null
stack --core core
has 'Core: core'
has 'Signal: SIGSEGV (11) at address 0x10, which is not mapped'
grep -m 1 '^Thread' got | grep -q 'running, got SIGSEGV$' || fail "not first"
case $(functions 1) in
'poke worker '*) ;;
*) fail "the stack of the crash: $(functions 1)" ;;
esac
grep -q 'poke_field (.*crash.c:[0-9]*) \[inlined\]$' got || fail "not inlined"
grep -q '^    r15 *0x[0-9a-f]* ' got || fail "no registers"
[ "$(grep -c ' rip ' got)" -eq 1 ] || fail "registers of other threads"
[ "$(grep -c '^Thread' got)" -eq 3 ] || fail "not three threads"
grep -q '^Thread [0-9]* "crash": blocked in ' got || fail "no first thread"
has 'blocked in read'
grep -q ' sleeper (' got || fail "the sleeper"
! grep -q -e 'not complete' -e guessed -e 'Binary:' got || fail "not complete"
cp got whole

stack --core core --thread main
[ "$(grep -c '^Thread' got)" -eq 1 ] || fail "not one thread"
refuses 1 'core has no such thread' --core core --thread nobody

stack --core core --json
python3 - got <<'END' || fail "not the JSON"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["core"] == "core" and d["not_used"] == [] and "damage" not in d
assert d["signal"] == {"number": 11, "name": "SIGSEGV", "code": 1,
                       "address": "0x10"}
first = d["threads"][0]
assert first["registers"]["rip"] == first["frames"][0]["address"]
assert first["end"] == "complete" and "registers" not in d["threads"][1]
END

stack --core core --raw
"$windlass" fix got >fixed
grep -q '#01: poke' fixed || fail "not fixed"

# Compressed.
for tool in gzip zstd lz4 xz; do
    have $tool || continue
    $tool -c core >packed 2>/dev/null
    stack --core packed
    sed 's/^Core: packed/Core: core/' got | cmp -s - whole ||
        fail "another output of a core packed with $tool"
    head -c 5000 packed >short
    status=0
    "$windlass" stack --core short >got 2>said || status=$?
    [ $status -eq 1 ] || fail "exit status $status: cut, $tool"
    grep -q 'short: .*\(ends\|cut\)' said || fail "not said: cut, $tool"
    ! ls "$TMPDIR"/windlass-core-* >/dev/null 2>&1 ||
        fail "a temporary file is left"
done

# Cut short: what is there is shown.
size=$(wc -c <core)
head -c $((size - 5000)) core >short
refuses 1 'short: cut short: it has' --core short
grep -q '^Thread' got || fail "nothing is shown of a core that is cut short"

# By number, through coredumpctl.
mkdir bin
cat >bin/coredumpctl <<'END'
#!/bin/sh
[ "$1 $2" = "--quiet dump" ] || exit 2
[ "$3" = 77 ] || exit 1
cat core
END
chmod +x bin/coredumpctl
PATH=$work/bin:$PATH "$windlass" stack --core 77 >got || fail "coredumpctl"
sed 's/^Core: 77/Core: core/' got | cmp -s - whole || fail "by coredumpctl"
status=0
PATH=$work/bin:$PATH "$windlass" stack --core 78 2>said || status=$?
[ $status -eq 1 ] || fail "exit status $status: no such core"
grep -q 'coredumpctl gives no core of process 78' said || fail "not said"

# A program that has been moved, and one that has been built anew.
mv crash moved
stack --core core
grep -q '^Binary: .*/crash is not used: cannot open the file: No such' got ||
    fail "not said: gone"
stack --core core ./moved
cmp -s got whole || fail "another output by the program that was moved"
# shellcheck disable=SC2086
cc $flags -DOTHER -O2 -o crash "$source"
stack --core core
grep -q '^Binary: .*/crash is not used: it has build-id [0-9a-f]*, the core' \
    got || fail "not said: another build"
refuses 1 './crash: not the program of the core: it has build-id' \
    --core core ./crash
mv moved crash

# Other ends.
crash jump
stack --core core
has 'Signal: SIGSEGV (11) at address 0x123456789a, which is not mapped'
case $(functions 1) in
'??? call_it '*) ;;
*) fail "the caller of nowhere: $(functions 1)" ;;
esac
crash overflow
stack --core core --max-frames 100
has '(there are more than 100 frames: --max-frames)'
[ "$(functions 1 | tr ' ' '\n' | sort -u | tr '\n' ' ')" = 'dive ' ] ||
    fail "the overflow: $(functions 1)"
crash smash
stack --core core
case $(functions 1) in
'smash ') ;;
*) fail "the smashed stack: $(functions 1)" ;;
esac
has '(not complete: '
crash divide
stack --core core
has 'SIGFPE (8) at address 0x'
has ', an integer was divided by zero'
crash abort
stack --core core
has 'Signal: SIGABRT (6), sent by itself'
grep -q ' abort ' got || fail "no abort"

# Other files.
echo text >text
refuses 1 'text: not a core file' --core text
refuses 1 'crash: an ELF program, library or object, not a core' --core crash
refuses 1 'nothing' --core nothing
refuses 1 "$work" --core "$work"
refuses 2 '--every is of no use with --core' --core core --every 1
refuses 2 "'core' is not the number of a process (--core reads" core
status=0
PATH=$work/none "$windlass" stack --core 4711 2>said || status=$?
[ $status -eq 1 ] || fail "exit status $status: no coredumpctl"
grep -q 'there is no coredumpctl' said || fail "not said: no coredumpctl"
