#!/bin/sh
# forms.sh WINDLASS: the stacks that debuggers, runtimes, crash reporters and
# the kernel print, byte for byte through 'windlass fix'. Beside each is whether
# a tool printed it (the name and version; addresses and paths are put in) or it
# is written from the format that the tool's documentation or source has.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
need cc nm readelf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
work=$(pwd -P)
export LC_ALL=C
unset WINDLASS_DEBUG_DIRS DEBUGINFOD_URLS
failed=0

cat >program.c <<'END'
volatile int sink;
__attribute__((noinline)) void first(int n)
{
    sink = n; /* 4 */
}
__attribute__((noinline)) void second(int n)
{
    first(n + sink); /* 8 */
    sink = n;        /* 9 */
}
int main(int argc, char **argv)
{
    (void)argv;
    second(argc);
    return sink == 0;
}
END
cc -g -O1 -fPIE -pie -Wl,--build-id -o app "$work/program.c"
cc -g -O1 -fno-pie -no-pie -Wl,--build-id -o linked "$work/program.c"
mkdir lib
cp app lib/libapp.so
cp app lib/MyApp
cc -g -O1 -c -o lib/some-module.ko "$work/program.c"

address() { nm "$1" | awk -v name="$2" '$3 == name { print "0x" $1 }'; }
hex() { printf '0x%x' $(($1)); }
text=$(readelf -lW app | awk '$1 == "LOAD" && /R E/ { print $2, $3; exit }')
f=$(hex "$(address app first)")
s=$(hex "$(address app second) + 1") # as if returned to: is looked up before
base=$((0x7f1200000000))
fa=$(hex "$base + $f")
sa=$(hex "$base + $s")
file=${text% *}
segment=$(hex "$base + ${text#* }")
end=$(hex "$segment + 0x1000")
lf=$(hex "$(address linked first)")
ls=$(hex "$(address linked second) + 1")
id=$(readelf -n app | sed -n 's/.*Build ID: //p')
c=$work/program.c

# check WHAT [OPTION...]: `in`, through fix, must be `wanted`, and nothing said.
# It becomes a part of the long log at the end, as if of a job in a build.
check() {
    what=$1
    shift
    case " $* " in
    *' -j '*) ;;
    *)
        { echo "---- $what" && cat in && echo; } >>job.in
        { echo "---- $what" && cat wanted && echo; } >>job.wanted
        ;;
    esac
    "$windlass" fix "$@" in >out 2>err || echo "exit status $?" >>err
    if ! cmp -s wanted out || [ -s err ]; then
        echo "fix_forms: $what:"
        diff wanted out | cat -A | head -20
        cat err
        failed=1
    fi
}

# coredumpctl and the journal (written, of systemd 252 and 241), and our own.
cat >in <<END
                #0  0x000055d2c4b8a139 n/a ($work/app + $f)
                #1  0x000055d2c4b8a151 second ($work/app + $s)
host systemd-coredump[7]: #10 0x00007fd6d8d1a2b2 n/a (nowhere.so.6 + 0x4c2b2)
#02: ??? ($work/app + $f) tail
f(int) ($work/app + $s) [0x55d0]
call(a/b + 0x12), (x + 0x12)
END
cat >wanted <<END
                #0  0x000055d2c4b8a139 first ($c:4)
                #1  0x000055d2c4b8a151 second ($c:7)
host systemd-coredump[7]: #10 0x00007fd6d8d1a2b2 n/a (nowhere.so.6 + 0x4c2b2)
#02: first ($c:4) tail
second ($c:7) [0x55d0]
call(a/b + 0x12), (x + 0x12)
END
check "coredumpctl"

# minidump-stackwalk (written, of Breakpad and rust-minidump).
cat >in <<END
 0  app + $f
    rip = 0x00007f1200001139
 1  app!second + 0x0
 2  app!main [p.c : 12 + 0x5]
12  libnone.so + 0x12
END
cat >wanted <<END
 0  first ($c:4)
    rip = 0x00007f1200001139
 1  second ($c:7)
 2  app!main [p.c : 12 + 0x5]
12  libnone.so + 0x12
END
check "minidump-stackwalk"

# Android's tombstones (written, of debuggerd).
digits=$(printf '%016x' $((f)))
cat >in <<END
backtrace:
      #00 pc $digits  /data/app/x==/base.apk!libapp.so (offset 0x1000) (first(int)+4) (BuildId: $id)
      #01 pc $digits  $work/app (BuildId: $id)
      #02 pc $digits  $work/app
      #03 pc $digits  <anonymous:7a12>
A/DEBUG: #04 pc ${digits#00000000}  $work/app (deleted+12)
END
cat >wanted <<END
backtrace:
      #00 pc $digits  first ($c:4) (BuildId: $id)
      #01 pc $digits  first ($c:4) (BuildId: $id)
      #02 pc $digits  first ($c:4)
      #03 pc $digits  <anonymous:7a12>
A/DEBUG: #04 pc ${digits#00000000}  first ($c:4)
END
check "tombstone" -l lib

# Apple's crash reports (written, of ReportCrash), whose images come last.
printf '0   MyApp  \t%s %s + %d\n' "$fa" "$(hex $base)" $((f)) >in
printf '1   MyApp  \t%s second + 1\n' "$sa" >>in
printf '2   dyld  \t0x00007fff203a2f3d start + 1\n\nBinary Images:\n' >>in
printf '   %s - %s +MyApp (1) <%s> %s/lib/MyApp\n' "$(hex $base)" \
    "$(hex $base+0xfff)" "$id" "$work" >>in
{
    printf '0   MyApp  \t%s first (%s:4)\n' "$fa" "$c"
    printf '1   MyApp  \t%s second (%s:7)\n' "$sa" "$c"
    tail -n +3 in
} >wanted
check "crash report"
sed 's/<[0-9a-f]*>/<00112233-4455-6677-8899-aabbccddeeff>/' in >another
"$windlass" fix another >out 2>err
if ! cmp -s another out || ! grep -q 'another build' err; then
    echo "fix_forms: an image of another build"
    failed=1
fi

# The same as JSON (written, of macOS 12 and iOS 15): objects for inlined calls
# come before that of their function.
cat >inlined.c <<END
volatile int sink;
static inline __attribute__((always_inline)) void inner(int n)
{
    sink = n; /* 4 */
}
__attribute__((noinline)) void outer(int n)
{
    inner(n); /* 8 */
}
int main(int argc, char **argv)
{
    (void)argv;
    outer(argc);
    return 0;
}
END
cc -g -O1 -fPIE -pie -Wl,--build-id -o lib/Inlined "$work/inlined.c"
in=$(($(address lib/Inlined outer) + 1))
other=$(readelf -n lib/Inlined | sed -n 's/.*Build ID: //p')
cat >in <<END
{"app_name":"MyApp","bug_type":"309"}
{
  "threads" : [{"triggered":true,"frames":[{"imageOffset":$((f)),"symbol":"a{}\"b","symbolLocation":4,"imageIndex":2},{"imageOffset":$((s)),"imageIndex":2}, {"imageOffset":$in,"imageIndex":1},{"imageOffset":12,"imageIndex":0},{"imageOffset":$((f)),"sourceLine":9,"sourceFile":"a.c","symbol":"a","imageIndex":2}]}],
  "usedImages" : [
  {
    "size" : 0,
    "uuid" : "00000000-0000-0000-0000-000000000000"
  },
  {
    "arch" : "arm64",
    "base" : 4305371136,
    "uuid" : "$other",
    "path" : "\/private\/Inlined"
  },
  {"uuid" : "$id", "path" : "$(echo "$work" | sed 's|/|\\/|g')\/lib\/MyApp", "name" : "MyApp"}
]
}
END
named() {
    printf '"symbol":"%s","sourceFile":"%s","sourceLine":%d' "$@"
}
{
    head -2 in
    printf '  "threads" : [{"triggered":true,"frames":[{"imageOffset":%d,"imageIndex":2,%s},' \
        $((f)) "$(named first "$c" 4)"
    printf '{"imageOffset":%d,"imageIndex":2,%s}, ' $((s)) "$(named second "$c" 7)"
    printf '{"imageOffset":%d,"imageIndex":1,%s,"inline":true},' "$in" \
        "$(named inner "$work/inlined.c" 4)"
    printf '{"imageOffset":%d,"imageIndex":1,%s},' "$in" \
        "$(named outer "$work/inlined.c" 8)"
    sed -n '3s/.*\({"imageOffset":12,.*\)/\1/p' in
    tail -n +4 in
} >wanted
check "crash report as JSON" -j --inlines -l lib

# LLDB 19.1.7; GDB 13.1 with `info proc mappings`.
cat >in <<END
    frame #0: $fa app\`first + 0
  * frame #1: $sa app\`second + 1
    frame #2: $sa app\`main at p.c:14:5
    frame #3: $sa app\`___lldb_unnamed_symbol9 + 12
END
cat >wanted <<END
    frame #0: $fa first ($c:4)
  * frame #1: $sa second ($c:7)
    frame #2: $sa app\`main at p.c:14:5
    frame #3: $sa app\`___lldb_unnamed_symbol9 + 12
END
check "LLDB"
cat >in <<END
$fa in first ()
#0  $fa in first ()
#1  $sa in second () from $work/app
#2  0x0000555555555164 in main ()
#3  $sa in main (argc=1) at p.c:14
Mapped address spaces:

          Start Addr           End Addr       Size     Offset  Perms  objfile
      $segment     $end     0x1000     $(hex "$file")  r-xp   $work/app
      0x7ffff7dcd000     0x7ffff7dd0000     0x3000        0x0  rw-p
END
{
    cat <<END
$fa in first ()
#0  $fa in first ($c:4)
#1  $sa in second ($c:7)
END
    tail -n +4 in
} >wanted
check "GDB"

# The markup of LLVM's symbolizer (written, of llvm-symbolizer 19).
cat >in <<END
[[[ELF module #0x0 "app"; BuildID=$id $(hex $base)]]]
{{{reset}}}
{{{module:0:$work/app:elf:$id}}}
{{{mmap:$segment:0x1000:load:0:rx:${text#* }}}}
    {{{bt:0:$fa:pc}}}
    {{{bt:1:$sa:ra}}} and {{{pc:$fa}}}
{{{bt:2:0x12}}}
END
{
    head -4 in
    cat <<END
    #0 in first ($c:4)
    #1 in second ($c:7) and first ($c:4)
{{{bt:2:0x12}}}
END
} >wanted
check "markup"
# Line by line, as from a slow pipe, the same.
while read -r line; do
    echo "$line"
    sleep 0.02
done <in | "$windlass" fix >out
sed 's/^ *//' wanted >w
if ! cmp -s w out; then
    echo "fix_forms: markup from a pipe"
    failed=1
fi

# Java (OpenJDK 17), whose libraries have no folders and come last.
cat >in <<END
# C  [libapp.so+$f]  first+0x0
Native frames: (J=compiled Java code, j=interpreted, Vv=VM code, C=native code)
C  [libapp.so+$f]  first+0x0
C  [libapp.so+$s]
V  [libnone.so+0x12]  f(int)+0x3
j  J.main([Ljava/lang/String;)V+5

Dynamic libraries:
${segment#0x}-${end#0x} r-xp ${file#0x} fe:00 318054                           $work/lib/libapp.so
END
{
    cat <<END
# C  first ($c:4)
Native frames: (J=compiled Java code, j=interpreted, Vv=VM code, C=native code)
C  first ($c:4)
C  second ($c:7)
END
    tail -n +5 in
} >wanted
check "hs_err"

# Node 20: its stack when it aborts, and its report.
cat >in <<END
 1: $lf  [linked]
 2: $ls f(int, char) [linked]
 3: 0x12 g() [linked]
12:34:5: 0x12 [x]
END
cat >wanted <<END
 1: $lf first ($c:4)
 2: $ls second ($c:7)
 3: 0x12 g() [linked]
12:34:5: 0x12 [x]
END
check "node"
cat >in <<END
  "nativeStack": [
    {
      "pc": "$lf",
      "symbol": " [$work/linked]"
    },
    {
      "pc": "$ls",
      "symbol": "f(char const*) [$work/linked]"
    }
  ],
END
sed -e "s|\" \[$work/linked\]|\"first ($c:4)|" \
    -e "s|f(char const[*]) \[$work/linked\]|second ($c:7)|" in >wanted
check "node's report" -j

# Rust (written, of std 1.80) and Ruby (written, of 3.1), with the maps that
# the latter prints; glibc before 2.26 had the same, with `stack smashing`.
cat >in <<END
   3:     $sa - <unknown>
   4:     $sa - app::main
*** stack smashing detected ***: ./app terminated
$work/app(second+0x1)[$sa]
$work/app(+$s) [$sa] vm_dump.c:761
======= Memory map: ========
${segment#0x}-${end#0x} r-xp ${file#0x} fe:00 318054                           $work/app
END
{
    cat <<END
   3:     $sa - second ($c:7)
   4:     $sa - app::main
*** stack smashing detected ***: ./app terminated
second ($c:7)[$sa]
second ($c:7) [$sa] vm_dump.c:761
END
    tail -n +6 in
} >wanted
check "Rust, Ruby, glibc"

# Python 3.14 (written, of its source).
cat >in <<END
Current thread's C stack trace (most recent call first):
  Binary file "$work/app", at second+0x1 [$sa]
  Binary file "$work/app", at +$s [$sa]
  Binary file "$work/linked" [$ls]
  Binary file '<unknown>' [0x12]
END
cat >wanted <<END
Current thread's C stack trace (most recent call first):
  second ($c:7) [$sa]
  second ($c:7) [$sa]
  second ($c:7) [$ls]
  Binary file '<unknown>' [0x12]
END
check "Python"

# Perl (written, of its source, as Debian's has no such stacks).
printf '0\t7f1200001139:0000\tfirst\t-\t%s/app\n' "$work" >in
printf '1\t7f1200001151:0001\tsecond\t-\t%s/app\n' "$work" >>in
printf '2\t7f1200001151:0001\tmain\tp.c:3\t%s/app\n' "$work" >>in
{
    printf '0\t7f1200001139:0000\tfirst (%s:4)\n' "$c"
    printf '1\t7f1200001151:0001\tsecond (%s:7)\n' "$c"
    tail -1 in
} >wanted
check "Perl"

# The kernel (written, of Linux 4.19 to 6.1), only with --kernel.
cat >in <<END
[    7.1] RIP: 0010:first+0x0/0x20
[    7.1] pc : first+0x0/0x20 [some_module]
[    7.1]  ? second+0x1/0x30 [some_module]
[    7.1]  second+0x1/0x30 [some_module(OE)]
[    7.1]  [<ffffffff81234567>] second+0x1/0x30
[    7.1]  no_such+0x1/0x30 /proc/x+0x1/0x2
END
cat >wanted <<END
[    7.1] RIP: 0010:first ($c:4)
[    7.1] pc : first ($c:4) [some_module]
[    7.1]  ? second ($c:7) [some_module]
[    7.1]  second ($c:7) [some_module(OE)]
[    7.1]  [<ffffffff81234567>] second ($c:7)
[    7.1]  no_such+0x1/0x30 /proc/x+0x1/0x2
END
check "kernel" --kernel linked -l lib
cp in wanted
cp job.in job.kept
check "kernel, without --kernel"
mv job.kept job.in
head -n -$(($(wc -l <wanted) + 2)) job.wanted >job.kept
mv job.kept job.wanted

# Sanitizers: HWAddressSanitizer on Android, ThreadSanitizer, UBSan (written).
cat >in <<END
    #0 0x5500000139  ($work/app+$f) (BuildId: $id)
    #1 second <null> (app+$f)
SUMMARY: HWAddressSanitizer: tag-mismatch ($work/app+$f) (BuildId: $id)
program.c:3:5: runtime error: signed integer overflow
END
cat >wanted <<END
    #0 0x5500000139 in first $c:4:10 (BuildId: $id)
    #1 second <null> (first ($c:4))
SUMMARY: HWAddressSanitizer: tag-mismatch (first ($c:4)) (BuildId: $id)
program.c:3:5: runtime error: signed integer overflow
END
check "sanitizers"

# What has its lines already stays: Go, gdb, Rust.
cat >in <<END
goroutine 1 [running]:
main.f(0x0?, {0xc000012345, 0x1})
	/tmp/x.go:12 +0x1d
#1  0x0000555555555151 in middle (p=0x0) at c.c:3
   4: app::main
             at ./src/main.rs:2:5
END
cp in wanted
check "lines that are there"

# Text that is packed, in one member or several, and cut off.
printf '#01: f[%s +%s]\nlast' "$work/app" "$f" >in
"$windlass" fix in >fixed
for packer in gzip zstd; do
    command -v $packer >is || continue
    $packer -c <in >packed
    { cat packed packed; } >twice
    { cat fixed; cat fixed; } >wanted
    "$windlass" fix twice >out 2>err
    if ! grep -q "^last#01: first ($c:4)" out || [ -s err ]; then
        echo "fix_forms: $packer"
        failed=1
    fi
    $packer -dc <twice | "$windlass" fix >wanted
    "$windlass" fix --repack <twice | $packer -dc >repacked
    if ! cmp -s wanted out || ! cmp -s wanted repacked; then
        echo "fix_forms: $packer, packed again"
        failed=1
    fi
    head -c $(($(wc -c <packed) - 1)) packed >cut
    status=0
    "$windlass" fix cut >out 2>err || status=$?
    if [ $status -ne 1 ] || ! grep -q "cut: .*$packer.*ends within" err; then
        echo "fix_forms: $packer, cut: $status"
        cat err
        failed=1
    fi
done
printf '\037' >in
cp in wanted
check "one byte that might begin gzip"

# A log of all of them, of as many MB as $MIXED_LOG_MB says, with what compilers
# print between them, in a pipe and in a file.
mb=${MIXED_LOG_MB:-4}
i=0
while [ $i -lt 2000 ]; do
    echo "[$i/2000] \033[32mBuilding\033[0m C object src/f$i.o: note: 0x$i of x"
    i=$((i + 1))
done >noise
{ cat job.in noise; } >in
{ cat job.wanted noise; } >wanted
times=$((mb * 1000000 / $(wc -c <in) + 1))
for part in in wanted; do
    i=0
    while [ $i -lt $times ]; do
        cat $part
        i=$((i + 1))
    done >long.$part
done
mv long.in in
mv long.wanted wanted
check "a log of every form" --kernel linked -l lib

# A binary that changed after the text.
printf '#01: f[%s +%s]\n#01: f[%s +%s]\n' "$work/app" "$f" "$work/app" "$f" >in
touch -d '2001-01-01' in
"$windlass" fix in >out 2>err
echo "windlass: warning: $work/app is newer than the text; its functions may have been elsewhere then" >wanted
if ! cmp -s wanted err; then
    echo "fix_forms: a newer binary"
    cat err
    failed=1
fi
touch -d '2000-01-01' app
sed 's/^.*$/#01: first (XX:4)/' in | sed "s|XX|$c|" >wanted
check "an older binary"
exit $failed
