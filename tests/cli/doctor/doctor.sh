#!/bin/sh
# doctor.sh WINDLASS RUNTIME: what it says of this machine, of programs, and
# of what is made to be wrong.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
runtime=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C

# doctor STATUS [OPERAND...]: leaves what it says in ./said.
doctor() {
    expected=$1
    shift
    status=0
    "${tried:-$windlass}" doctor "$@" >said || status=$?
    if [ "$status" -ne "$expected" ]; then
        echo "doctor: exit status $status instead of $expected: $*"
        cat said
        exit 1
    fi
}

# expect PATTERN: a line must match.
expect() {
    grep -Eq "$1" said || {
        echo "doctor: no line matches: $1"
        cat said
        exit 1
    }
}

doctor 0
for check in kernel libc preload 'shared memory' socket; do
    expect "^ok +$check "
done
for check in 'perf events' timers 'blocked time' sandbox descriptors output \
    'debug files'; do
    expect "^(ok|limited|no) +$check "
done
expect '^Next: windlass record'

# ---- a process that runs
sleep 100 &
sleeper=$!
if doctor 0 -p $sleeper; then
    expect "^ok +process +process $sleeper runs .*/sleep"
    expect '^(ok|limited) +samples +1 of 1 threads can be sampled'
    expect '^(ok|limited) +blocked time '
    expect '^ok +stacks +whole'
    expect "^Next: windlass record -p $sleeper$"
    ! grep -q '^[a-z]* *heap' said || { cat said; exit 1; }
fi
kill $sleeper
wait $sleeper || true
doctor 1 -p $sleeper
expect "^no +process +there is no process '$sleeper'"
if [ "$(id -u)" -eq 0 ] && command -v runuser >/dev/null; then
    tried="runuser -u nobody -- $windlass"
    status=0
    $tried doctor -p $$ >said || status=$?
    [ $status -eq 1 ] || { cat said; exit 1; }
    expect '^no +samples +process .* belongs to user 0'
    tried=
fi
doctor 1 -p self
expect "^no +process +there is no process 'self'"
doctor 1 -p $$ ./here

# ---- programs
cp "$(command -v sleep)" here
doctor 0 ./here
expect '^ok +program +\./here can be recorded'
expect '^ok +word size +64 bits'
expect '^ok +stacks +whole'
expect '^Next: windlass record ./here$'
expect '^ok +heap +allocated by the C library'
printf '#include <stddef.h>\nvoid *malloc(size_t n) { return (char *)n; }\n' >own.c
printf 'int main(void) { return 0; }\n' >>own.c
if cc -fno-builtin -o own own.c 2>/dev/null; then
    doctor 0 ./own
    expect '^limited +heap +it has a malloc of its own'
fi
# Code without rules is named, in whichever library it is.
cat >bare.s <<'END'
        .text
        .globl bare
bare:   .rept 4000
        add $1, %eax
        .endr
        ret
        .section .note.GNU-stack
END
echo 'void bare(void); int main(void) { bare(); return 0; }' >over.c
if [ "$(uname -m)" = x86_64 ] && cc -shared bare.s -o libbare.so 2>/dev/null &&
    cc -O1 over.c ./libbare.so -o over; then
    doctor 0 ./over
    expect '^limited +stacks +code without unwind rules: 9[0-9.]+ % of libbare.so;'
    grep -q '% of over' said && exit 1
    doctor 1 --whole-stacks ./over
    for made in java:-XX:.PreserveFramePointer luajit-2.1:-joff \
        pypy3:--jit; do
        cp over "${made%%:*}"
        doctor 0 "./${made%%:*}"
        expect "^limited +stacks .*${made#*:}"
    done
    cc -O1 -x c -o whole - <<END
int main(void) { return 0; }
END
    doctor 0 --whole-stacks ./whole
fi
printf '#! %s\n' "$work/here" >script
chmod +x script
doctor 0 ./script
expect "^ok +script +./script is run by $work/here"
doctor 1 ./not-there
expect "^no +program +cannot find the program './not-there'"
printf 'int main(void) { return 0; }\n' >static.c
if cc -static -g -o static static.c 2>/dev/null; then
    # It is sampled from outside where perf events are allowed.
    static=1
    ! "$windlass" doctor ./static >said || static=0
    doctor $static ./static
    expect '^(no|limited) +program +./static is statically linked.*; .'
    expect '^ok +names +.*it has debug information'
    strip static
    doctor $static ./static
    expect '^limited +names +.*it is stripped; .'
fi
doctor 0
can=$(sed -n 's/^\([a-z]*\) *32-bit programs .*/\1/p' said)
if cc -m32 -o narrow static.c 2>/dev/null; then
    [ "$can" = ok ] && doctor 0 ./narrow || doctor 1 ./narrow
    expect '^(ok|no) +word size +32 bits'
fi

# ---- folders of debug files
mkdir debug
export WINDLASS_DEBUG_DIRS="$work/debug:$work/none"
doctor 0
expect "^limited +debug files +.* $work/none: .*WINDLASS_DEBUG_DIRS is $work/"
unset WINDLASS_DEBUG_DIRS

# ---- a machine that does not let us
(
    ulimit -n 12
    doctor 1
) || exit 1
expect '^no +descriptors .*ulimit -Hn is 12'
# A windlass with AddressSanitizer does not even start with so little.
if (ulimit -v 120000 && "$windlass" --version >/dev/null 2>&1); then
    (
        ulimit -v 120000
        doctor 1
    ) || exit 1
    expect '^no +shared memory .*ulimit -v is 120000 kB'
fi
mkdir -p lone/cli 'with space/cli' 'with space/rt'
cp "$windlass" lone/cli/windlass
cp "$windlass" 'with space/cli/windlass'
cp "$runtime" 'with space/rt/libwindlass-rt.so'
tried=lone/cli/windlass
doctor 1
expect '^no +preload +cannot find libwindlass-rt.so'
tried='with space/cli/windlass'
doctor 1
expect '^no +preload +/.*with space/rt/libwindlass-rt.so; .*spaces'
tried=

# ---- names that would command a terminal
odd="./$(printf 'a\033[31m\nb\\c')"
cp /bin/true "$odd"
doctor 0 "$odd"
[ "$(tr -d '\n' <said | tr -d ' -~' | wc -c)" -eq 0 ] || {
    echo "doctor: control characters: $(cat -v said)"
    exit 1
}
expect "^ok +program +\./a \[31m b.c can be recorded"
grep -qF "record \$'./a\\033[31m\\012b\\\\c'" said || {
    echo "doctor: not a word for a shell: $(tail -n 1 said)"
    exit 1
}
"$windlass" sym --ids "$odd" >said
[ "$(head -n 1 said)" = 'file      ./a [31m b\c' ] || {
    echo "sym --ids: $(cat -v said)"
    exit 1
}

# ---- for programs to read
have python3 || exit 0
doctor 1 --json ./not-there
python3 - said <<'END'
import json, sys
told = json.load(open(sys.argv[1]))
assert told["version"] == 1 and told["works"] is False
last = told["checks"][-1]
assert last["check"] == "program" and last["state"] == "no", last
assert last["stops"] is True
assert all(c["state"] in ("ok", "limited", "no") for c in told["checks"])
END
