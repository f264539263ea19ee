#!/bin/sh
# page.sh WINDLASS MAKE_RECORDING: the command around the page: what it writes
# and where, and what it says when it cannot.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
make_recording=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset WINDLASS_OPTIONS DISPLAY WAYLAND_DISPLAY || true

fail() {
    echo "view: $*"
    exit 1
}

# says STATUS TEXT ARGUMENT...: how it ends, and with which words.
says() {
    wanted=$1 text=$2 status=0
    shift 2
    "$windlass" view "$@" >out 2>err </dev/null || status=$?
    [ $status -eq "$wanted" ] || fail "$*: status $status, not $wanted"
    grep -qF -- "$text" err || fail "$*: says $(cat err), not $text"
}

"$make_recording" a.wndl <"$here/../report/golden/two_processes.recipe"
"$make_recording" b.wndl <"$here/../report/golden/blocked.recipe"
case $("$windlass" --version) in
*"viewer: no ("*)
    says 1 "built without the viewer" -o out.html a.wndl
    [ ! -e out.html ] || fail "wrote a page without a viewer"
    exit 0
    ;;
*"viewer: yes"*) ;;
*) fail "--version does not tell of the viewer" ;;
esac

says 0 "wrote out.html" -o out.html a.wndl
[ ! -s out ] || fail "-o FILE writes to standard output"
grep -q 'id="windlass-data"' out.html
"$windlass" view -o - a.wndl | cmp - out.html
if grep -q '<!--windlass-data-->' out.html; then
    fail "the marker is left"
fi
says 0 "wrote two.html" -o two.html a.wndl b.wndl
grep -q '"title":"b.wndl against a.wndl"' two.html
size=$(wc -c <a.wndl)
head -c $((size - 1)) a.wndl >cut.wndl
says 0 "See: windlass report cut.wndl" -o cut.html cut.wndl
if "$windlass" view -o whole.html a.wndl 2>&1 | grep 'cut short'; then
    fail "a whole recording is told to be cut"
fi
"$make_recording" h.wndl <"$here/../report/heap_golden/two_processes.recipe"
for pair in "a.wndl h.wndl" "h.wndl a.wndl"; do
    says 1 "the recording holds no heap" -o mixed.html $pair
    cp err view.err
    if "$windlass" diff $pair >out 2>err; then fail "diff of $pair"; fi
    cmp err view.err
done
[ ! -e mixed.html ] || fail "a page of what cannot be compared"
says 0 "wrote hh.html" -o hh.html h.wndl h.wndl
if have python3; then
    python3 "$here/../lib/view_page.py" out.html >dump
    grep -q '^samples.node u32 pl \[[0-9, ]*\]$' dump
    python3 "$here/../lib/view_page.py" two.html >dump
    "$windlass" view -o h.html h.wndl 2>err
    python3 "$here/../lib/view_page.py" h.html >dump
    grep '^recordings' dump | grep -q '"summary": \["Command .*"Peak '
    if grep '^recordings' dump | grep -q '"Samples'; then
        fail "tells of samples where there are none"
    fi
    # What memory reporters do not know, and what they report twice.
    "$make_recording" dark.wndl <"$here/../report/heap_golden/dark.recipe"
    "$windlass" view -o dark.html dark.wndl 2>err
    PYTHONPATH=$here/../lib PYTHONDONTWRITEBYTECODE=1 python3 - <<'END'
import view_page
page = view_page.Page(open("dark.html", encoding="utf-8").read())
sums = {f"{of}.{name}": sum(page[f"heap0.{of}.{name}"])
        for of in ("stacks", "sizes")
        for name in ("bytes_unreported", "blocks_twice", "bytes_twice")}
dark, twice = 20 * 112 + 9 * 5008, 20 * 112 + 40 * 40
assert list(sums.values()) == 2 * [dark, 60, twice], sums
END
    ! grep -q '_unreported"' h.html || fail "unreported, and nobody reports"
    # What lived at each snapshot, also of stacks of which nothing is left.
    sed 's/^ *//' >lived.recipe <<'END'
        meta 1000000 2 0 box / app
        process 0 100 /bin/app app
        image /bin/app a1b2
        heap 0 0 0
        site 0 0 100 12 0:10 0:20
        site 0 0 5000 8 0:10 0:30
        snapshot 0 3 - 3 0 0 0 0
        counts 0 0 3 0 1 0 0 1 2 0 1 0 0
        snapshot 0 3 two 6 1 0 0 0
        counts 0 0 6 1 2 0 0
        done 0 0
END
    "$make_recording" lived.wndl <lived.recipe
    "$windlass" view -o lived.html lived.wndl 2>err
    PYTHONPATH=$here/../lib PYTHONDONTWRITEBYTECODE=1 python3 - <<'END'
import view_page
page = view_page.Page(open("lived.html", encoding="utf-8").read())
snapshots = page.head["heaps"][0]["snapshots"]
assert [s["number"] for s in snapshots] == [1, 2], snapshots
lived = list(zip(*(page["heap0.lived." + name]
                   for name in ("snapshot", "stack", "blocks", "bytes"))))
assert lived == [(1, 0, 3, 336), (1, 1, 2, 10016), (2, 0, 5, 560)], lived
assert list(page["heap0.stacks.bytes_live"]) == [560, 0]
END
    # A series of memory reports, the last of which is cut.
    cat >series.json <<'END'
{"version":1,"hasMozMallocUsableSize":true,"time":1000,"reports":[
{"process":"a","path":"explicit/x/y","kind":1,"units":0,"amount":10},
{"process":"a","path":"heap-allocated","kind":2,"units":0,"amount":8},
{"process":"b","path":"explicit/x","kind":0,"units":0,"amount":5}]}
{"version":1,"time":2000,"reports":[
{"process":"a","path":"explicit/x/z","kind":1,"units":0,"amount":7}]}
{"version":1,"reports":[{"path":
END
    says 0 "the reports before are shown" -o memory.html series.json
    PYTHONPATH=$here/../lib PYTHONDONTWRITEBYTECODE=1 python3 - <<'END'
import view_page
page = view_page.Page(open("memory.html", encoding="utf-8").read())
memory = page.head["memory"]
assert [r["time_ms"] for r in memory["reports"]] == [1000, 2000], memory
ends, text = page["strings.ends"], bytes(page["strings.bytes"]).decode()
strings = [text[a:b] for a, b in zip([0, *ends], ends)]
parents, names = page["memory.parent"], page["memory.name"]
def path(n):
    above = path(parents[n] - 1) + "/" if parents[n] else ""
    return above + strings[names[n]]
processes = ["all", *memory["processes"]]
found = {(report, processes[page["memory.process"][part]], path(part)):
         size * (-1 if how & 1 else 1)
         for report, part, size, how in zip(*(page["memory.values." + name]
             for name in ("report", "part", "size", "how")))}
assert found[0, "a", "explicit/x/y"] == 10, found
assert found[0, "a", "explicit/heap-unclassified"] == -2, found
assert found[0, "all", "explicit/x"] == 15, found
assert found[0, "b", "explicit"] == 5, found
assert found[1, "a", "explicit/x/z"] == 7, found
assert (1, "a", "explicit/x/y") not in found, found
END
    python3 "$here/serve.py" out.html "$windlass" view a.wndl 2>err
    grep -q 'until Ctrl-C' err
fi
says 1 "cannot write a.wndl: it is a recording" -o a.wndl b.wndl
says 1 "none.wndl" -o none.html none.wndl
[ ! -e none.html ] || fail "a page of nothing"
says 1 "cannot write none/none.html: No such" -o none/none.html a.wndl
if [ -c /dev/full ]; then
    says 1 "cannot write /dev/full: No space" -o /dev/full a.wndl
fi
says 2 "view takes two recordings at most" -o out.html a.wndl a.wndl a.wndl
says 2 "--port takes at most 65535" --port 65536 a.wndl
says 2 "use either --port or -o" --port 8080 -o out.html a.wndl

# Sources are in the page if they are what the program was made of.
command -v gcc >/dev/null && command -v python3 >/dev/null ||
    skip "no gcc, no python3"
cat >kept.c <<END
#include <stdlib.h>
void *volatile kept; /* </script><!-- */
static __attribute__((noinline)) void keep(int size) { kept = malloc(size); }
int main(void)
{
    keep(1000);
#line 1 "$work/secret.key"
    kept = malloc(10);
#line 1 "$work/notes.c"
    kept = malloc(20);
    return 0;
}
END
echo key >secret.key
printf 'no\000text' >notes.c
gcc -g -O1 -o kept "$work/kept.c"
"$windlass" heap -q -o kept.wndl -- ./kept
sources() {
    "$windlass" view -o kept.html kept.wndl 2>err
    PYTHONPATH=$here/../lib PYTHONDONTWRITEBYTECODE=1 python3 - "$work/" "$@" <<'END'
import sys
import view_page
page = view_page.Page(open("kept.html", encoding="utf-8").read())
found = {page.strings[s["file"]]: page.strings[s["text"]]
         for s in page.head["sources"]}
ours = sorted(f for f in found if f.startswith(sys.argv[1]))
assert ours == [sys.argv[1] + name for name in sys.argv[2:]], ours
for file in ours:
    assert found[file] == open(file, encoding="utf-8").read()
leaks = [f for h in page.head["heaps"] for f in h["findings"]
         if f["kind"] == "leaks_definite"]
assert sum(f["blocks"] for f in leaks) == 2, leaks
assert page.stack(max(leaks, key=lambda f: f["bytes"])["node"])[-2:] == [
    "main", "keep"], leaks
END
}
sources kept.c
touch -d '1 hour' kept.c
sources

# A map names the file that is meant, also if it is newer; or none are wanted.
mkdir -p moved
mv kept.c moved/kept.c
"$windlass" view --source-map "$work=$work/moved" -o mapped.html kept.wndl 2>err
"$windlass" view --no-sources -o bare.html kept.wndl 2>err
PYTHONPATH=$here/../lib PYTHONDONTWRITEBYTECODE=1 python3 - "$work/kept.c" <<'END'
import sys
import view_page
read = lambda name: view_page.Page(open(name, encoding="utf-8").read())
page = read("mapped.html")
found = {page.strings[s["file"]]: page.strings[s["text"]]
         for s in page.head["sources"]}
assert found[sys.argv[1]] == open("moved/kept.c", encoding="utf-8").read()
assert read("bare.html").head["sources"] == []
END
says 2 "--source-map nowhere: write FROM=TO" --source-map nowhere kept.wndl
says 2 "use either --source-map or --no-sources" --no-sources \
    --source-map a=b kept.wndl

# The instructions of what uses the CPU, with their time.
[ "$(uname -m)" = x86_64 ] || exit 0
cat >hot.c <<'END'
static volatile long sum;
static __attribute__((noinline)) void turn(void)
{
    for (long i = 0; i < 200000000; i++)
        sum += i;
}
int main(void)
{
    turn();
    return 0;
}
END
gcc -g -O1 -o hot hot.c
"$windlass" record -q -o hot.wndl -- ./hot
"$windlass" view -o hot.html hot.wndl 2>err
PYTHONPATH=$here/../lib PYTHONDONTWRITEBYTECODE=1 python3 - <<'END'
import view_page
page = view_page.Page(open("hot.html", encoding="utf-8").read())
name = lambda f: page.strings[page["functions.name"][f]]
texts = {name(c["function"]): page.strings[c["text"]]
         for c in page.head["code"]}
rows = [line.split("\t") for line in texts["turn"].splitlines()]
addresses = [int(row[0], 16) for row in rows]
assert addresses == sorted(set(addresses)), addresses
assert rows[-1][4].startswith("ret"), rows[-1]
spent = sum(int(row[1]) for row in rows)
cpu = 1000 * sum(
    cpu for node, cpu in zip(page["samples.node"], page["samples.cpu"])
    if page.name(node) == "turn")
assert 0.999 * cpu < spent < 1.001 * cpu, (spent, cpu)
in_loop = sum(int(row[1]) for row in rows if row[2] in ("4", "5"))
assert in_loop > 0.9 * spent, rows
END
