// SPDX-License-Identifier: MIT
// Open rows: the rows of a tree that are to be seen, in their order.

import type { Order } from "./totals";
import { shareOf } from "./totals";

export interface TreeRow {
  node: number;
  level: number; // 1: below the root
}

export function openRows(order: Order, open: Set<number>): TreeRow[] {
  const rows: TreeRow[] = [];
  const todo: TreeRow[] = [];
  const push = (node: number, level: number) => {
    const children = order.children(node);
    for (let i = children.length - 1; i >= 0; i--)
      todo.push({ node: children[i], level });
  };
  push(0, 1);
  for (let row; (row = todo.pop());) {
    rows.push(row);
    if (open.has(row.node)) push(row.node, row.level + 1);
  }
  return rows;
}

// The heaviest path as far as it leads somewhere: what is open at first.
export function hottestPath(order: Order): Set<number> {
  const open = new Set<number>();
  let node = 0;
  for (;;) {
    const next = order.children(node)[0];
    if (next === undefined) return open;
    if (shareOf(order.totals, next) < shareOf(order.totals, node) / 2)
      return open;
    open.add(next);
    node = next;
  }
}

export function pathTo(order: Order, node: number): number[] {
  const path = [];
  for (let n = order.tree.parent[node]; n > 0; n = order.tree.parent[n])
    path.push(n);
  return path;
}
