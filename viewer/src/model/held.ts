// SPDX-License-Identifier: MIT
// Held: what is kept alive by what, as a tree of places with totals, and the
// chains that lead to a place.

import {
  differs,
  hasPointer,
  type Held,
  isConservative,
  isRoot,
  repeats,
} from "../data/held";
import { Order, type Side } from "./totals";
import { TreeBuilder } from "./tree";

export type HeldUnit = "bytes" | "blocks";

// By root: as it is; by site: without the roots, what they hold merged.
export type HeldBy = "root" | "site";

function totalsOf(parent: Int32Array, self: Float64Array): Side {
  const total = self.slice();
  for (let n = total.length - 1; n > 0; n--) total[parent[n]] += total[n];
  return { self, total, all: total[0] };
}

// The keys of its tree are places.
export function retainedOrder(held: Held, by: HeldBy, unit: HeldUnit): Order {
  const builder = new TreeBuilder(held.count);
  const of = new Int32Array(held.count);
  for (let n = 1; n < held.count; n++) {
    const above = of[held.parent[n]];
    const isLeftOut = by === "site" && (held.how[n] & isRoot) !== 0;
    of[n] = isLeftOut ? above : builder.child(above, held.place[n]);
  }
  const tree = builder.finish(of);
  const self = new Float64Array(tree.count);
  for (let n = 0; n < held.count; n++) self[of[n]] += held[unit][n];
  const a = totalsOf(tree.parent, self);
  return new Order(tree, { unit, a, b: null, isGrowth: false });
}

export interface Step {
  place: number;
  offset: number | null; // of the pointer in it; null: none, or they differ
  isRoot: boolean;
  isConservative: boolean;
  repeats: boolean;
}

export interface Chain {
  blocks: number;
  bytes: number;
  steps: Step[]; // from the place to its root
}

function stepsTo(held: Held, node: number): Step[] {
  const steps: Step[] = [];
  for (let n = node, below = 0; n > 0; below = n, n = held.parent[n]) {
    const how = below ? held.how[below] : 0;
    steps.push({
      place: held.place[n],
      offset: how & hasPointer && !(how & differs) ? held.offset[below] : null,
      isRoot: (held.how[n] & isRoot) !== 0,
      isConservative: (how & isConservative) !== 0,
      repeats: (held.how[n] & repeats) !== 0,
    });
  }
  return steps;
}

// The chains that hold the blocks of a place, those of most bytes first.
export function chainsTo(held: Held, place: number): Chain[] {
  const chains: Chain[] = [];
  for (let n = 1; n < held.count; n++)
    if (held.place[n] === place && held.blocks[n] > 0)
      chains.push({
        blocks: held.blocks[n],
        bytes: held.bytes[n],
        steps: stepsTo(held, n),
      });
  return chains.sort((c, d) => d.bytes - c.bytes || d.blocks - c.blocks);
}
