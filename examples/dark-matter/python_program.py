# SPDX-License-Identifier: MIT
"""Fills some 90 MB with strings, lists, dicts and sets, prints the process id,
and lets memory reporters run until it is terminated."""
import os
import signal
import sys
import time

import windlass_reports

texts = {number: f"text {number} " * 80 for number in range(20000)}
index = {text[:12]: text for text in texts.values()}
rows = [[number] * 100 for number in range(20000)]
records = [{f"column {i}": number for i in range(30)} for number in range(5000)]
groups = [set(range(number, number + 50)) for number in range(2000)]

signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print(os.getpid(), flush=True)
while True:
    windlass_reports.poll()
    time.sleep(0.01)
