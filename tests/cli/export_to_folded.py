# SPDX-License-Identifier: MIT
"""export_to_folded.py FORMAT FILE TIME UNIT THREADS: a file that `windlass
export` wrote in FORMAT as sorted folded stacks (docs/formats/folded.md), read
by what docs/formats says of it alone. TIME is cpu, blocked, wall, or alloc of
heaps; UNIT what a line's number counts in; THREADS 1 if threads have frames.

pprof-raw is what `go tool pprof -raw` prints of a pprof file."""
import collections
import gzip
import json
import re
import sys


def plain(name):
    name = "".join(" " if c < " " or c == "\x7f" else c for c in name)
    return name.replace(";", ":")


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


READERS = {"speedscope": speedscope, "dhat": dhat, "pprof": pprof, "pprof-raw": pprof_raw}


def main(format, path, time, unit, threads):
    sums, unit = collections.Counter(), int(unit)
    for process, thread, stack, value in READERS[format](path, time):
        if value == 0:
            continue
        frames = [process] + ([thread] if threads == "1" else []) + stack
        sums[";".join(map(plain, frames))] += value
    for stack, value in sums.items():
        whole = value // unit + (value % unit >= unit - unit // 2)
        print(stack, max(whole, 1))


sys.stdout.reconfigure(encoding="utf-8", newline="\n")
main(*sys.argv[1:])
