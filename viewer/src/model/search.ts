// SPDX-License-Identifier: MIT
// Search: which names match, and how much of all the stacks with one are.

import { type Order, shareOf, type Side, type Totals } from "./totals";
import type { Tree } from "./tree";

export interface Query {
  matches(text: string): boolean;
  error: string | null; // of an expression that is none: nothing matches
}

// "/x.*y/" is a regular expression, anything else a part of the name.
export function parseQuery(query: string): Query | null {
  if (!query) return null;
  const expression = /^\/(.+)\/$/.exec(query);
  if (expression) {
    try {
      const found = new RegExp(expression[1], "i");
      return { matches: (text) => found.test(text), error: null };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { matches: () => false, error: reason };
    }
  }
  const lower = query.toLowerCase();
  return { matches: (text) => text.toLowerCase().includes(lower), error: null };
}

export function matcher(query: string): ((text: string) => boolean) | null {
  return parseQuery(query)?.matches ?? null;
}

export function matchKeys(
  count: number,
  name: (key: number) => string,
  matches: (text: string) => boolean,
): Uint8Array {
  const found = new Uint8Array(count);
  for (let key = 0; key < count; key++) found[key] = matches(name(key)) ? 1 : 0;
  return found;
}

// A stack counts once, however many of its frames match.
export function matchedTotal(tree: Tree, keys: Uint8Array, { total }: Side) {
  tree.paths?.makeAll(tree);
  const covered = new Uint8Array(tree.count);
  let all = 0;
  for (let n = 1; n < tree.count; n++) {
    const above = covered[tree.parent[n]];
    if (!above && keys[tree.key[n]]) all += total[n];
    covered[n] = above || keys[tree.key[n]] ? 1 : 0;
  }
  return all;
}

export function matchedShare(tree: Tree, keys: Uint8Array, totals: Totals) {
  const { a, b } = totals;
  if (b && totals.isGrowth) {
    const found = [a, b].map((side) => matchedTotal(tree, keys, side));
    return a.all + b.all ? (found[0] + found[1]) / (a.all + b.all) : 0;
  }
  const side = b?.all ? b : a;
  return side.all ? matchedTotal(tree, keys, side) / side.all : 0;
}

const mostSorted = 50000;

// The nodes that have a weight and a key that was found, the heaviest first;
// where they are very many, in the tree's order.
export function foundNodes(order: Order, keys: Uint8Array): number[] {
  const { tree, totals } = order;
  tree.paths?.makeAll(tree);
  const nodes: number[] = [];
  for (let n = 1; n < tree.count; n++)
    if (keys[tree.key[n]] && shareOf(totals, n) > 0) nodes.push(n);
  if (nodes.length <= mostSorted)
    nodes.sort((m, n) => shareOf(totals, n) - shareOf(totals, m) || m - n);
  return nodes;
}
