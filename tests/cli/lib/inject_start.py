#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""inject_start.py WINDLASS RECDUMP FIXTURES record|heap ERROR...: makes each call
of the start of a recorded program fail once with each of these errors, by
strace. The program must do what it does alone, and be recorded or named.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

windlass, recdump, fixtures, command, *errors = sys.argv[1:]
OUTPUT, STATUS = "out 60", 3
ARGUMENTS = [os.path.abspath(fixtures) + "/burn", "60", str(STATUS)]
# The runtime blocks all signals first. Its start ends before the first of these.
BEGIN = "rt_sigprocmask(SIG_SETMASK, ~[SYS], []"
ENDS = ("--- SIG", "write(", "prlimit64(0, RLIMIT_CORE")
# glibc's malloc makes it for the program, which crashes if it fails at first.
NOT_OURS = ("brk",)


def run(*inject):
    """The command's result, and the lines of strace."""
    for name in "r.wndl", "trace":
        if os.path.exists(name):
            os.remove(name)
    traced = ["strace", "-o", "trace", *inject, *ARGUMENTS]
    result = subprocess.run(
        [windlass, command, "-o", "r.wndl", "--", *traced],
        capture_output=True, text=True, timeout=60)
    with open("trace", encoding="utf-8") as trace:
        return result, trace.read().splitlines()


def calls_of_start():
    """The name of each call, and which call of that name it is."""
    lines = run()[1]
    begin = max(i for i, line in enumerate(lines) if line.startswith(BEGIN)
                and any("AF_UNIX" in later for later in lines[i:]))
    count = collections.Counter()
    for i, line in enumerate(lines):
        if i > begin and line.startswith(ENDS):
            return
        call = re.match(r"\w+(?=\()", line)
        if call:
            count[call[0]] += 1
            if i >= begin and call[0] not in NOT_OURS:
                yield call[0], count[call[0]]


def outcome(result, lines):
    if not any("INJECTED" in line for line in lines):
        return "not made"
    if result.returncode != STATUS or OUTPUT not in result.stdout:
        return "changed"
    dump = subprocess.run(
        [recdump, "r.wndl"], capture_output=True, text=True).stdout
    rows = [line.split() for line in dump.splitlines()
            if re.match("process .*/burn$", line)]
    if any(command == "heap" or int(row[6]) > 0 for row in rows):
        return "recorded"
    named = re.search("'burn'.*could not be recorded|process [0-9]+ was not "
                      "sampled: no engine", result.stderr)
    return "named" if named else "lost"


windlass, recdump = map(os.path.abspath, (windlass, recdump))
counts = collections.Counter()
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for name, number in calls_of_start():
        for error in errors:
            found = outcome(*run(
                "-e", f"inject={name}:error={error}:when={number}"))
            counts[found] += 1
            if found not in ("recorded", "not made"):
                print(f"{found}: {error} of {name}, call {number}", flush=True)
    os.chdir("/")
print(", ".join(f"{n} {what}" for what, n in sorted(counts.items())))
sys.exit(counts["changed"] + counts["lost"] > 0)
