// SPDX-License-Identifier: MIT
// Calls: by which functions one is called, and which it calls. A stack counts
// once for each of them, however deep the recursion.

import { type Order, shareOf } from "./totals";
import type { Tree } from "./tree";

export interface Call {
  function: number;
  a: number;
  b: number;
}

export interface Calls {
  callers: Call[]; // function -1: the thread's start
  callees: Call[]; // function -1: the function's own code
}

class Sums {
  private readonly of = new Map<number, Call>();

  constructor(private readonly order: Order) {}

  add(f: number, node: number, part: "total" | "self"): void {
    const { a, b } = this.order.totals;
    let call = this.of.get(f);
    if (!call) this.of.set(f, (call = { function: f, a: 0, b: 0 }));
    call.a += a[part][node];
    call.b += b ? b[part][node] : 0;
  }

  sorted(): Call[] {
    return [...this.of.values()]
      .filter((call) => call.a + call.b > 0)
      .sort((m, n) => n.a + n.b - (m.a + m.b));
  }
}

// Whether a call of the same two is above the one at `node`.
export function isRepeated(tree: Tree, node: number): boolean {
  const { parent, key } = tree;
  const [caller, callee] = [key[parent[node]], key[node]];
  for (let n = parent[node]; n > 0 && parent[n] > 0; n = parent[n])
    if (key[n] === callee && key[parent[n]] === caller) return true;
  return false;
}

// order is of a top-down tree of functions.
export function callsOf(order: Order, f: number): Calls {
  const { tree, totals } = order;
  const { parent, key, childStart, child } = tree;
  const callers = new Sums(order);
  const callees = new Sums(order);
  for (let n = 1; n < tree.count; n++) {
    if (key[n] !== f || shareOf(totals, n) <= 0) continue;
    const caller = parent[n] > 0 ? key[parent[n]] : -1;
    if (caller < 0 || !isRepeated(tree, n)) callers.add(caller, n, "total");
    callees.add(-1, n, "self");
    for (let k = childStart[n]; k < childStart[n + 1]; k++)
      if (!isRepeated(tree, child[k]))
        callees.add(key[child[k]], child[k], "total");
  }
  return { callers: callers.sorted(), callees: callees.sorted() };
}
