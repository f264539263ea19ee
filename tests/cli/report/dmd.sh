#!/bin/sh
# dmd.sh WINDLASS: what report and diff do with DMD files: names for
# frames, warnings, what is refused.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
need python3 gzip gcc readelf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0

# wants PATTERN FILE: a line of FILE must be so.
wants() {
    grep -Eq -e "$1" "$2" || {
        echo "dmd_report: no line in $2 is: $1"
        cat "$2"
        failed=1
    }
}

# refuses STATUS PATTERN ARGUMENT...: nothing on stdout, PATTERN on stderr.
refuses() {
    wanted=$1
    pattern=$2
    shift 2
    status=0
    "$windlass" "$@" >out 2>err || status=$?
    if [ "$status" -ne "$wanted" ] || [ -s out ]; then
        echo "dmd_report: windlass $*: status $status, not $wanted, or output"
        failed=1
    fi
    wants "$pattern" err
}

# file MODE BLOCKS TRACES FRAMES: a DMD file.
file() {
    printf '{"version": 5, "invocation": {"dmdEnvVar": null, "mode": "%s"},' \
        "$1"
    printf '"blockList": [%s], "traceTable": {%s}, "frameTable": {%s}}\n' \
        "$2" "$3" "$4"
}

# ---- frames without a name get one from the binary, by its debug files
cat >app.c <<'S'
int keep(int *p) { return *p; }
int main(int argc, char **argv)
{
    (void)argv;
    return keep(&argc) - argc;
}
S
gcc -g -O0 -o app app.c
keep=$(readelf -sW app | awk '$8 == "keep" { print $2 }')
frames=$(printf '"F": "#00: ???[%s +0x%x]", "G": "#00: known (x.c:9)", %s' \
    "$work/app" "0x$keep" '"H": "#00: tab\tand \u001b[1m"')
file live '{"req": 10, "slop": 6, "alloc": "A", "num": 2}' \
    '"A": ["F", "G", "H"]' "$frames" >named.json
cp named.json before.json
"$windlass" report named.json >out 2>err
wants '^    #01: keep \(.*app\.c:1\)$' out
wants '^    #02: known \(x\.c:9\)$' out
wants '^    #03: tab\?and \?\[1m$' out
wants '^  32 bytes \(20 requested / 12 slop\)$' out
wants '^  Individual block sizes: 16 x 2$' out
cmp named.json before.json || failed=1
"$windlass" report --no-fix-stacks named.json >out
wants '#01: \?\?\?\[.*app \+0x[0-9a-f]+\]$' out

# ---- the same by gzip and from a pipe
gzip -k named.json
for input in named.json named.json.gz -; do
    "$windlass" report "$input" <named.json.gz | sed 2d >out."$input"
    cmp out.named.json out."$input" || failed=1
done

# ---- what is not in the tables is told and counted
file dark-matter '{"req": 8, "alloc": "A", "num": 7}, {"req": 1}' \
    '"B": ["X"]' '' >lost.json
"$windlass" report lost.json >out 2>err
wants 'lost.json: the stacks of 7 blocks are not in its traceTable' err
wants 'lost.json: 1 frames of stacks are not in its frameTable' err
wants '#01: \(a stack that the file does not hold\)' out
wants '#01: \(no stack trace recorded due to --stacks=partial\)' out
wants '^  Unreported: +57 bytes \(100.00%\) in +8 blocks \(100.00%\)' out

# ---- damage
head -c 60 named.json >cut.json
head -c 60 named.json.gz >cut.json.gz
sed 's/"version": 5/"version": 4/' named.json >old.json
sed 's/"req": 10/"req": 1e1/' named.json >number.json
refuses 1 'error: cut.json: JSON\+0x3c: .*ends' report cut.json
refuses 1 'error: cut.json.gz: gzip\+0x3c: .*ends' report cut.json.gz
refuses 1 'error: old.json: JSON\+0xc: .*version' report old.json
refuses 1 'error: number.json: JSON\+0x57: .*whole number' report number.json
refuses 1 'error: cut.json: JSON' diff named.json cut.json
refuses 1 'error: .*different modes' diff named.json lost.json
refuses 1 'error: cannot open absent.json: ' diff named.json absent.json
refuses 2 'LATER|operand|missing' diff named.json
refuses 2 'named.json is a DMD file' report --json named.json
echo something >plain
refuses 2 'to compare named.json and plain, use .windlass diff' report \
    named.json plain
# Two are what diff tells of them.
sed 's/"req": 10,/"req": 20,/' named.json >grown.json
"$windlass" report named.json grown.json >two || fail "report of two"
"$windlass" diff named.json grown.json >difference || fail "diff"
cmp -s named.json grown.json && fail "nothing has grown"
sed 's/^# windlass report/# windlass diff/' two | cmp -s - difference ||
    fail "report of two: $(diff two difference)"
refuses 2 'named.json is a DMD file' report --blocks peak named.json
refuses 2 'named.json is a DMD file' diff --process 7 named.json named.json
refuses 2 'one of usable.req.slop.num-blocks' report -s size named.json

# ---- a great many records
python3 - >many.json <<'P'
blocks = ",\n".join('{"req": %d, "alloc": "A%d"}' % (n % 977 + 1, n)
                    for n in range(100000))
traces = ",\n".join('"A%d": ["F%d", "Z"]' % (n, n) for n in range(100000))
frames = ",\n".join('"F%d": "#00: f%d (a.c:%d)"' % (n, n, n)
                    for n in range(100000))
print('{"version": 5, "invocation": {"dmdEnvVar": "1", "mode": "cumulative"},'
      '"blockList": [%s],"traceTable": {%s},"frameTable": {%s, "Z": "#00: z"}}'
      % (blocks, traces, frames))
P
gzip many.json
"$windlass" report many.json.gz >out
wants '^  1 block in heap block record 1,000 of 100,000$' out
wants '^# Cumulative: stopping after 1,000 heap block records$' out
"$windlass" report -n 2 many.json.gz >out
wants '^  1 block in heap block record 2 of 100,000$' out
wants '^# Cumulative: stopping after 2 heap block records$' out
"$windlass" report -f 1 --filter '!#00' --filter ' (a.c:4711)' many.json.gz >out
wants '^  1 block in heap block record 1 of 1$' out

exit $failed
