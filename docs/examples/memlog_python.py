# SPDX-License-Identifier: MIT
"""memlog_python: CPython's collections in the memory event log.

Import it once, for example in sitecustomize.py. memlog_gc.so, of memlog_gc.c,
is beside it. CPython does not know how much its collector freed: the bytes are
those of the process (RSS).
"""
import ctypes
import gc
import os
import time

_here = os.path.dirname(os.path.abspath(__file__))
_log = ctypes.CDLL(os.path.join(_here, "memlog_gc.so")).memlog_gc
_log.argtypes = [ctypes.c_int64] * 5
_log.restype = None
_page = os.sysconf("SC_PAGE_SIZE")
_begun = [0, 0]


def _resident():
    with open("/proc/self/statm", "rb") as statm:
        return int(statm.read().split()[1]) * _page


def _on_gc(phase, info):
    if phase == "start":
        _begun[:] = [_resident(), time.monotonic_ns()]
    else:
        _log(_begun[0], _resident(), time.monotonic_ns() - _begun[1],
             info["generation"], info["collected"])


gc.callbacks.append(_on_gc)
