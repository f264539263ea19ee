#!/bin/sh
# fix.sh WINDLASS: text through 'windlass fix', byte for byte: each form of
# frame, what is passed on, escapes, folders, inlined frames, DMD's tables.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
need cc nm strip objcopy readelf python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
work=$(pwd -P)
export LC_ALL=C
unset WINDLASS_DEBUG_DIRS

mkdir 'a b' stripped full
cat >program.c <<'END'
volatile int sink;
static inline __attribute__((always_inline)) void innermost(int n)
{
    sink = n;
}
static inline __attribute__((always_inline)) void middle(int n)
{
    innermost(n);
}
__attribute__((noinline)) void outer(int n)
{
    middle(n);
}
int main(int argc, char **argv)
{
    (void)argv;
    outer(argc);
    return sink == 0;
}
END
cc -g -O1 -fPIE -pie -Wl,--build-id -o 'a b/prog' "$work/program.c"
cc -g -O1 -fno-pie -no-pie -Wl,--build-id -o fixed "$work/program.c"
cp 'a b/prog' full/prog
strip -o stripped/prog 'a b/prog'

build_id=$(readelf -n 'a b/prog' | sed -n 's/.*Build ID: //p')

# Addresses as the forms write them.
symbol() { nm "$1" | awk -v name="$2" '$3 == name { print $1 }'; }
base() { readelf -lW "$1" | awk '$1 == "LOAD" { print $3; exit }'; }
pie=$(printf %x $((0x$(symbol 'a b/prog' outer))))
end=$(printf %x $((0x$(symbol 'a b/prog' outer) + 1)))
linked=$(printf %x $((0x$(symbol fixed outer))))
next=$(printf %x $((0x$(symbol fixed outer) + 1)))
offset=$(printf %x $((0x$linked - $(base fixed))))
valgrinds=$(printf %x $((0x$pie + 0x108000)))
p="$work/a b/prog"
c="$work/program.c"

failed=0
# same WHAT: out must be what wanted is.
same() {
    if ! cmp -s wanted out; then
        echo "fix: $1:"
        diff wanted out | cat -A | head -20
        failed=1
    fi
}

# Each form; the first byte of outer is of its line 12, inlined from 8 and 4.
cat >in <<END
x #01: ???[$p +0x$pie] y
outer (0x7f00 $work/fixed+0x$offset)
??? ($p) 0x$pie
    #0 0x55d0  ($p+0x$pie) (BuildId: $build_id)
    #0 0x55d0  ($p+0x$pie) (BuildId: 00)
    #1 0x55d0 in f (fixed+0x$linked)
$p(+0x$end) [0x55d0]
$p(outer+0x1)[0x55d0]
./fixed() [0x$next]
./fixed[0x$next]
==7==    at 0x$valgrinds: ??? (in $p)
==7==    by 0x$linked: f (in $work/fixed)
at $work/fixed+0x$offset, ./fixed+0x$linked.
#01: f[$p +0x$pie] #02: g[$work/fixed +0x$offset]
END
cat >wanted <<END
x #01: outer ($c:4) y
outer ($c:4)
outer ($c:4)
    #0 0x55d0 in outer $c:4:10 (BuildId: $build_id)
    #0 0x55d0  ($p+0x$pie) (BuildId: 00)
    #1 0x55d0 in outer $c:4:10
outer ($c:4) [0x55d0]
outer ($c:4)[0x55d0]
outer ($c:4) [0x$next]
outer ($c:4)[0x$next]
==7==    at 0x$valgrinds: outer ($c:4)
==7==    by 0x$linked: outer ($c:4)
at outer ($c:4), outer ($c:4).
#01: outer ($c:4) #02: outer ($c:4)
END
# The outermost function with the line of its call.
sed 's/program.c:4:10/program.c:12:5/; s/program.c:4/program.c:12/g' wanted |
    sed 's/12:5:10/12:5/' >w && mv w wanted
"$windlass" fix in >out 2>err
same "forms"
printf '%s\n' "windlass: error: failed to read \`$p\`" \
    "windlass: the file is another build than the one asked for" >wanted
mv err out
same "forms, standard error"

# What is no frame, or of nothing known, byte for byte.
printf '#01: a[%s +0x0] b\r\n\000\377\n#1: a[/x +0x1ffffffffffffffff]\r\nlast' \
    "$p" >in
printf '#01: a (%s + 0x0) b\r\n\000\377\n#1: a[/x +0x1ffffffffffffffff]\r\nlast' \
    "$p" >wanted
"$windlass" fix <in >out
same "other text"
head -c 300000 /dev/urandom >in
"$windlass" fix <in >out 2>/dev/null
cp in wanted
same "random bytes"

# A binary that cannot be read: said once, the frames as they may be.
cat >in <<END
#01: f[/none/x.so +0x00AB]
    #0 0x1 (/none/x.so+0x1)
/none/y.so+0x1
#02: g[/none/x.so +0x1]
#03: h[$c +0x1]
END
cat >wanted <<END
#01: f (/none/x.so + 0xab)
    #0 0x1 (/none/x.so+0x1)
/none/y.so+0x1
#02: g (/none/x.so + 0x1)
#03: h ($c + 0x1)
END
"$windlass" fix in >out 2>err
same "unreadable binaries"
cat >wanted <<END
windlass: error: failed to read \`/none/x.so'
windlass: No such file or directory
windlass: error: failed to parse \`$c'
END
sed "s/\`\$/'/" err | head -3 >out
same "unreadable binaries, standard error"
[ "$(wc -l <err)" -eq 4 ] || failed=1

# Without lines, then with them from another folder.
printf '#01: f[%s +0x%s]\n' "$work/stripped/prog" "$pie" >in
printf '#01: f (%s + 0x%s)\n' "$work/stripped/prog" "$pie" >wanted
"$windlass" fix in >out
same "stripped"
printf '#01: outer (%s:12)\n' "$c" >wanted
"$windlass" fix --sym-dir "$work/full" in >out
same "--sym-dir"
"$windlass" fix --map "$work/stripped=$work/full" in >out
same "--map"
mv stripped/prog stripped/gone
"$windlass" fix -l "$work/full" in >out
same "-l"
mv stripped/gone stripped/prog
rest=${build_id#??}
mkdir -p "debug/.build-id/${build_id%"$rest"}"
objcopy --only-keep-debug 'a b/prog' \
    "debug/.build-id/${build_id%"$rest"}/$rest.debug"
"$windlass" fix --debug-dir "$work/debug" in >out
same "--debug-dir"
# Another build under the same name is not used.
cc -g -O0 -Wl,--build-id -o full/prog "$work/program.c"
printf '#01: f (%s + 0x%s)\n' "$work/stripped/prog" "$pie" >wanted
"$windlass" fix --sym-dir "$work/full" in >out
same "--sym-dir with another build"

# Debug information that is damaged: what is left of it, and a word on it.
printf '\100\000\000\000\077\000\000\000' >junk
objcopy --update-section .debug_info=junk 'a b/prog' broken 2>/dev/null
printf '#01: f[%s +0x%s]\n' "$work/broken" "$pie" >in
printf '#01: outer (%s + 0x%s)\n' "$work/broken" "$pie" >wanted
"$windlass" fix in >out 2>err
same "damaged debug information"
grep -q "broken: .* debug information .*: .debug_info+0x" err || {
    cat err
    failed=1
}

# A function in two parts: the hot one is not called cold.
cat >parts.c <<'END'
volatile int sink;
__attribute__((cold, noinline)) void rare(void);
__attribute__((noinline)) int parted(int n)
{
    sink = n;
    if (__builtin_expect(n == 7, 0)) {
        sink = 1;
        rare();
        sink = 2;
    }
    return sink;
}
void rare(void)
{
    sink = 3;
}
int main(int argc, char **argv)
{
    (void)argv;
    return parted(argc);
}
END
cc -g -O2 -fPIE -pie -fno-ipa-icf -o parts "$work/parts.c"
if nm parts | grep -q ' parted[.]cold'; then
    printf '#01: f[%s +0x%s]\n' "$work/parts" "$(symbol parts parted)" >in
    printf '#01: parted (%s)\n' "$work/parts.c" >wanted
    "$windlass" fix in | sed 's/:[0-9]*)/)/' >out
    same "hot and cold parts"
fi

# The build that the text names, though another is at the path.
printf '#0 0x1 (%s+0x%s) (BuildId: %s)\n' "$work/full/prog" "$pie" \
    "$build_id" >in
printf '#0 0x1 in outer %s:12:5 (BuildId: %s)\n' "$c" "$build_id" >wanted
"$windlass" fix --sym-dir "$work/a b" in >out
same "a build-id in the text"

# Control sequences may be anywhere in a line, and stay.
e=$(printf '\033')
cat >in <<END
$e[31m./fixed(+0x$linked)$e[0m [0x$next]
#01:$e[1m f[$e[4m$p$e[0m +0x$e[K$pie]$e[m z
    #0$e[1m 0x1$e[0m in $e[32mf$e[0m ($e]8;;file:x$e\\$p$e]8;;$e\\+0x$pie)
END
cat >wanted <<END
$e[31mouter ($c:12)$e[0m [0x$next]
#01:$e[1m outer ($c:12)$e[4m$e[0m$e[K$e[m z
    #0$e[1m 0x1$e[0m in outer $c:12:5$e[32m$e[0m$e]8;;file:x$e\\$e]8;;$e\\
END
"$windlass" fix in | sed 's/:4/:12/' >out
same "control sequences"
printf '{"a":"\\u001b[31m./fixed(+0x%s) [0x7f00]\\u001b[0m"}\n' "$linked" >in
printf '{"a":"\\u001b[31mouter (%s:4) [0x7f00]\\u001b[0m"}\n' "$c" >wanted
"$windlass" fix -j in | sed 's/:12)/:4)/' >out
same "control sequences in JSON"

# A binary that is gone: its debug file, by the build-id in the text.
printf '#0 0x1 (/gone/x+0x%s) (BuildId: %s)\n' "$pie" "$build_id" >in
printf '#0 0x1 in outer %s:12:5 (BuildId: %s)\n' "$c" "$build_id" >wanted
"$windlass" fix --debug-dir "$work/debug" in | sed 's/:4:10/:12:5/' >out
same "the build-id of a binary that is gone"
printf '#0 0x1 (/gone/x+0x%s) (BuildId: %s)\n' "$pie" 0102 >in
cp in wanted
"$windlass" fix --debug-dir "$work/debug" in >out 2>/dev/null
same "an unknown build-id"

# Inlined frames, innermost first.
printf 'a #01: f[%s +0x%s] z\r\n./fixed() [0x%s]' "$p" "$pie" "$next" >in
printf 'a #01: %s (%s:%s) [inlined] z\r\n' innermost "$c" 4 middle "$c" 8 \
    >wanted
printf 'a #01: outer (%s:12) z\r\n' "$c" >>wanted
printf '%s (%s:%s) [inlined] [0x%s]\n' innermost "$c" 4 "$next" \
    middle "$c" 8 "$next" >>wanted
printf 'outer (%s:12) [0x%s]' "$c" "$next" >>wanted
"$windlass" fix --inlines in >out
same "--inlines"

# JSON: escapes in paths, names in escapes, bad escapes as they are.
escaped=$(printf '%s' "$p" | sed 's|/|\\/|g; s|a b|\\u0061 b|')
printf '["#01: f[%s +0x%s]","#02: f[%s\\q +0x1]","#03: f[%s +0x%s]"]' \
    "$escaped" "$pie" "$escaped" "$p" "$pie" >in
printf '["#01: outer (%s:12)","#02: f[%s\\q +0x1]","#03: outer (%s:12)"]' \
    "$c" "$escaped" "$c" >wanted
"$windlass" fix -j in >out
same "-j"
printf '{"a": "#01: f[%s +0x%s]"}\n' "$p" "$pie" >in
printf '{"a": "#01: %s (%s:%s) [inlined]\\n#01: %s (%s:%s) [inlined]\\n' \
    innermost "$c" 4 middle "$c" 8 >wanted
printf '#01: outer (%s:12)"}\n' "$c" >>wanted
"$windlass" fix -j --inlines in >out
same "-j --inlines"

# DMD: the frame B gets two more, wherever it is used.
cat >in <<END
{
 "version": 5,
 "invocation": {"dmdEnvVar": null, "mode": "live"},
 "blockList": [{"req": 5, "alloc": "A"}, {"req": 7, "alloc": "C", "num": 2}],
 "traceTable": {
  "A": ["B", "C"],
  "C": ["C","B", "uf"], "D": []
 },
 "frameTable": {
  "B": "#00: f[$p +0x$pie]",
  "C": "#01: g (already:5)",
  "BA": "#02: h[$p +0x0]"
 }
}
END
cat >wanted <<END
{
 "version": 5,
 "invocation": {"dmdEnvVar": null, "mode": "live"},
 "blockList": [{"req": 5, "alloc": "A"}, {"req": 7, "alloc": "C", "num": 2}],
 "traceTable": {
  "A": ["BB", "BC", "B", "C"],
  "C": ["C","BB", "BC", "B", "uf"], "D": []
 },
 "frameTable": {
  "BB": "#00: innermost ($c:4) [inlined]",
  "BC": "#00: middle ($c:8) [inlined]",
  "B": "#00: outer ($c:12)",
  "C": "#01: g (already:5)",
  "BA": "#02: h ($p + 0x0)"
 }
}
END
"$windlass" fix -j --inlines in >out
same "DMD"
python3 -m json.tool <out >/dev/null || failed=1
"$windlass" fix -j --inlines <in >by_pipe
cat by_pipe >out
same "DMD on standard input"
python3 -c 'import json; print(end=json.dumps(json.load(open("in"))))' >flat
python3 -c 'import json; print(end=json.dumps(json.load(open("wanted"))))' >w
"$windlass" fix -j --inlines flat >o
python3 -c 'import json; print(end=json.dumps(json.load(open("o"))))' >out
mv w wanted
same "DMD on one line"
head -c 200 <in >"cut"
"$windlass" fix -j --inlines cut >out 2>err || failed=1
cp cut wanted
same "half a DMD file"
grep -q 'cut: JSON+0xc8: the file ends' err || { cat err; failed=1; }

# A DMD file of any ids and stacks: each stack is the old one with the inlined
# frames before the frame they are in, and no id means two frames.
cat >dmd.py <<'END'
import json, random, sys

random.seed(1)
digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef"


def make(known):
    ids = list({"".join(random.choices(digits, k=random.randint(1, 4)))
                for _ in range(300)})
    frames = {i: "#%02d: f[%s]" % (n % 24, known if n % 3 else "/none +0x1")
              for n, i in enumerate(ids)}
    stacks = {str(n): random.choices(ids + ["uf"], k=n % 25)
              for n in range(200)}
    return {"version": 5, "invocation": {}, "traceTable": stacks,
            "frameTable": frames}


def unique(pairs):
    assert len(pairs) == len({key for key, _ in pairs})
    return dict(pairs)


if sys.argv[1] == "make":
    json.dump(make(sys.argv[2]), sys.stdout, indent=int(sys.argv[3]) or None)
    sys.exit()
old = json.load(open("in"))
new = json.load(open("out"), object_pairs_hook=unique)
stacks = [s for s in old["traceTable"].values()]
for before, after in zip(stacks, new["traceTable"].values(), strict=True):
    rest = iter(after)
    for i in before:
        number = old["frameTable"].get(i, "")[:5]
        names = [] if "/none" in old["frameTable"].get(i, "/none") else [
            "innermost", "middle"]
        for name in names:
            text = new["frameTable"][next(rest)]
            assert text.startswith(number + name + " ("), text
            assert text.endswith(" [inlined]"), text
        assert next(rest) == i
        if names:
            assert new["frameTable"][i].startswith(number + "outer (")
    assert next(rest, None) is None
assert new["frameTable"].keys() >= old["frameTable"].keys()
END
for indent in 0 1; do
    python3 dmd.py make "$p +0x$pie" $indent >in
    "$windlass" fix -j --inlines in >out 2>/dev/null
    python3 dmd.py check || failed=1
done

# A line leaves while the input waits; the reader may go.
mkfifo lines answers
timeout 60 "$windlass" fix <lines >answers &
fixer=$!
exec 3>lines 4<answers
printf '#01: f[%s +0x%s]\nrest' "$p" "$pie" >&3
IFS= read -r answer <&4
[ "$answer" = "#01: outer ($c:12)" ] || { echo "fix: $answer"; failed=1; }
exec 3>&-
IFS= read -r answer <&4 || true
[ "$answer" = rest ] || failed=1
exec 4<&-
wait "$fixer" || failed=1
seq 1000000 | { "$windlass" fix || echo "fix: status $?" >status; } | head -n 1 \
    >/dev/null
[ ! -e status ] || { cat status; failed=1; }

# Binaries may be cut short by others while text still comes.
cp "$p" short
rm -f lines answers
mkfifo lines answers
timeout 60 "$windlass" fix <lines >answers 2>err &
fixer=$!
exec 3>lines 4<answers
printf '#01: f[short +0x%s]\n' "$pie" >&3
IFS= read -r answer <&4
: >short
printf '#02: f[short +0x%s]\n#03: f[short +0x8]\n#04: f[%s +0x%s]\n' \
    "$(symbol 'a b/prog' main)" "$p" "$pie" >&3
exec 3>&-
answer=$(tail -n 1 <&4)
exec 4<&-
[ "$answer" = "#04: outer ($c:12)" ] || { echo "fix: $answer"; failed=1; }
wait "$fixer" || { echo "fix: status $? when a file is cut short"; failed=1; }
grep -q 'cut short' err || { echo 'fix: silent on a cut file'; failed=1; }

# More modules than the address space has room for: each is opened when its turn
# comes, and again when it is needed again. (Sanitizers need more room.)
printf 'int one(int a) { return a + 1; }\n' >many.c
gcc -g -shared -fPIC many.c -o many.so
one=$(nm many.so | awk '$3 == "one" { print $1 }')
mkdir many
for i in $(seq 600); do
    ln many.so "many/lib$i.so"
    echo "#01: ???[$PWD/many/lib$i.so +0x$one]"
done >all
cat all all >twice
if (ulimit -v 40000 && "$windlass" --version >out 2>&1); then
    (ulimit -v 40000 && "$windlass" fix <twice >out 2>err) ||
        { echo "fix: of many modules: $(head -n 3 err)"; failed=1; }
    [ "$(grep -c '^#01: one (.*/many.c:1)$' out)" -eq 1200 ] &&
        [ ! -s err ] || { echo 'fix: many modules lack names'; failed=1; }
fi

# Errors of its own.
status=0
"$windlass" fix absent >out 2>err || status=$?
{ [ $status -eq 1 ] && grep -q 'error: cannot open absent: ' err; } || failed=1
status=0
"$windlass" fix . >out 2>err || status=$?
{ [ $status -eq 1 ] && grep -q 'directory' err; } || failed=1
status=0
"$windlass" fix --map nothing in >out 2>err || status=$?
{ [ $status -eq 2 ] && grep -q 'FROM=TO' err; } || failed=1
# A path cannot command the terminal that it is told on.
printf '#01: f[/absent\033\007 +0x1]\n' | "$windlass" fix >out 2>err
grep -qF 'failed to read `/absent\x1b\x07`' err || {
    echo "fix: $(cat -v err)"
    failed=1
}
if [ -w /dev/full ]; then
    status=0
    "$windlass" fix in >/dev/full 2>err || status=$?
    { [ $status -eq 1 ] && grep -q 'cannot write' err; } || failed=1
fi
exit $failed
