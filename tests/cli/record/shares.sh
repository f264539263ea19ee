#!/bin/sh
# Where the time goes is what the program itself measured: within 2 percentage
# points, for the CPU and for blocked time, with each engine. Each comparison has
# one try.
#
# Its error. CPU: a switch of functions in a thread moves at most the time
# between two samples, 1 ms, to the wrong one: 16 switches in 2400 ms are 0.7 %.
# A tick that comes late, since the machine is busy, moves as much more as it is
# late. Blocked: threads are looked at every 10 ms, and what is in doubt is split
# in halves. 8 naps that are each wrong by up to 10 ms, the same way, are 2.2 %
# of 3600 ms; if each error is anything up to 10 ms, the sum of all exceeds 2 %
# in 1 of 240,000 runs (0.8^8 / 8!).
# A recorder that gets no CPU cannot see where threads are blocked, so it has a
# higher priority where that is allowed.
. "$(dirname "$0")/../lib/record_lib.sh"
need python3

# compare KIND [SLACK]: r.wndl's report of that time with what ./told tells.
cat >compare.py <<'END'
import json
import sys

kind, told = sys.argv[1], {}
for line in open("told"):
    what, function, thread, ns = line.split()
    if what == kind:
        told[function] = (int(ns), thread)
report = json.load(open("report.json"))
found = {row["function"]: row["total_ns"]
         for row in report["rows"] if row.get("function") in told}
threads = {}
for row in report["threads"]:
    threads[row["name"]] = threads.get(row["name"], 0) + row["total_ns"]
all_told = sum(ns for ns, _ in told.values())
all_found = sum(found.values())
bad = 0
for function, (ns, thread) in told.items():
    share = 100 * ns / all_told
    have = 100 * found.get(function, 0) / max(all_found, 1)
    off = 100 * (found.get(function, 0) - ns) / all_told
    print(f"{kind} {function}: {share:.2f} % of what was used,"
          f" {have:.2f} % reported, off by {off:.2f} % of all")
    bad += abs(share - have) > 2 or abs(off) > 2
if kind == "cpu":
    for name in {thread for _, thread in told.values()}:
        ns = sum(n for n, t in told.values() if t == name)
        off = 100 * (threads.get(name, 0) - ns) / all_told
        print(f"cpu of {name}: off by {off:.2f} % of all")
        bad += abs(off) > 2
sys.exit(bad != 0)
END

compare() {
    "$windlass" report --json --time "$1" r.wndl >report.json
    python3 compare.py "$1"
}

if chrt -R -f 1 true 2>/dev/null; then
    record_as="chrt -R -f 1"
fi

# try ENGINE
try() {
    record 0 --engine "$1" -- "$fixtures/shares" 2400 >told
    compare blocked || return
    # From outside nobody sees what runs.
    [ "$1" = outside ] || compare cpu
}

for engine in $(engines); do
    try "$engine" >compared ||
        fail "$engine: the shares are wrong: $(cat compared)"
done

# The same in all that is made of a recording, and with recursion.
here=$sources/../../cli
PYTHONDONTWRITEBYTECODE=1
PYTHONPATH=$here/lib:$here/../oracle
export PYTHONDONTWRITEBYTECODE PYTHONPATH
record 0 --no-off-cpu -- "$fixtures/calls" 2400 >told
python3 "$here/record/shares_views.py" "$windlass" >compared 2>&1 ||
    fail "shares of calls, status $?: $(cat compared)"

# Reads, as a user to whom the kernel may be closed.
as_user=
if [ "$(id -u)" -eq 0 ]; then
    have setpriv || exit 0
    as_user="setpriv --reuid=1000 --regid=1000 --clear-groups"
    chmod 777 "$work"
fi
windlass_alone=$windlass
cat >windlass <<END
#!/bin/sh
exec $as_user "$windlass_alone" "\$@"
END
chmod +x windlass
windlass=$work/windlass

cat >reads.py <<'END'
import json

used = int(open("told").read().split()[3])
report = json.load(open("report.json"))
reported = sum(row["self_ns"] for row in report["rows"])
reads = sum(row["self_ns"] for row in report["rows"]
            if "read" in row.get("function", ""))
print(f"{used} ns used, {reported} reported, {reads} of them in reads")
raise SystemExit(not (0.95 < reported / used < 1.05
                      and reads > 0.9 * reported))
END
for engine in $(engines); do
    [ "$engine" != outside ] || continue
    record 0 --engine "$engine" -- "$fixtures/shares" 600 read >told
    "$windlass_alone" report --json --time cpu r.wndl >report.json
    python3 reads.py >compared ||
        fail "$engine: reads are not where they are: $(cat compared)"
done
