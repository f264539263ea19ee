// SPDX-License-Identifier: MIT
// Quality: how far the stacks can be trusted, in what is selected.

import type { Profile } from "../data/profile";
import type { Weights } from "./weights";

export interface ModuleCost {
  module: number;
  self: number;
  named: number; // of self, in functions with a name
}

export function moduleCosts(profile: Profile, weights: Weights): ModuleCost[] {
  const { functions, nodes } = profile;
  const costs = new Map<number, ModuleCost>();
  for (let n = 1; n < nodes.count; n++) {
    const self = weights.a[n] + (weights.b?.[n] ?? 0);
    if (!self) continue;
    const f = nodes.function[n];
    const module = functions.module[f];
    let cost = costs.get(module);
    if (!cost) costs.set(module, (cost = { module, self: 0, named: 0 }));
    cost.self += self;
    if (!functions.unnamed[f]) cost.named += self;
  }
  return [...costs.values()].sort((m, n) => n.self - m.self);
}

// Of all frames, by how each was found; a stack's frames weigh what it does.
export function framesByHow(profile: Profile, weights: Weights): Float64Array {
  const { nodes } = profile;
  const total = weights.a.slice();
  if (weights.b)
    for (let n = 0; n < total.length; n++) total[n] += weights.b[n];
  const found = new Float64Array(4);
  for (let n = nodes.count - 1; n > 0; n--) {
    total[nodes.parent[n]] += total[n];
    if (nodes.how[n] < found.length) found[nodes.how[n]] += total[n];
  }
  return found;
}
