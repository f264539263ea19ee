// SPDX-License-Identifier: MIT
// Memory tree: the parts of a process's memory at one report, or what changed
// since another one.

import type { MemoryReports } from "../data/memory";
import { amount, change } from "./amount";

export interface MemoryTree {
  memory: MemoryReports;
  amount: Float64Array; // by part
  before: Float64Array | null; // the same of an earlier report
  weight: Float64Array; // what parts are sorted by, and areas show
  children: Map<number, number[]>; // by part, -1: the roots; heaviest first
}

// Parts that neither report has, and the shares of other processes, are left
// out.
export function memoryTree(
  memory: MemoryReports,
  process: number,
  at: number,
  since: number | null,
): MemoryTree {
  const now = memory.amounts[at];
  const before = since === null ? null : memory.amounts[since];
  const known = (n: number) =>
    memory.process[n] === process &&
    (!Number.isNaN(now[n]) || (before !== null && !Number.isNaN(before[n])));
  const weight = now.map((value, n) =>
    before ? Math.abs((value || 0) - (before[n] || 0)) : Math.max(0, value || 0),
  );
  const children = new Map<number, number[]>();
  for (let n = 0; n < memory.count; n++) {
    if (!known(n)) continue;
    const parent = memory.parent[n] - 1;
    const list = children.get(parent);
    if (list) list.push(n);
    else children.set(parent, [n]);
  }
  for (const list of children.values())
    list.sort((m, n) => weight[n] - weight[m] || m - n);
  rootsFirst(children);
  return { memory, amount: now, before, weight, children };
}

// Trees come before single measurements.
function rootsFirst(children: Map<number, number[]>): void {
  children
    .get(-1)
    ?.sort((m, n) => Number(children.has(n)) - Number(children.has(m)));
}

export function changeOf(tree: MemoryTree, n: number): number {
  return (tree.amount[n] || 0) - (tree.before ? tree.before[n] || 0 : 0);
}

const counts = new Intl.NumberFormat("en-US");

export function memoryAmount(
  { memory }: MemoryTree,
  n: number,
  value: number,
): string {
  if (Number.isNaN(value)) return "";
  if (memory.unit[n] === 0) return amount(value, "bytes");
  if (memory.unit[n] === 3) return `${(value / 100).toFixed(2)}%`;
  return counts.format(value);
}

export function memoryChange(tree: MemoryTree, n: number): string {
  const value = changeOf(tree, n);
  if (tree.memory.unit[n] === 0) return change(value, "bytes");
  const sign = value > 0 ? "+" : value < 0 ? "\u2212" : "\u00b1";
  return sign + memoryAmount(tree, n, Math.abs(value));
}

// The parts from the root to `n`.
export function memoryPath({ memory }: MemoryTree, n: number): number[] {
  const path = [];
  for (let at = n; at >= 0; at = memory.parent[at] - 1) path.unshift(at);
  return path;
}

export interface Area {
  part: number; // -1: what is not in a part of its own
  of: number; // whose child that is
  depth: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

const head = 17; // px for a name above what is inside
const least = 6; // px; smaller areas are left out
const mostAreas = 600;

// Areas by amounts below `top`: rows along the shorter side, as square as can
// be (Bruls, Huizing, van Wijk: Squarified treemaps, 2000).
export function treemap(
  tree: MemoryTree,
  top: number,
  width: number,
  height: number,
): Area[] {
  const areas: Area[] = [
    { part: top, of: -1, depth: 0, x: 0, y: 0, width, height },
  ];
  for (let i = 0; i < areas.length && areas.length < mostAreas; i++) {
    const area = areas[i];
    const inside = {
      ...area,
      x: area.x + 1,
      y: area.y + head,
      width: area.width - 2,
      height: area.height - head - 1,
    };
    if (inside.width < least || inside.height < least) continue;
    areas.push(...squarify(tree, inside));
  }
  return areas;
}

function squarify(tree: MemoryTree, box: Area): Area[] {
  const parts = (tree.children.get(box.part) ?? []).filter(
    (n) => tree.weight[n] > 0,
  );
  const all = parts.reduce((sum, n) => sum + tree.weight[n], 0);
  const scale = (box.width * box.height) / all;
  const found: Area[] = [];
  let { x, y, width, height } = box;
  for (let from = 0; from < parts.length; ) {
    const side = Math.min(width, height);
    if (side < least) break;
    const to = rowEnd(tree, parts, from, side, scale);
    const row = parts.slice(from, to);
    const sum = row.reduce((s, n) => s + tree.weight[n] * scale, 0);
    const thick = sum / side;
    let along = 0;
    for (const part of row) {
      const long = (tree.weight[part] * scale) / thick;
      const at =
        width >= height
          ? { x, y: y + along, width: thick, height: long }
          : { x: x + along, y, width: long, height: thick };
      along += long;
      if (at.width >= least && at.height >= least)
        found.push({ part, of: box.part, depth: box.depth + 1, ...at });
    }
    if (width >= height) [x, width] = [x + thick, width - thick];
    else [y, height] = [y + thick, height - thick];
    from = to;
  }
  return found;
}

// Where a row ends that would become less square by one part more.
function rowEnd(
  tree: MemoryTree,
  parts: number[],
  from: number,
  side: number,
  scale: number,
): number {
  let sum = 0;
  let worst = Infinity;
  for (let to = from; to < parts.length; to++) {
    const next = sum + tree.weight[parts[to]] * scale;
    const thick = next / side;
    const ratio = (n: number) => {
      const long = (tree.weight[n] * scale) / thick;
      return Math.max(long / thick, thick / long);
    };
    const now = Math.max(ratio(parts[from]), ratio(parts[to]));
    if (now > worst) return to;
    [sum, worst] = [next, now];
  }
  return parts.length;
}
