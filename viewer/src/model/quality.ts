// SPDX-License-Identifier: MIT
// Quality: how far the stacks can be trusted, in what is selected.

import type { Profile } from "../data/profile";
import type { Tree } from "./tree";
import type { Weights } from "./weights";

// How sure a frame is, or that it stands for a missing part of a stack.
export type Certainty = "sure" | "guessed" | "missing";

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

const hows = 8;
const surelyFound = [0, 1, 6]; // given, by CFI, and checked

// Whether a frame that was found so is a guess.
export function isGuess(how: number): boolean {
  return how < hows && !surelyFound.includes(how);
}

const guessedOf = new WeakMap<Tree, Uint8Array>();

// 1 for the nodes of a tree of which a frame is a guess. A tree's nodes stand
// for frames only if it has the root at its top.
export function guessedNodes(profile: Profile, tree: Tree): Uint8Array {
  let guessed = guessedOf.get(tree);
  if (guessed) return guessed;
  const { how, count } = profile.nodes;
  guessed = new Uint8Array(tree.count);
  for (let n = 1; n < count; n++)
    if (tree.of[n] > 0 && isGuess(how[n])) guessed[tree.of[n]] = 1;
  guessedOf.set(tree, guessed);
  return guessed;
}

// Of all frames, by how each was found; a stack's frames weigh what it does.
export function framesByHow(profile: Profile, weights: Weights): Float64Array {
  const { nodes } = profile;
  const total = weights.a.slice();
  if (weights.b)
    for (let n = 0; n < total.length; n++) total[n] += weights.b[n];
  const found = new Float64Array(hows);
  for (let n = nodes.count - 1; n > 0; n--) {
    total[nodes.parent[n]] += total[n];
    if (nodes.how[n] < found.length) found[nodes.how[n]] += total[n];
  }
  return found;
}
