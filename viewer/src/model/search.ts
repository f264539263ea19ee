// SPDX-License-Identifier: MIT
// Search: which names match, and how much of all the stacks with one are.

import type { Totals, Side } from "./totals";
import type { Tree } from "./tree";

// "/x.*y/" is a regular expression, anything else a part of the name.
export function matcher(query: string): ((text: string) => boolean) | null {
  if (!query) return null;
  const expression = /^\/(.+)\/$/.exec(query);
  if (expression) {
    try {
      const found = new RegExp(expression[1], "i");
      return (text) => found.test(text);
    } catch {
      return () => false;
    }
  }
  const lower = query.toLowerCase();
  return (text) => text.toLowerCase().includes(lower);
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
  const side = totals.b?.all ? totals.b : totals.a;
  return side.all ? matchedTotal(tree, keys, side) / side.all : 0;
}
