// SPDX-License-Identifier: MIT
// Growth: what lived more, or less, at the later of two snapshots of a heap.
// What grew and what shrank are told apart by stack, so that one does not hide
// the other; the difference of both is the exact change.

import type { HeapStacks, Profile, Snapshot } from "../data/profile";
import type { Weights } from "./weights";

// Heaps of which two moments are known.
export function growing(profile: Profile): number[] {
  return profile.heaps.flatMap(({ snapshots }, at) =>
    snapshots.length > 1 ? [at] : [],
  );
}

// The two by their numbers, or else the first and the last.
export function pairOf(
  snapshots: Snapshot[],
  since: number | null,
  until: number | null,
): [Snapshot, Snapshot] {
  const last = snapshots.length - 1;
  const first = snapshots.findIndex((s) => s.number === since);
  const from = first < 0 || first === last ? 0 : first;
  const to = snapshots.findIndex((s) => s.number === until);
  return [snapshots[from], snapshots[to > from ? to : last]];
}

export function weighGrowth(
  profile: Profile,
  heap: HeapStacks,
  [earlier, later]: [Snapshot, Snapshot],
  unit: "bytes" | "blocks",
): Weights {
  const { stack } = heap.lived;
  const change = new Float64Array(profile.nodes.count);
  const values = heap.lived[unit];
  for (let i = later.from; i < later.to; i++)
    change[heap.node[stack[i]]] += values[i];
  for (let i = earlier.from; i < earlier.to; i++)
    change[heap.node[stack[i]]] -= values[i];
  return {
    unit,
    a: change.map((c) => Math.max(0, -c)),
    b: change.map((c) => Math.max(0, c)),
    isGrowth: true,
  };
}
