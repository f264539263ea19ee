// SPDX-License-Identifier: MIT
// Timeline: what a thread did in each of equal parts of the time shown.

import type { Profile } from "../data/profile";
import { lowerBound } from "./weights";

export interface Bins {
  // Each the part of its bin, 0 to 1 (CPU of several threads: more).
  cpu: Float64Array;
  blocked: Float64Array;
  waiting: Float64Array;
}

export function emptyBins(count: number): Bins {
  return {
    cpu: new Float64Array(count),
    blocked: new Float64Array(count),
    waiting: new Float64Array(count),
  };
}

// Adds the part of [start, end) that is in each bin of `width` us.
function spread(
  into: Float64Array,
  start: number,
  end: number,
  width: number,
): void {
  const first = Math.max(0, Math.floor(start / width));
  // Most samples are in one bin.
  if (end < (first + 1) * width && start >= 0 && first < into.length) {
    if (end > start) into[first] += (end - start) / width;
    return;
  }
  const last = Math.min(into.length - 1, Math.floor(end / width));
  for (let bin = first; bin <= last; bin++) {
    const low = Math.max(start, bin * width);
    const high = Math.min(end, (bin + 1) * width);
    if (high > low) into[bin] += (high - low) / width;
  }
}

// from, to: us
export function addThread(
  profile: Profile,
  thread: number,
  from: number,
  to: number,
  bins: Bins,
): void {
  const width = (to - from) / bins.cpu.length;
  const { of, time, cpu } = profile.samples;
  const end = of.start[thread + 1];
  const k0 = lowerBound(of.order, time, [of.start[thread], end], from);
  // A sample stands for the CPU time before it.
  for (let k = k0; k < end; k++) {
    const row = of.order[k];
    const at = time[row] - from;
    if (at - cpu[row] > to - from) break;
    spread(bins.cpu, at - cpu[row], at, width);
  }
  const blocks = profile.blocks;
  for (let k = blocks.of.start[thread]; k < blocks.of.start[thread + 1]; k++) {
    const row = blocks.of.order[k];
    const at = blocks.start[row] - from;
    const into = blocks.waiting[row] ? bins.waiting : bins.blocked;
    spread(into, at, at + blocks.duration[row], width);
  }
}
