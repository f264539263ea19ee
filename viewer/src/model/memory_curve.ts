// SPDX-License-Identifier: MIT
// Memory curve: how much of a heap lived when. What lives is noted a few times
// a second; the most bytes lived between two notes, mostly, and are told with
// their time by the heap's totals.

import type { HeapStacks } from "../data/profile";

export type HeapUnit = "bytes" | "blocks";

export interface Curve {
  time: number[]; // us
  live: number[];
  most: number;
  noted: boolean; // there may have been more than `most` between notes
}

function positive(value: unknown): number {
  return typeof value === "number" && value > 0 ? value : 0;
}

export function curveOf(heap: HeapStacks, unit: HeapUnit): Curve {
  const time = Array.from(heap.time);
  const live = Array.from(heap[unit]);
  const peak = unit === "bytes" ? positive(heap.info.totals.peak_bytes) : 0;
  if (peak) {
    const when = positive(heap.info.totals.peak_time_ns) / 1000;
    let at = time.findIndex((us) => us >= when);
    if (at < 0) at = time.length;
    const known = time[at] === when;
    time.splice(at, known ? 1 : 0, when);
    live.splice(at, known ? 1 : 0, peak);
  }
  const most = live.reduce((one, other) => Math.max(one, other), 0);
  return { time, live, most, noted: !peak };
}
