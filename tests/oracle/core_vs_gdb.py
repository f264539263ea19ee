#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""core_vs_gdb.py WINDLASS SOURCES: each frame of each thread in core files is
where gdb has it. The files are the kernel's, of the program of tests/cli/stack,
and gdb's own (gcore), of its program with threads. gdb's inlined frames, and
those of tail calls, are left out: they are not on the stack."""
import glob
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile

SECONDS = 300
MOST = 200  # frames of a thread

# A stack overflow, a null pointer in a thread, a division, abort().
KINDS = ("null", "overflow", "divide", "abort")
BUILDS = (("-O0",), ("-O1",), ("-O2", "-fomit-frame-pointer"),
          ("-O2", "-fno-asynchronous-unwind-tables"))

GDB = r"""
import gdb, json
threads = {}
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frame, pcs = gdb.newest_frame(), []
    while frame is not None and len(pcs) < %d:
        if frame.type() in (gdb.NORMAL_FRAME, gdb.SIGTRAMP_FRAME):
            pcs.append(frame.pc())
        frame = frame.older()
    threads[thread.ptid[1]] = pcs
json.dump(threads, open("gdb.json", "w"))
""" % MOST


def frames_of_gdb(program, core):
    with open("frames.py", "w") as script:
        script.write(GDB)
    if os.path.exists("gdb.json"):
        os.remove("gdb.json")
    subprocess.run(
        ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off",
         "-iex", "set auto-load off", program, core, "-ex",
         "set backtrace limit unlimited", "-ex",
         "set backtrace past-main on", "-x", "frames.py"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, timeout=SECONDS)
    with open("gdb.json") as made:
        return {int(t): pcs for t, pcs in json.load(made).items()}


def frames_of_windlass(windlass, core):
    said = subprocess.run(
        [windlass, "stack", "--json", "--max-frames", str(MOST), "--core",
         core], check=True, capture_output=True, timeout=SECONDS)
    return {t["tid"]: [int(f["address"], 16) for f in t["frames"]]
            for t in json.loads(said.stdout)["threads"]}


def compare(windlass, program, core):
    """The number of differing threads, and of equal frames."""
    ours = frames_of_windlass(windlass, core)
    theirs = frames_of_gdb(program, core)
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


def limit():
    most = resource.RLIM_INFINITY
    resource.setrlimit(resource.RLIMIT_CORE, (most, most))
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, most))


def crash(program, kind):
    """The core of the program, or None where the kernel writes none here."""
    for old in glob.glob("core*"):
        os.remove(old)
    subprocess.run([program, kind], preexec_fn=limit, timeout=SECONDS,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    made = glob.glob("core*")
    return made[0] if made else None


def compile_to(program, source, *flags):
    subprocess.run(["cc", "-g", "-pthread", *flags, "-o", program, source],
                   check=True)


def of_kernel(windlass, source):
    program = os.path.abspath("crash")
    wrong = equal = 0
    for flags in BUILDS:
        compile_to(program, source, *flags)
        for kind in KINDS:
            core = crash(program, kind)
            if core is None:
                return None
            more = compare(windlass, program, core)
            if more[0] != 0:
                print(f"that was {kind}, built with {' '.join(flags)}")
            wrong, equal = wrong + more[0], equal + more[1]
    return wrong, equal


def of_gdb(windlass, source):
    program = os.path.abspath("threads")
    compile_to(program, source, "-O2")
    child = subprocess.Popen([program], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
    try:
        pid = int(child.stdout.readline().split()[1])
        subprocess.run(["gcore", "-o", "made", str(pid)], check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=SECONDS)
    finally:
        child.kill()
        child.wait()
    return compare(windlass, program, f"made.{pid}")


def main(windlass, sources):
    for tool in ("gdb", "gcore", "cc"):
        if shutil.which(tool) is None:
            print(f"skipped: no {tool}")
            return 77
    folder = f"{sources}/tests/cli/stack"
    kernels = of_kernel(windlass, f"{folder}/crash.c")
    if kernels is None:
        print("skipped: the kernel writes no core files here")
        return 77
    gdbs = of_gdb(windlass, f"{folder}/threads.c")
    wrong, equal = kernels[0] + gdbs[0], kernels[1] + gdbs[1]
    print(f"{equal} frames are equal, {wrong} stacks differ")
    return wrong != 0 or equal < 1000


if __name__ == "__main__":
    command, folder = map(os.path.abspath, sys.argv[1:3])
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        result = main(command, folder)
        os.chdir("/")
    sys.exit(result)
