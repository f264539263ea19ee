// SPDX-License-Identifier: MIT
// Line costs: what the lines of one source file cost. In the total a stack
// counts once for each line.

import type { Profile } from "../data/profile";
import { findNested, treeOf } from "./tree";

export interface LineCost {
  self: number;
  total: number;
}

// Nodes below one of the same line of the file: their total is in that one's.
function findRepeated(profile: Profile, file: number): Uint8Array {
  const { count, location } = profile.nodes;
  const { file: fileOf, line: lineOf } = profile.locations;
  const keys = new Map<number, number>(); // of lines, from 1 on
  const key = new Uint32Array(count); // 0: of another file
  for (let n = 1; n < count; n++) {
    if (fileOf[location[n]] !== file) continue;
    const line = lineOf[location[n]];
    if (!keys.has(line)) keys.set(line, keys.size + 1);
    key[n] = keys.get(line)!;
  }
  const parent = Int32Array.from(profile.nodes.parent);
  parent[0] = -1;
  return findNested(treeOf(parent, key, new Int32Array(0)));
}

export function lineCosts(
  profile: Profile,
  file: number, // number of a string
  weights: Float64Array,
): Map<number, LineCost> {
  const { count, parent, location } = profile.nodes;
  const { file: fileOf, line: lineOf } = profile.locations;
  const total = weights.slice();
  for (let n = count - 1; n > 0; n--) total[parent[n]] += total[n];
  const repeated = findRepeated(profile, file);
  const costs = new Map<number, LineCost>();
  for (let n = 1; n < count; n++) {
    if (!total[n] || fileOf[location[n]] !== file) continue;
    const line = lineOf[location[n]];
    let cost = costs.get(line);
    if (!cost) costs.set(line, (cost = { self: 0, total: 0 }));
    cost.self += weights[n];
    if (!repeated[n]) cost.total += total[n];
  }
  return costs;
}
