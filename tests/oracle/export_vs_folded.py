# SPDX-License-Identifier: MIT
"""export_vs_folded.py FOLDED TIME UNIT THREADS FORMAT=FILE...: whether files
that `windlass export` wrote hold the stacks of FOLDED with the same costs
(docs/formats/folded.md), read by what docs/formats says of them alone. TIME is
cpu, blocked, wall, or alloc of heaps; UNIT what a line's number counts in;
THREADS 1 if threads have frames.

pprof-raw is what `go tool pprof -raw` prints of a pprof file."""
import collections
import gzip
import json
import re
import sys

import view_page


def plain(name):
    name = "".join(" " if c < " " or c == "\x7f" else c for c in name)
    return name.replace(";", ":").replace("\ufffd", "?")


# ---- pprof: a decoder of Protocol Buffers in a few lines


def uleb(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def message(data):
    """Fields of a message: number -> list of ints or bytes."""
    at, fields = 0, collections.defaultdict(list)
    while at < len(data):
        tag, at = uleb(data, at)
        value, at = uleb(data, at)
        if tag & 7 == 2:
            value, at = data[at : at + value], at + value
        else:
            assert tag & 7 == 0, "wire type %d" % (tag & 7)
        fields[tag >> 3].append(value)
    return fields


def packed(fields, number):
    numbers = []
    for data in fields[number]:
        at = 0
        while at < len(data):
            value, at = uleb(data, at)
            numbers.append(value)
    return numbers


def one(fields, number):
    return fields[number][0] if fields[number] else 0


def pprof(path, time):
    with gzip.open(path) as file:
        top = message(file.read())
    strings = [s.decode() for s in top[6]]
    assert strings[0] == ""
    types = [strings[one(message(t), 1)] for t in top[1]]
    shown = {"alloc": "alloc_space"}.get(time, time)
    assert strings[one(top, 14)] == shown
    functions = {one(m, 1): m for m in map(message, top[5])}
    mappings = {one(m, 1): m for m in map(message, top[3])}
    places = {}
    for location in map(message, top[4]):
        assert one(location, 1) not in places and one(location, 1) != 0
        lines = [functions[one(message(l), 1)] for l in location[4]]
        places[one(location, 1)] = [strings[one(f, 2)] for f in lines]
        mapping = one(location, 2)
        if mapping:
            range = mappings[mapping]
            assert one(range, 2) <= one(location, 3) < one(range, 3)
    for sample in map(message, top[2]):
        labels = {}
        for label in map(message, sample[3]):
            labels[strings[one(label, 1)]] = strings[one(label, 2)]
        stack = [n for l in packed(sample, 1) for n in places[l]]
        values = packed(sample, 2)
        assert len(values) == len(types)
        value = values[types.index(shown)]
        yield labels["process"], labels.get("thread"), stack[::-1], value


def pprof_raw(path, time):
    with open(path, encoding="utf-8", newline="\n") as file:
        text = file.read()
    shown = {"alloc": "alloc_space"}.get(time, time)
    head, rest = text.split("Samples:\n")
    samples, rest = rest.split("\nLocations\n")
    places, id = {}, 0
    for line in rest.split("\nMappings\n")[0].split("\n"):
        start = re.match(r" +(\d+): 0x[0-9a-f]+ (?:M=\d+ )?", line)
        if start:
            id = start.group(1)
            line = line[start.end() :]
            places[id] = []
        name = re.match(r"(.*) (?:\S.*)?:\d+ s=\d+$", line.strip())
        places[id].append(name.group(1).strip())
    types, *lines = samples.split("\n")
    assert shown + "/" in types and "[dflt]" in types
    column = [t.split("/")[0] for t in types.split(" ")].index(shown)
    sample = None
    for line in lines + ["0: "]:
        found = re.match(r"[ 0-9]+: ([ \d]*)$", line)
        if found:
            if sample:
                yield labels["process"], labels.get("thread"), *sample
            values = line.split(":")[0].split()
            stack = [n for l in found.group(1).split() for n in places[l]]
            sample = stack[::-1], int(values[column]) if stack else 0
            labels = {}
        for key in "process", "thread":
            value = re.search(key + r":\[(.*?)\](?: [a-z]+:\[|$)", line.strip())
            if value:
                labels[key] = value.group(1)


def speedscope(path, time):
    """What speedscope's file-format-schema.json demands, and the stacks."""
    with open(path, encoding="utf-8") as file:
        top = json.load(file)
    home = "https://www.speedscope.app/file-format-schema.json"
    assert top["$schema"] == home
    frames = top["shared"]["frames"]
    for frame in frames:
        assert isinstance(frame["name"], str)
        assert isinstance(frame.get("file", ""), str)
        assert isinstance(frame.get("line", 1), int)
    if top["profiles"]:
        assert top["profiles"][top["activeProfileIndex"]]
    for profile in top["profiles"]:
        assert profile["type"] == "sampled" and profile["startValue"] == 0
        assert len(profile["samples"]) == len(profile["weights"])
        assert sum(profile["weights"]) == profile["endValue"]
        process, rest = re.match(r"(.*?) \[\d+\](.*)", profile["name"]).groups()
        if time == "alloc":
            assert profile["unit"] == "bytes"
            if rest != ": bytes allocated":
                continue
        else:
            assert profile["unit"] == "nanoseconds"
        thread = re.sub(r" \[\d+\]$", "", rest)[1:]
        for stack, weight in zip(profile["samples"], profile["weights"]):
            yield process, thread, [frames[i]["name"] for i in stack], weight


def dhat(path, time):
    """Of several processes, as of one: the last frame is its name."""
    with open(path, encoding="utf-8") as file:
        top = json.load(file)
    assert top["dhatFileVersion"] == 2 and top["ftbl"][0] == "[root]"
    assert top["bklt"] is True and top["bkacc"] is False
    assert len({tuple(p["fs"]) for p in top["pps"]}) == len(top["pps"])
    for pp in top["pps"]:
        assert pp["tb"] >= pp["eb"] and pp["tbk"] >= pp["ebk"]
        assert pp["mb"] == max(pp["gb"], pp["eb"]) and pp["tl"] >= 0
        stack = [top["ftbl"][i] for i in pp["fs"]][::-1]
        process = "one"
        found = re.match(r"(.*) \[\d+\]$", stack[0])
        if found:
            process, stack = found.group(1), stack[1:]
        names = [re.sub(r"^0x[0-9A-F]+: (.*) \(.*?\)$", r"\1", f, flags=re.S)
                 for f in stack]
        yield process, None, names, pp["tb"]


TABLES = {
    "stackTable": "frame prefixOffset",
    "frameTable": "address inlineDepth category subcategory func nativeSymbol "
    "innerWindowID line column originalLocation",
    "funcTable": "name isJS relevantForJS resource source lineNumber "
    "columnNumber originalLocation",
    "resourceTable": "lib name host type",
    "nativeSymbols": "libIndex address name functionSize",
    "sources": "id filename startLine startColumn sourceMapURL content",
    "sourceLocationTable": "source line column",
}


def check_table(table, columns):
    assert set(table) >= set(columns.split() + ["length"]), table.keys()
    for column in columns.split():
        assert len(table[column]) == table["length"], column


def check_range(values, size, none=None):
    assert all(v == none or 0 <= v < size for v in values), (values, size)


def check_shared(shared, libs, categories):
    for name, columns in TABLES.items():
        check_table(shared[name], columns)
    stack, frame = shared["stackTable"], shared["frameTable"]
    func, resource = shared["funcTable"], shared["resourceTable"]
    strings = len(shared["stringArray"])
    check_range(stack["frame"], frame["length"])
    assert all(0 <= o <= i for i, o in enumerate(stack["prefixOffset"]))
    check_range(frame["func"], func["length"])
    check_range(frame["category"], categories)
    check_range(func["name"], strings)
    check_range(func["resource"], resource["length"], -1)
    check_range(func["source"], shared["sources"]["length"])
    check_range(shared["sources"]["filename"], strings)
    check_range(resource["lib"], libs)
    check_range(resource["name"], strings)
    # A frame that is inlined follows the one that it is inlined into.
    for i, depth in enumerate(frame["inlineDepth"]):
        assert depth == 0 or (
            frame["inlineDepth"][i - 1] == depth - 1
            and frame["address"][i - 1] == frame["address"][i]
        )
    for i, row in enumerate(stack["frame"]):
        offset = stack["prefixOffset"][i]
        parent = stack["frame"][i - offset] if offset else None
        assert frame["inlineDepth"][row] == 0 or parent == row - 1


def check_thread(thread, stacks, strings, categories, schemas):
    samples, markers = thread["samples"], thread["markers"]
    check_table(samples, "stack timeDeltas weight threadCPUDelta")
    check_table(markers, "name startTime endTime phase category data")
    check_range(samples["stack"], stacks)
    assert samples["weightType"] == "tracing-ms"
    assert all(d >= 0 for d in samples["timeDeltas"] + samples["weight"])
    assert all(d >= 0 for d in samples["threadCPUDelta"])
    check_range(markers["name"], strings)
    check_range(markers["category"], categories)
    for end, phase, data in zip(
        markers["endTime"], markers["phase"], markers["data"]
    ):
        assert phase == (0 if end is None else 1) and data["type"] in schemas
    assert isinstance(thread["pid"], str)


def check_heap(top):
    for thread in top["threads"]:
        blocks = thread.get("nativeAllocations")
        if blocks is None:
            continue
        check_table(blocks, "time weight stack memoryAddress threadId")
        check_range(blocks["stack"], top["shared"]["stackTable"]["length"])
        live = {}
        for address, weight in zip(blocks["memoryAddress"], blocks["weight"]):
            assert weight != 0 and (weight > 0) == (address not in live)
            live[address] = live.get(address, 0) + weight
        assert all(v >= 0 for v in live.values())
    for counter in top["counters"]:
        check_table(counter["samples"], "timeDeltas count")
        main = top["threads"][counter["mainThreadIndex"]]
        assert main["isMainThread"] and main["pid"] == counter["pid"]


def firefox(path, time):
    with open(path, encoding="utf-8") as file:
        top = json.load(file)
    meta, shared = top["meta"], top["shared"]
    strings, stacks = shared["stringArray"], shared["stackTable"]
    assert meta["preprocessedProfileVersion"] == 66
    assert meta["categories"][0]["color"] == "grey"
    assert all(c["subcategories"][0] == "Other" for c in meta["categories"])
    check_shared(shared, len(top["libs"]), len(meta["categories"]))
    check_heap(top)
    names = []
    for i, frame in enumerate(stacks["frame"]):
        offset = stacks["prefixOffset"][i]
        func = shared["frameTable"]["func"][frame]
        name = strings[shared["funcTable"]["name"][func]]
        names.append((names[i - offset] if offset else []) + [name])
    mains = collections.Counter()
    for thread in top["threads"]:
        schemas = [s["name"] for s in meta["markerSchema"]]
        check_thread(thread, len(names), len(strings),
                     len(meta["categories"]), schemas)
        mains[thread["pid"]] += thread["isMainThread"]
        rows = thread["samples"]
        scale = 1000000
        if time == "alloc":
            rows = thread.get("nativeAllocations", {"stack": [], "weight": []})
            scale = 1
        for stack, weight in zip(rows["stack"], rows["weight"]):
            if stack is not None and weight > 0:
                value = round(weight * scale)
                yield thread["processName"], thread["name"], names[stack], value
    assert set(mains.values()) <= {1}


LABELS = {1: "[truncated]", 2: "[lost]", 3: "[no stack]"}
WAITING = "[waiting for a CPU]"


def view_label(node, end):
    if node == 0:
        return [LABELS[3]]
    return [] if end in (0, 7) else [LABELS[1 if end == 1 else 2]]


def view_heaps(page):
    for i, heap in enumerate(page.head["heaps"]):
        process = page.head["processes"][heap["process"]]["name"]
        stacks = "heap%d.stacks." % i
        for node, label, value in zip(page[stacks + "node"],
                                      page[stacks + "label"],
                                      page[stacks + "bytes_all"]):
            above = [LABELS[label]] if label else []
            yield process, None, above + page.stack(node), value


def view(path, time):
    with open(path, encoding="utf-8") as file:
        page = view_page.Page(file.read())
    if time == "alloc":
        yield from view_heaps(page)
        return

    def one(thread, stack, us):
        of = page.head["threads"][thread]
        process = page.head["processes"][of["process"]]["name"]
        return process, of["name"], stack, us * 1000

    if time != "blocked":
        for thread, node, us, end in zip(
            page["samples.thread"], page["samples.node"],
            page["samples.cpu"], page["samples.end"]
        ):
            stack = view_label(node, end) + page.stack(node)
            yield one(thread, stack, us)
    if time == "cpu":
        return
    for thread, node, us, end, waiting in zip(
        page["blocks.thread"], page["blocks.node"], page["blocks.duration"],
        page["blocks.end"], page["blocks.waiting"]
    ):
        if waiting and time == "blocked":
            continue
        label = [WAITING] if waiting else view_label(node, end)
        yield one(thread, label + page.stack(node), us)


READERS = {"view": view, "firefox": firefox, "speedscope": speedscope, "dhat": dhat, "pprof": pprof, "pprof-raw": pprof_raw}


def folded(format, path, time, unit, threads):
    sums = collections.Counter()
    for process, thread, stack, value in READERS[format](path, time):
        if value == 0:
            continue
        frames = [process] + ([thread] if threads == "1" else []) + stack
        sums[";".join(map(plain, frames))] += value
    lines = set()
    for stack, value in sums.items():
        whole = value // unit + (value % unit >= unit - unit // 2)
        lines.add("%s %d" % (stack, max(whole, 1)))
    return lines


def main(want, time, unit, threads, *files):
    with open(want, "rb") as file:
        lines = file.read().decode("utf-8", "replace").split("\n")[:-1]
    bad = False
    for format, path in (file.split("=") for file in files):
        got = folded(format, path, time, int(unit), threads)
        for sign, some in ("-", set(lines) - got), ("+", got - set(lines)):
            for line in sorted(some):
                print("%s of %s: %s%.300s" % (format, time, sign, line))
                bad = True
    sys.exit(bad)


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    main(*sys.argv[1:])
