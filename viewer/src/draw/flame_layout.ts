// SPDX-License-Identifier: MIT
// Flame layout: where the frames of a flame graph stand. Only what is at
// least half a pixel wide gets a place; what is left of a node's children
// becomes one place without a name. So the work is bounded by the pixels.

import type { Order } from "../model/totals";
import { shareOf } from "../model/totals";

export const leastWidth = 0.5; // px
export const manySmall = -1; // in the place of a node

export interface Rect {
  node: number;
  depth: number;
  x: number;
  width: number;
}

export interface Layout {
  rects: Rect[]; // by depth in the order of their nodes' ancestors
  depth: number; // the deepest, plus one
}

export function layOut(order: Order, zoom: number, width: number): Layout {
  const rects: Rect[] = [];
  const path: number[] = [];
  for (let n = zoom; n >= 0; n = order.tree.parent[n]) path.push(n);
  path.reverse();
  path.forEach((node, depth) => rects.push({ node, depth, x: 0, width }));
  const whole = shareOf(order.totals, zoom);
  if (!whole) return { rects, depth: path.length };
  let deepest = path.length;
  // Breadth first: rects itself is the queue.
  for (let at = rects.length - 1; at < rects.length; at++) {
    const above = rects[at];
    if (above.node === manySmall) continue;
    const depth = above.depth + 1;
    let x = above.x;
    let placed = 0;
    for (const node of order.children(above.node)) {
      const wide = (shareOf(order.totals, node) / whole) * width;
      if (wide < leastWidth) break;
      rects.push({ node, depth, x, width: wide });
      x += wide;
      placed++;
    }
    const rest = restOf(order, above.node, placed, whole) * width;
    if (rest >= leastWidth)
      rects.push({ node: manySmall, depth, x, width: rest });
    if (x > above.x || rest >= leastWidth)
      deepest = Math.max(deepest, depth + 1);
  }
  return { rects, depth: deepest };
}

function restOf(order: Order, node: number, placed: number, whole: number) {
  const children = order.children(node);
  let rest = 0;
  for (let i = placed; i < children.length; i++)
    rest += shareOf(order.totals, children[i]);
  return rest / whole;
}

export function rectAt(layout: Layout, x: number, depth: number): Rect | null {
  for (const rect of layout.rects)
    if (rect.depth === depth && x >= rect.x && x < rect.x + rect.width)
      return rect;
  return null;
}
