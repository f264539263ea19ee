# SPDX-License-Identifier: MIT
"""heap_vs_python.py RECORDING BLOCKS FRAMES [FILTER] <REPORT: what `windlass
report --json --blocks BLOCKS -f FRAMES` says of a recording none of whose
binaries exist, against the same worked out here. Written from
docs/formats/wndl.md, docs/formats/heap-json.md and docs/heap-report.md alone."""
import collections
import json
import math
import sys

from wndl_vs_python import chunks


class Heap:
    def __init__(self, process, cumulative, below):
        self.process, self.cumulative, self.below = process, cumulative, below
        self.pairs, self.counts, self.leaks = [], {}, []
        self.growths, self.wrongs, self.mixed = [], [], []

    def weight(self, pair):
        size = max(1, self.pairs[pair][2])
        return 1 if size >= self.below else self.below / size


class Recording:
    def __init__(self, data):
        self.images, self.heaps = {}, {}
        self.nodes = collections.defaultdict(dict)
        for kind, payload in chunks(data):
            read = getattr(self, "read_" + kind.decode(), None)
            if read is not None:
                read(payload)

    def read_IMAG(self, p):
        image = p.uleb()
        self.images[image] = p.text().decode()

    def read_STAK(self, p):
        process, first, count = p.uleb(), p.uleb(), p.uleb()
        address = 0
        for own in range(first, first + count):
            parent, flags, image = own - p.uleb(), p.uleb(), p.uleb()
            address += p.sleb()
            at = address if flags & 1 or address == 0 else address - 1
            path = self.images[image - 1] if image else "[no file]"
            self.nodes[process][own] = parent, "??? (%s + 0x%x)" % (path, at)

    def read_HEAP(self, p):
        process, flags, below = p.uleb(), p.uleb(), p.uleb()
        self.heaps[process] = Heap(process, flags & 1, below)

    def rows(self, p, width):
        return [[p.uleb() for _ in range(width)] for _ in range(p.uleb())]

    def pair_rows(self, p, width):
        pair = 0
        for row in self.rows(p, width):
            pair += row[0]
            yield [pair] + row[1:]

    def read_HPAR(self, p):
        heap, first = self.heaps[p.uleb()], p.uleb()
        assert first == len(heap.pairs)
        heap.pairs += self.rows(p, 4)

    def read_HSNP(self, p):
        self.heaps[p.uleb()].counts = {}

    def read_HCNT(self, p):
        heap = self.heaps[p.uleb()]
        p.uleb()
        for row in self.pair_rows(p, 6):
            heap.counts[row[0]] = row[1:]

    def read_HLEK(self, p):
        self.heaps[p.uleb()].leaks += self.pair_rows(p, 4)

    def read_HGRO(self, p):
        self.heaps[p.uleb()].growths += self.rows(p, 9)

    def read_HMIX(self, p):
        self.heaps[p.uleb()].mixed += self.rows(p, 6)

    def read_HWRO(self, p):
        self.heaps[p.uleb()].wrongs += self.rows(p, 4)

    def stack(self, heap, node, end):
        if node == 0:
            return ("(no stack)",)
        frames = []
        while node != 0:
            node, text = self.nodes[heap.process][node]
            frames.append(text)
        if end not in (0, 7):
            frames.append("(truncated)" if end == 1 else "(lost)")
        return tuple(frames)


def wanted(stack, text):
    if text.startswith("!"):
        return not any(text[1:] in frame for frame in stack)
    return any(text in frame for frame in stack)


class Sum:
    def __init__(self):
        self.blocks = self.requested = self.slop = self.variance = 0
        self.bytes_variance = self.freed = self.temporary = self.life = 0
        self.sizes = collections.Counter()

    def add(self, pair, count, weight, freed=0, temporary=0, life=0):
        requested, slop = pair[2:]
        self.blocks += count * weight
        self.requested += count * weight * requested
        self.slop += count * weight * slop
        variance = count * weight * (weight - 1)
        self.variance += variance
        self.bytes_variance += variance * (requested + slop) ** 2
        self.freed += freed * weight
        self.temporary += temporary * weight
        self.life += life * weight
        self.sizes[requested + slop] += count * weight

    def figures(self):
        return [self.blocks, self.requested + self.slop, self.requested,
                self.slop, math.sqrt(self.variance),
                math.sqrt(self.bytes_variance)]

    def gone(self):
        return [self.freed, self.temporary,
                self.life / self.freed if self.freed else 0]


def count_of(which, counts):
    allocs, frees, at_peak = counts[:3]
    return {"live": allocs - frees, "peak": at_peak, "all": allocs}[which]


def records(recording, which, frames, text):
    sums = collections.defaultdict(Sum)
    for heap in recording.heaps.values():
        for pair, counts in heap.counts.items():
            of = heap.pairs[pair]
            stack = recording.stack(heap, of[0], of[1])
            count = count_of(which, counts)
            if count == 0 or not wanted(stack, text):
                continue
            more = counts[1], counts[3], counts[4]
            sums[stack[:frames]].add(of, count, heap.weight(pair), *more)
    return sums


def leaks(recording, column, frames, text):
    sums = collections.defaultdict(Sum)
    for heap in recording.heaps.values():
        for row in heap.leaks:
            of = heap.pairs[row[0]]
            stack = recording.stack(heap, of[0], of[1])
            if row[column] and wanted(stack, text):
                sums[stack[:frames]].add(of, row[column], heap.weight(row[0]))
    return sums


def growths(recording, frames, text):
    sums = {}
    for heap in recording.heaps.values():
        for node, how, *numbers in heap.growths:
            stack = recording.stack(heap, node, 0)
            if not wanted(stack, text):
                continue
            key = (how, stack[:frames])
            old = sums.get(key, [0] * 5 + [numbers[5], 0])
            sums[key] = [a + b for a, b in zip(old[:5], numbers[:5])] + [
                min(old[5], numbers[5]), max(old[6], numbers[6])]
    # chains, steps, allocated, final, doubling, least, most
    return {k: v for k, v in sums.items() if v[1] >= 8 and v[2] >= 2 * v[4]}


def wrongs(recording, frames, text):
    sums = collections.Counter()
    for heap in recording.heaps.values():
        for node, kind, count, _ in heap.wrongs:
            stack = recording.stack(heap, node, 0)
            if wanted(stack, text):
                sums[kind, stack[:frames], (), ()] += count
        for node, taken_at, taken_by, freed_by, count, _ in heap.mixed:
            stack = recording.stack(heap, node, 0)
            taken = recording.stack(heap, taken_at, 0)
            whose = (taken_by, freed_by)
            if taken_at == 0:
                taken = whose = ()
            if wanted(stack + taken, text):
                if whose:
                    whose += module_of(taken, taken_by == 4), module_of(stack)
                sums[3, stack[:frames], taken[:frames], whose] += count
    return sums


def module_of(stack, is_operator=False):
    """That of the first frame; an operator's caller is in another one."""
    modules = [frame[frame.index("(") + 1:].rsplit(" + ", 1)[0]
               for frame in stack if " + " in frame] or ["[no file]"]
    others = [module for module in modules if module != modules[0]]
    return others[0] if is_operator and others else modules[0]


WHOSE = ["unknown", "malloc", "pool", "libc", "c++"]


def key_of_wrong(row):
    kinds = {"never-allocated": 1, "freed-before": 2, "other-allocator": 3}
    whose = ()
    if "taken" in row:
        whose = (WHOSE.index(row["taken_by"]), WHOSE.index(row["freed_by"]),
                 row["taken_in"], row["freed_in"])
    return (kinds[row["kind"]], tuple(row["stack"]),
            tuple(row.get("taken", ())), whose)


def close(a, b, what):
    assert len(a) == len(b), what
    for x, y in zip(a, b):
        assert abs(x - y) <= 1 + 1e-9 * abs(x), (what, a, b)


def told(row):
    return [row[k] for k in ("blocks", "usable", "requested", "slop")] + [
        row.get("blocks_error", 0), row.get("usable_error", 0)]


def check_rows(sums, rows, which):
    assert len(rows) == len(sums), (len(rows), len(sums))
    assert len({tuple(row["stack"]) for row in rows}) == len(rows)
    for row in rows:
        mine = sums[tuple(row["stack"])]
        close(mine.figures(), told(row), row["stack"])
        if which == "all":
            close(mine.gone(), [row["freed"], row["temporary"],
                                row["mean_lifetime_ns"]], row["stack"])
        if "sizes" in row:
            sizes = sorted(mine.sizes.items(), reverse=True)
            close([n for s in sizes for n in s],
                  [n for s in row["sizes"] for n in s], row["stack"])


def main():
    which, frames = sys.argv[2], int(sys.argv[3])
    text = sys.argv[4] if len(sys.argv) > 4 else ""
    recording = Recording(open(sys.argv[1], "rb").read())
    report = json.load(sys.stdin)
    check_rows(records(recording, which, frames, text), report["records"],
               which)
    sizes = [abs(row["usable"]) for row in report["records"]]
    assert sizes == sorted(sizes, reverse=True)
    found = report["findings"]
    for column, kind in enumerate(("definite", "indirect", "possible"), 1):
        check_rows(leaks(recording, column, frames, text),
                   found["leaks_" + kind]["rows"], "")
    names = ["chains", "steps", "allocated", "final", "doubling",
             "least_step", "most_step"]
    mine = growths(recording, frames, text)
    theirs = {(row["how"] == "copy", tuple(row["stack"])):
              [row[name] for name in names]
              for row in found["buffers_that_grow"]["rows"]}
    assert mine == theirs, (mine, theirs)
    theirs = {key_of_wrong(row): row["frees"]
              for row in found["wrong_frees"]["rows"]}
    assert theirs == wrongs(recording, frames, text)
    print(len(report["records"]), len(mine), len(theirs))


main()
