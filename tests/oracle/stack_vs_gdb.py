#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stack_vs_gdb.py WINDLASS SOURCES: the program of tests/cli/stack is stopped
again and again. Each frame of each thread is where gdb has it. gdb's inlined
frames, and those of tail calls, are left out: they are not on the stack."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROUNDS = 6
SECONDS = 300  # for anything that is waited for

GDB = r"""
import gdb, json
threads = {}
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frame, pcs = gdb.newest_frame(), []
    while frame is not None:
        if frame.type() in (gdb.NORMAL_FRAME, gdb.SIGTRAMP_FRAME):
            pcs.append(frame.pc())
        frame = frame.older()
    threads[thread.ptid[1]] = pcs
json.dump(threads, open("gdb.json", "w"))
"""


def frames_of_gdb(pid):
    with open("frames.py", "w") as script:
        script.write(GDB)
    if os.path.exists("gdb.json"):
        os.remove("gdb.json")
    subprocess.run(
        ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off",
         "-iex", "set auto-load off", "-p", str(pid), "-ex",
         "set backtrace limit unlimited", "-ex",
         "set backtrace past-main on", "-x", "frames.py"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, timeout=SECONDS)
    with open("gdb.json") as made:
        return {int(t): pcs for t, pcs in json.load(made).items()}


def frames_of_windlass(windlass, pid):
    said = subprocess.run([windlass, "stack", "--json", "--wait", "60",
                           str(pid)], check=True, capture_output=True,
                          timeout=SECONDS)
    return {t["tid"]: [int(f["address"], 16) for f in t["frames"]]
            for t in json.loads(said.stdout)["threads"]}


def is_stopped(pid):
    def state(tid):
        with open(f"/proc/{pid}/task/{tid}/stat") as stat:
            return stat.read().rsplit(") ", 1)[1][0]
    return all(state(t) == "T" for t in os.listdir(f"/proc/{pid}/task"))


def stop(pid):
    end = time.monotonic() + SECONDS
    os.kill(pid, signal.SIGSTOP)
    while not is_stopped(pid):
        if time.monotonic() > end:
            raise TimeoutError(f"process {pid} does not stop")
        time.sleep(0.01)


def compare(windlass, pid):
    """The number of differing threads, and of equal frames."""
    ours, theirs = frames_of_windlass(windlass, pid), frames_of_gdb(pid)
    wrong = equal = 0
    for tid in sorted(set(ours) | set(theirs)):
        if ours.get(tid) == theirs.get(tid):
            equal += len(ours[tid])
            continue
        wrong += 1
        for name, frames in (("windlass", ours), ("gdb", theirs)):
            listed = " ".join(map(hex, frames.get(tid, [])[:12]))
            print(f"thread {tid}, {name}: {listed}")
    return wrong, equal


def main(windlass, sources):
    for tool in ("gdb", "cc"):
        if shutil.which(tool) is None:
            print(f"skipped: no {tool}")
            return 77
    program = os.path.abspath("threads")
    subprocess.run(["cc", "-g", "-O2", "-pthread", "-o", program,
                    f"{sources}/tests/cli/stack/threads.c"], check=True)
    child = subprocess.Popen([program], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
    wrong = equal = 0
    try:
        pid = int(child.stdout.readline().split()[1])
        for _ in range(ROUNDS):
            stop(pid)
            more = compare(windlass, pid)
            wrong, equal = wrong + more[0], equal + more[1]
            os.kill(pid, signal.SIGCONT)
            time.sleep(0.003)
    finally:
        child.kill()
        child.wait()
    print(f"{equal} frames are equal, {wrong} stacks differ")
    return wrong != 0 or equal < 400 * ROUNDS


if __name__ == "__main__":
    command, folder = map(os.path.abspath, sys.argv[1:3])
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        result = main(command, folder)
        os.chdir("/")
    sys.exit(result)
