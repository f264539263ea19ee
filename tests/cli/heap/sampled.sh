#!/bin/sh
# sampled.sh WINDLASS RECDUMP FIXTURES HEAPDUMP RUNS: with
# --stacks partial, small blocks are taken by chance. Over many runs, each with
# numbers of its own, the estimates are right on average, and off by about as
# much as the report says.
. "$(dirname "$0")/../lib/record_lib.sh"
runs=$5
need python3

cat >judge.py <<'PY'
import json, math, sys

BELOW = 4096
TRUE = {100: 3000, 1013: 800, 3001: 400, 4096: 30, 9000: 7}
runs = []
for name in sys.argv[1:]:
    with open(name) as file:
        records = json.load(file)["records"]
    # All of one call: one record with its sizes.
    runs.append(next(r for r in records if r["stack"][0].startswith("keep ")))


def blocks_of(record, size):
    larger = [s for s in TRUE if s > size] + [1 << 60]
    return sum(n for usable, n in record["sizes"]
               if size <= usable < min(larger))


def judge(what, got, true, spread):
    """One correct set of runs in 100,000 is further off than this."""
    mean = sum(got) / len(got)
    if abs(mean - true) > 4.5 * spread / math.sqrt(len(got)) + 0.5:
        sys.exit(f"{what}: {mean} on average, not {true}")
    if spread > 0 and len(set(got)) < 3:
        sys.exit(f"{what}: the same blocks are taken each time")
    if spread == 0 and set(got) != {true}:
        sys.exit(f"{what}: {got[:5]} instead of {true} each time")


def variance(size):
    p = min(1, size / BELOW)
    return TRUE[size] * (1 - p) / p


for size, count in TRUE.items():
    judge(f"{size} bytes", [blocks_of(r, size) for r in runs], count,
          math.sqrt(variance(size)))
for field, weight in (("blocks", lambda size: 1),
                      ("requested", lambda size: size)):
    true = sum(n * weight(size) for size, n in TRUE.items())
    spread = math.sqrt(sum(variance(s) * weight(s) ** 2 for s in TRUE))
    judge(field, [r[field] for r in runs], true, spread)

# Of a right error 68 % are within; 5 standard deviations of that share.
true = sum(TRUE.values())
within = sum(abs(r["blocks"] - true) <= r["blocks_error"] + 0.5 for r in runs)
share = within / len(runs)
if abs(share - 0.68) > 5 * math.sqrt(0.68 * 0.32 / len(runs)):
    sys.exit(f"{100 * share:.0f} % of the estimates within their stated error")
PY

for run in $(seq "$runs"); do
    rm -f r.wndl
    "$windlass" heap -q --stacks partial -o r.wndl -- "$fixtures/heaps" \
        keep 3000 100 keep 800 1013 keep 400 3001 keep 30 4096 keep 7 9000 ||
        fail "it does not run"
    "$windlass" report --json r.wndl >"$run.json" || fail "no report"
done
python3 judge.py ./*.json || fail "the estimates are wrong"
