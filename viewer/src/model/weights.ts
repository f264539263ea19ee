// SPDX-License-Identifier: MIT
// Weights: what each node of the profile costs by itself, in what is
// selected. A comparison has two: a is the first recording's.

import type { HeapStacks, Profile } from "../data/profile";

export type TimeWeight = "cpu" | "samples" | "blocked" | "waiting" | "wall";
export type Unit = "us" | "samples" | "bytes" | "blocks";

export interface Weights {
  unit: Unit;
  a: Float64Array;
  b: Float64Array | null;
  isGrowth?: boolean; // of one recording: a is what shrank, b what grew
}

// A part of the recording's time and threads.
export interface Selection {
  threads: Uint8Array; // 1: chosen
  from: number; // us
  to: number;
}

export function selectAll(profile: Profile): Selection {
  return {
    threads: new Uint8Array(profile.head.threads.length).fill(1),
    from: 0,
    to: Infinity,
  };
}

export function isDiff(profile: Profile): boolean {
  return profile.head.recordings.length > 1;
}

function empty(profile: Profile, unit: Unit): Weights {
  const { count } = profile.nodes;
  const b = isDiff(profile) ? new Float64Array(count) : null;
  return { unit, a: new Float64Array(count), b };
}

function sideOf(profile: Profile, weights: Weights, process: number) {
  const recording = profile.head.processes[process].recording;
  return recording > 0 && weights.b ? weights.b : weights.a;
}

// The first of a thread's rows whose time is not before `when`.
export function lowerBound(
  order: Uint32Array,
  time: Float64Array,
  [low, high]: [number, number],
  when: number,
): number {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (time[order[middle]] < when) low = middle + 1;
    else high = middle;
  }
  return low;
}

function addSamples(
  profile: Profile,
  thread: number,
  { from, to }: Selection,
  cost: Float64Array | null, // null: 1 each
  into: Float64Array,
): void {
  const { of, time, node } = profile.samples;
  const end = of.start[thread + 1];
  const first = lowerBound(of.order, time, [of.start[thread], end], from);
  for (let k = first; k < end; k++) {
    const row = of.order[k];
    if (time[row] > to) break;
    into[node[row]] += cost ? cost[row] : 1;
  }
}

function addBlocks(
  profile: Profile,
  thread: number,
  { from, to }: Selection,
  wanted: (waiting: number) => boolean,
  into: Float64Array,
): void {
  const { of, start, duration, node, waiting } = profile.blocks;
  for (let k = of.start[thread]; k < of.start[thread + 1]; k++) {
    const row = of.order[k];
    const begins = Math.max(from, start[row]);
    const ends = Math.min(to, start[row] + duration[row]);
    if (ends > begins && wanted(waiting[row])) into[node[row]] += ends - begins;
  }
}

const blockedOf: Record<string, (waiting: number) => boolean> = {
  blocked: (waiting) => !waiting,
  waiting: (waiting) => !!waiting,
  wall: () => true,
};

// Whether weights are known without a look at each sample.
export function isSummed(selection: Selection, kind: TimeWeight): boolean {
  return (
    (kind === "cpu" || kind === "samples") &&
    selection.from <= 0 &&
    selection.to === Infinity &&
    selection.threads.every((chosen) => chosen === 1)
  );
}

function weighSums({ sums }: Profile, weights: Weights, kind: TimeWeight) {
  const cost = kind === "samples" ? sums.samples : sums.cpu;
  for (let i = 0; i < cost.length; i++) {
    const into = sums.recording[i] > 0 && weights.b ? weights.b : weights.a;
    into[sums.node[i]] += cost[i];
  }
  return weights;
}

export function weighTime(
  profile: Profile,
  selection: Selection,
  kind: TimeWeight,
): Weights {
  const weights = empty(profile, kind === "samples" ? "samples" : "us");
  if (isSummed(selection, kind)) return weighSums(profile, weights, kind);
  const { threads } = profile.head;
  for (let t = 0; t < threads.length; t++) {
    if (!selection.threads[t]) continue;
    const into = sideOf(profile, weights, threads[t].process);
    if (kind === "samples") addSamples(profile, t, selection, null, into);
    if (kind === "cpu" || kind === "wall")
      addSamples(profile, t, selection, profile.samples.cpu, into);
    const wanted = blockedOf[kind];
    if (wanted) addBlocks(profile, t, selection, wanted, into);
  }
  return weights;
}

function heapColumn(heap: HeapStacks, kind: string, unit: "bytes" | "blocks") {
  return (unit === "bytes" ? heap.bytesOf : heap.blocksOf).get(kind);
}

// Of one heap, or of all (null).
export function weighHeap(
  profile: Profile,
  heap: number | null,
  kind: string,
  unit: "bytes" | "blocks",
): Weights {
  const weights = empty(profile, unit);
  profile.heaps.forEach((stacks, at) => {
    const column = heapColumn(stacks, kind, unit);
    if ((heap !== null && heap !== at) || !column) return;
    const into = sideOf(profile, weights, stacks.info.process);
    for (let i = 0; i < column.length; i++) into[stacks.node[i]] += column[i];
  });
  return weights;
}

export function sum(weights: Float64Array): number {
  let all = 0;
  for (let i = 0; i < weights.length; i++) all += weights[i];
  return all;
}
