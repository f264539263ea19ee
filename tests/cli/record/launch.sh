#!/bin/sh
# A program finds a collector for itself where the environment asks for it,
# and notices nothing of its start. The collector here is a stand-in.
. "$(dirname "$0")/../lib/record_lib.sh"
mkdir rt cli
cp "$(dirname "$windlass")/../rt/libwindlass-rt.so" rt/
cat >cli/windlass <<'EOS'
#!/bin/sh
# Those of the pipe come and go while they are listed.
descriptors=$(ls -l /proc/$$/fd 2>/dev/null |
    sed -n 's/.* \([0-9]*\) -> \(.*\)/fd \1 \2/p')
{
    echo "arguments $*"
    echo "options ${WINDLASS_OPTIONS-none}"
    echo "preload ${LD_PRELOAD-none} session ${WINDLASS_SESSION-none}"
    echo "$descriptors"
    echo "parent $(awk '{ print $4 }' /proc/$$/stat)"
    echo "session of its own $(awk '{ print $1 == $6 }' /proc/$$/stat)"
} >../seen
[ "$2" = --help-options ] && exec echo "rate=HZ" >&2
sleep 0.2
echo "$PWD/socket" >&3
EOS
chmod +x cli/windlass
# launched OPTIONS COMMAND...
launched() {
    options=$1
    shift
    (cd cli && LD_PRELOAD=$work/rt/libwindlass-rt.so \
        WINDLASS_OPTIONS=$options exec "$@" 7<"$0" 8>/dev/null)
}

launched rate=500 sh -c 'echo $$; trap "echo child" CHLD; env | sort;
    exit 3' >out 2>err && fail "not the program's status"
cmp -s err /dev/null || fail "something was said: $(cat err)"
pid=$(head -n 1 out)
grep -qx "arguments collect --pid $pid --notify 3" seen ||
    fail "arguments: $(cat seen)"
grep -qx "options rate=500" seen || fail "the collector's options"
grep -qx "preload none session none" seen || fail "it would record itself"
grep -qx "session of its own 1" seen || fail "in the program's session"
grep -q "^fd [789] /" seen && fail "a descriptor of the program's is kept"
grep -q "^fd 0 /dev/null" seen || fail "its input"
grep -q "^fd 1 /dev/null" seen || fail "its output"
grep -qx "parent $pid" seen && fail "it is the program's child"
grep -qx "WINDLASS_SESSION=$work/cli/socket" out ||
    fail "children do not join: $(cat out)"
grep -q "^WINDLASS_OPTIONS" out && fail "children would launch another"

launched help sh -c 'echo ran' >out 2>err || fail "help fails"
cmp -s out /dev/null || fail "the program ran"
grep -qx "rate=HZ" err || fail "no help: $(cat err)"

rm cli/windlass
launched rate=500 sh -c 'echo $WINDLASS_OPTIONS' >out 2>err || fail "$?"
[ "$(cat out)" = rate=500 ] || fail "the program did not run"
grep -q "runs unrecorded" err || fail "nothing was said"

# Without anything of ours the object is just there.
LD_PRELOAD=$work/rt/libwindlass-rt.so sh -c 'echo $LD_PRELOAD' >out
[ "$(cat out)" = "$work/rt/libwindlass-rt.so" ] || fail "alone"
