// SPDX-License-Identifier: MIT
// Line costs: what the lines of one source file cost. In the total a stack
// counts once for each line.

import type { Profile } from "../data/profile";

export interface LineCost {
  self: number;
  total: number;
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
  const costs = new Map<number, LineCost>();
  for (let n = 1; n < count; n++) {
    if (!total[n] || fileOf[location[n]] !== file) continue;
    const line = lineOf[location[n]];
    let cost = costs.get(line);
    if (!cost) costs.set(line, (cost = { self: 0, total: 0 }));
    cost.self += weights[n];
    if (!isAbove(profile, n, file, line)) cost.total += total[n];
  }
  return costs;
}

function isAbove(p: Profile, node: number, file: number, line: number) {
  const { parent, location } = p.nodes;
  for (let n = parent[node]; n > 0; n = parent[n])
    if (
      p.locations.line[location[n]] === line &&
      p.locations.file[location[n]] === file
    )
      return true;
  return false;
}
