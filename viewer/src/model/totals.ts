// SPDX-License-Identifier: MIT
// Totals: what each node of a tree costs, by itself and with what is below
// it: the sum of self over a tree is the total of its root.

import type { Paths } from "./paths";
import { childrenOf, type Tree } from "./tree";
import type { Unit, Weights } from "./weights";

export interface Side {
  self: Float64Array;
  total: Float64Array;
  all: number; // the root's total
}

export interface Totals {
  unit: Unit;
  a: Side;
  b: Side | null;
  isGrowth: boolean; // amounts are compared: a is what shrank, b what grew
}

function addUp(tree: Tree, weights: Float64Array): Side {
  const self = new Float64Array(tree.count);
  for (let n = 0; n < weights.length; n++)
    if (weights[n] !== 0 && tree.of[n] >= 0) self[tree.of[n]] += weights[n];
  const total = tree.paths ? totalOfPaths(tree.paths, self) : self.slice();
  for (let n = (tree.paths?.first ?? tree.count) - 1; n > 0; n--)
    total[tree.parent[n]] += total[n];
  return { self, total, all: total[0] };
}

// All of a path weighs what its last node does, and adds that to the node above.
function totalOfPaths(
  { first, start, above }: Paths,
  self: Float64Array,
): Float64Array {
  const total = new Float64Array(self.length);
  total.set(self.subarray(0, first));
  for (let i = 0; i < above.length; i++) {
    const weight = self[start[i + 1] - 1];
    if (weight === 0) continue;
    for (let n = start[i]; n < start[i + 1]; n++) total[n] = weight;
    total[above[i]] += weight;
  }
  return total;
}

export function addTotals(tree: Tree, weights: Weights): Totals {
  return {
    unit: weights.unit,
    a: addUp(tree, weights.a),
    b: weights.b && addUp(tree, weights.b),
    isGrowth: weights.isGrowth === true,
  };
}

function share(value: number, all: number): number {
  return all ? value / all : 0;
}

// How much of the whole a node is: of a comparison, the mean of both sides'
// shares, so that what only one side has is still to be seen.
export function shareOf({ a, b, isGrowth }: Totals, node: number): number {
  if (b && isGrowth)
    return share(a.total[node] + b.total[node], a.all + b.all);
  const first = share(a.total[node], a.all);
  return b ? (first + share(b.total[node], b.all)) / 2 : first;
}

// How much of each node's weight is also in `part`.
export function partOf(part: Totals, whole: Totals): (node: number) => number {
  return (node) => share(part.a.total[node], whole.a.total[node]);
}

// By how much of its recording the second is more than the first; of growth, by
// how much of all changes.
export function deltaOf({ a, b, isGrowth }: Totals, node: number): number {
  if (b && isGrowth)
    return share(b.total[node] - a.total[node], a.all + b.all);
  return b ? share(b.total[node], b.all) - share(a.total[node], a.all) : 0;
}

// The children that have any weight, the heaviest first.
export class Order {
  private readonly known = new Map<number, Uint32Array>();

  constructor(
    readonly tree: Tree,
    readonly totals: Totals,
  ) {}

  children(node: number): Uint32Array {
    let sorted = this.known.get(node);
    if (!sorted) {
      sorted = childrenOf(this.tree, node)
        .filter((n) => shareOf(this.totals, n) > 0)
        .sort((m, n) => shareOf(this.totals, n) - shareOf(this.totals, m));
      this.known.set(node, sorted);
    }
    return sorted;
  }
}
