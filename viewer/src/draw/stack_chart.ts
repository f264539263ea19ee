// SPDX-License-Identifier: MIT
// Stack chart: the stacks of one thread in the order of time. Each pixel has
// one stack, so that the work after one pass over the samples is bounded by
// the pixels.

import type { Profile } from "../data/profile";
import type { Layout, Rect } from "./flame_layout";
import type { Tree } from "../model/tree";
import { lowerBound } from "../model/weights";

// What the thread did at a pixel.
export const idle = 0; // nothing is known
export const running = 1;
export const blocked = 2;
export const waiting = 3;

export interface Chart extends Layout {
  doing: Uint8Array; // by pixel
}

interface Pixels {
  node: Int32Array; // of the profile; -1: none
  doing: Uint8Array;
}

function fill(
  pixels: Pixels,
  [start, end]: [number, number], // in pixels
  node: number,
  doing: number,
): void {
  const first = Math.max(0, Math.floor(start));
  const last = Math.min(
    pixels.node.length,
    Math.max(Math.floor(start) + 1, Math.round(end)),
  );
  pixels.node.fill(node, first, last);
  pixels.doing.fill(doing, first, last);
}

function addBlocks(
  { blocks }: Profile,
  thread: number,
  at: (us: number) => number,
  pixels: Pixels,
): void {
  for (let k = blocks.of.start[thread]; k < blocks.of.start[thread + 1]; k++) {
    const row = blocks.of.order[k];
    const start = at(blocks.start[row]);
    const end = at(blocks.start[row] + blocks.duration[row]);
    if (end <= 0 || start >= pixels.node.length) continue;
    const doing = blocks.waiting[row] ? waiting : blocked;
    fill(pixels, [start, end], blocks.node[row], doing);
  }
}

// A sample stands for the CPU time before it.
function addSamples(
  { samples }: Profile,
  thread: number,
  [from, to]: [number, number],
  at: (us: number) => number,
  pixels: Pixels,
): void {
  const { of, time, cpu, node } = samples;
  const end = of.start[thread + 1];
  const first = lowerBound(of.order, time, [of.start[thread], end], from);
  for (let k = first; k < end; k++) {
    const row = of.order[k];
    if (time[row] - cpu[row] > to) break;
    fill(
      pixels,
      [at(time[row] - cpu[row]), at(time[row])],
      node[row],
      running,
    );
  }
}

// The tree's nodes from the outermost frame to `node`.
function pathOf(tree: Tree, node: number): number[] {
  const path: number[] = [];
  for (let n = node; n > 0; n = tree.parent[n]) path.push(n);
  return path.reverse();
}

function rectsOf(tree: Tree, pixels: Pixels): Layout {
  const rects: Rect[] = [];
  let open: Rect[] = [];
  let before: { node: number; doing: number } = { node: -1, doing: idle };
  let depth = 1;
  for (let x = 0; x < pixels.node.length; x++) {
    const node = pixels.node[x] < 0 ? -1 : tree.of[pixels.node[x]];
    const doing = pixels.doing[x];
    if (node === before.node && doing === before.doing) {
      for (const rect of open) rect.width++;
      continue;
    }
    const path = node > 0 ? pathOf(tree, node) : [];
    let same = 0;
    if (doing === before.doing)
      while (same < open.length && open[same].node === path[same]) same++;
    open = open.slice(0, same);
    for (const rect of open) rect.width++;
    for (let d = same; d < path.length; d++) {
      const rect = { node: path[d], depth: d + 1, x, width: 1 };
      open.push(rect);
      rects.push(rect);
    }
    depth = Math.max(depth, path.length + 1);
    before = { node, doing };
  }
  return { rects, depth };
}

// Frames of a top-down tree from depth 1 on: depth 0 is for what it did.
export function chartOf(
  profile: Profile,
  tree: Tree,
  thread: number,
  range: [number, number], // us
  width: number, // pixels
): Chart {
  const count = Math.max(1, Math.floor(width));
  const pixels = {
    node: new Int32Array(count).fill(-1),
    doing: new Uint8Array(count),
  };
  const at = (us: number) => ((us - range[0]) / (range[1] - range[0])) * count;
  addBlocks(profile, thread, at, pixels);
  addSamples(profile, thread, range, at, pixels);
  return { ...rectsOf(tree, pixels), doing: pixels.doing };
}
