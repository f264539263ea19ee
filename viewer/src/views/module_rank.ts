// SPDX-License-Identifier: MIT
// Module rank: the modules that cost most by themselves have colours.

import type { Profile } from "../data/profile";

const noModule = 0xffffffff;

export function rankModules(profile: Profile): Map<number, number> {
  const { functions, nodes, sums, heaps } = profile;
  const none = profile.head.modules.length; // of functions in no module
  const cost = new Float64Array(none + 1);
  const add = (node: number, much: number) => {
    if (!node) return;
    const module = functions.module[nodes.function[node]];
    cost[Math.min(module, none)] += much;
  };
  sums.samples.forEach((count, i) => add(sums.node[i], count));
  for (const heap of heaps) for (const node of heap.node) add(node, 0.001);
  // A module that only calls others still is one to tell apart.
  for (let n = 1; n < nodes.count; n++) add(n, 1e-9);
  const ranked = [...cost.keys()].filter((module) => cost[module] > 0);
  ranked.sort((m, n) => cost[n] - cost[m]);
  return new Map(
    ranked.map((module, rank) => [module < none ? module : noModule, rank]),
  );
}
