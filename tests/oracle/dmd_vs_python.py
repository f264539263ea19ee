#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dmd_vs_python.py WINDLASS: what windlass says of DMD files, against
what this script finds in them by itself: sums, percentages, order, sizes,
filters, differences.

The text is the layout of DMD's own tool (docs/formats/dmd.md). Where windlass
differs from that tool on purpose, this script expects what windlass does:

- Records of equal size: the tool leaves them in the order of the file, which
  two files of one program have not in common. Here the larger usable size, the
  larger requested size, the more blocks and then the frames' text decide.
- Filters: the tool looks at the frames that are shown of the allocating stack,
  and goes on to number the records as if all were there. Here all frames of
  all stacks are looked at, and records are numbered as shown.
- A list of more than 1,000 records: the tool leaves the 1,000th out.
- Allocation functions: the tool takes every frame whose text has "malloc" in
  it, "???" too, for one, and may leave nothing of a stack. Here a name must be
  that of an allocation function, and a stack of nothing else stays whole.
"""
import gzip
import os
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "fixtures", "dmd"))
import make_dmd  # noqa: E402

ALLOC = ("replace_malloc(", "operator new(")
RULE = "#" + "-" * 65
UNKNOWN = "(no stack trace recorded due to --stacks=partial)"
KINDS = {
    "live": ["live"],
    "scan": ["live"],
    "cumulative": ["cumulative"],
    "dark-matter": ["twice-reported", "unreported", "once-reported"],
}


class Options:
    def __init__(self, frames=8, sort="usable", alloc=False, filters=()):
        self.frames, self.sort = frames, sort
        self.alloc, self.filters = alloc, filters

    def arguments(self):
        out = []
        if self.frames != 8:
            out += ["--max-frames", str(self.frames)]
        if self.sort != "usable":
            out += ["--sort-by", self.sort]
        if self.alloc:
            out += ["--ignore-alloc-fns"]
        out += ["--no-fix-stacks"]
        for text in self.filters:
            out += ["--filter", text]
        return out


def stack_texts(dmd, trace):
    if trace is None:
        return [UNKNOWN]
    return [dmd["frameTable"][f][5:] for f in dmd["traceTable"][trace]]


def shown(stack, o):
    at = 0
    if o.alloc:
        while at < len(stack) and stack[at].startswith(ALLOC):
            at += 1
        at = 0 if at == len(stack) else at
    return tuple(stack[at : at + o.frames])


def passes(stacks, filters):
    frames = [f for s in stacks for f in s]
    for text in filters:
        negated = text.startswith("!")
        text = text[1:] if text[0] in "!\\" else text
        if any(text in f for f in frames) == negated:
            return False
    return True


def add(records, dmd, sign, o):
    """records: (kind, stacks) -> [blocks, req, slop, {size: blocks}]."""
    mode = dmd["invocation"]["mode"]
    total = [0, 0]
    for b in dmd["blockList"]:
        num = sign * b.get("num", 1)
        usable = b["req"] + b.get("slop", 0)
        total[0] += num
        total[1] += num * usable
        reps = b.get("reps", [])
        stacks = [stack_texts(dmd, t) for t in [b.get("alloc")] + reps]
        if not passes(stacks, o.filters):
            continue
        kind = KINDS[mode][0]
        if mode == "dark-matter":
            kind = ["unreported", "once-reported", "twice-reported"][len(reps)]
        key = (kind, tuple(shown(s, o) for s in stacks))
        r = records.setdefault(key, [0, 0, 0, {}])
        r[0] += num
        r[1] += num * b["req"]
        r[2] += num * b.get("slop", 0)
        r[3][usable] = r[3].get(usable, 0) + num
    return total


def order(o):
    by = {
        "usable": lambda r: r[1] + r[2],
        "req": lambda r: r[1],
        "slop": lambda r: r[2],
        "num-blocks": lambda r: r[0],
    }[o.sort]

    def key(item):
        (_, stacks), r = item
        text = tuple(tuple(f.encode() for f in s) for s in stacks)
        return (-abs(by(r)), -abs(r[1] + r[2]), -abs(r[1]), -abs(r[0]), text)

    return key


def percent(part, whole):
    return "%4.2f%%" % (100 * part / whole if whole else 0)


def sizes_line(sizes):
    sizes = [(s, n) for s, n in sorted(sizes.items(), reverse=True) if n]
    if len(sizes) == 1 and abs(sizes[0][1]) == 1:
        return []
    texts = [
        ("-" if n < 0 else "")
        + "{:,}".format(s)
        + (" x {:,}".format(abs(n)) if abs(n) > 1 else "")
        for s, n in sizes
    ]
    text = "; ".join(texts) or "(no change)"
    return ["  Individual block sizes: " + text]


def record_lines(kind, i, count, item, sums, heap):
    (_, stacks), (blocks, req, slop, sizes) = item
    usable = req + slop
    sums["so far"] += usable
    out = [kind.capitalize() + " {"]
    out.append(
        "  {:,} block{} in heap block record {:,} of {:,}".format(
            blocks, "" if blocks == 1 else "s", i, count
        )
    )
    out.append(
        "  {:,} bytes ({:,} requested / {:,} slop)".format(usable, req, slop)
    )
    out += sizes_line(sizes)
    out.append(
        "  %s of the heap (%s cumulative)"
        % (percent(usable, heap), percent(sums["so far"], heap))
    )
    if kind not in ("live", "cumulative"):
        out.append(
            "  %s of %s (%s cumulative)"
            % (
                percent(usable, sums["bytes"]),
                kind,
                percent(sums["so far"], sums["bytes"]),
            )
        )
    titles = ("Allocated at", "Reported at", "Reported again at")
    for title, stack in zip(titles, stacks):
        out.append("  %s {" % title)
        out += ["    #%02d: %s" % (n, f) for n, f in enumerate(stack, 1)]
        out.append("  }")
    return out + ["}", ""]


def kind_lines(kind, records, heap, o):
    items = [i for i in records.items() if i[0][0] == kind]
    items = [i for i in items if any(i[1][:3]) or any(i[1][3].values())]
    items.sort(key=order(o))
    sums = {
        "so far": 0,
        "bytes": sum(r[1] + r[2] for _, r in items),
        "blocks": sum(r[0] for _, r in items),
    }
    out = [RULE, ""]
    if not items:
        out += ["# no %s heap blocks" % kind, ""]
    for i, item in enumerate(items, 1):
        if i == 1001:
            stop = "# %s: stopping after 1,000 heap block records"
            out += [stop % kind.capitalize(), ""]
            break
        out += record_lines(kind, i, len(items), item, sums, heap)
    return out, sums


def summary_lines(mode, sums, heap_blocks, heap):
    if mode != "dark-matter":
        s = sums[KINDS[mode][0]]
        text = "  Total: {:,} bytes in {:,} blocks"
        return [text.format(s["bytes"], s["blocks"])]
    line = "  {:15} {:>12,} bytes ({:6.2f}%) in {:>7,} blocks ({:6.2f}%)"
    out = [line.format("Total:", heap, 100, heap_blocks, 100)]
    for kind in ("unreported", "once-reported", "twice-reported"):
        s = sums[kind]
        out.append(
            line.format(
                kind.capitalize() + ":",
                s["bytes"],
                100 * s["bytes"] / heap if heap else 0,
                s["blocks"],
                100 * s["blocks"] / heap_blocks if heap_blocks else 0,
            )
        )
    return out


def expected(command, dmds, names, o):
    mode = dmds[0]["invocation"]["mode"]
    words = ["windlass", command] + [
        "'%s'" % w if set(w) & set("!\\ ()<") else w for w in o.arguments()
    ]
    out = [RULE, "# " + " ".join(words + names), ""]
    for i, dmd in enumerate(dmds, 1):
        env = dmd["invocation"]["dmdEnvVar"]
        out.append("Invocation%s {" % (" %d" % i if len(dmds) > 1 else ""))
        out.append("  $DMD " + ("is undefined" if env is None
                                else "= '%s'" % env))
        shown_mode = "live" if mode == "scan" else mode
        out += ["  Mode = '%s'" % shown_mode, "}", ""]
    records, blocks, heap = {}, 0, 0
    signs = [1] if len(dmds) == 1 else [-1, 1]
    for sign, dmd in zip(signs, dmds):
        n, b = add(records, dmd, sign, o)
        blocks, heap = blocks + n, heap + b
    sums = {}
    for kind in KINDS[mode]:
        lines, sums[kind] = kind_lines(kind, records, heap, o)
        out += lines
    out += [RULE, "", "Summary {"]
    out += summary_lines(mode, sums, blocks, heap)
    return "\n".join(out + ["}", "", ""])


def check(windlass, command, dmds, names, o):
    run = [windlass, command] + o.arguments() + names
    got = subprocess.run(run, capture_output=True, check=False)
    want = expected(command, dmds, [os.path.basename(n) for n in names], o)
    if got.returncode == 0 and got.stdout.decode() == want and not got.stderr:
        return True
    for a, b in zip(got.stdout.decode().split("\n"), want.split("\n")):
        if a != b:
            print("got:    %s\nwanted: %s" % (a, b))
            break
    print("dmd_vs_python: %s: status %d, %s"
          % (" ".join(run), got.returncode, got.stderr.decode()))
    return False


def write(work, name, dmd):
    data = make_dmd.text_of(dmd).encode()
    path = os.path.join(work, name)
    opener = gzip.open if name.endswith(".gz") else open
    with opener(path, "wb") as file:
        file.write(data)
    return path


def check_many(windlass, work):
    """More records than are shown."""
    many = make_dmd.make("live", 2, 300)
    many["traceTable"] = {}
    many["frameTable"] = {}
    many["blockList"] = [
        {"req": n, "alloc": "T%d" % n} for n in range(1, 1500)
    ]
    for n in range(1, 1500):
        many["traceTable"]["T%d" % n] = ["F%d" % n]
        many["frameTable"]["F%d" % n] = "#00: f%d" % n
    path = write(work, "many.json.gz", many)
    return check(windlass, "report", [many], [path], Options())


def main(windlass, work):
    all_options = [
        Options(),
        Options(frames=1),
        Options(frames=24, sort="req"),
        Options(frames=3, sort="slop", alloc=True),
        Options(sort="num-blocks", filters=["method", "!function_1"]),
        Options(filters=["nothing has this"]),
        Options(filters=["\\ü"]),
    ]
    good = check_many(windlass, work)
    for mode in ("live", "dark-matter", "cumulative", "scan"):
        first = make_dmd.make(mode, 1, 300)
        # The same tables under other numbers, and some of the same blocks.
        second = make_dmd.make(mode, 1, 260)
        second["blockList"] += first["blockList"][:150]
        a = write(work, mode + "_1.json", first)
        b = write(work, mode + "_2.json.gz", second)
        for o in all_options:
            good &= check(windlass, "report", [first], [a], o)
            good &= check(windlass, "report", [second], [b], o)
            good &= check(windlass, "diff", [first, second], [a, b], o)
            good &= check(windlass, "diff", [first, first], [a, a], o)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], os.getcwd()))
