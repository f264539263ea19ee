// SPDX-License-Identifier: MIT
// Call graph: the functions that cost most, with the calls between them, in
// layers: a caller is above what it calls, where calls go round apart.

import { isRepeated } from "./calls";
import { type Order, shareOf } from "./totals";
import { findNested } from "./tree";

export interface GraphNode {
  function: number;
  total: number; // parts of all
  self: number;
  layer: number;
  place: number; // in the layer
}

export interface GraphEdge {
  from: number; // index of a node
  to: number;
  share: number; // part of all
}

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
  layers: number;
  widest: number; // nodes in a layer
}

const leastEdge = 0.005;

// The functions with the largest totals.
function pickFunctions(order: Order, most: number): Map<number, GraphNode> {
  const { tree, totals } = order;
  const nested = findNested(tree);
  const { a, b, isGrowth } = totals;
  const side = b?.all ? b : a;
  const all = side.all || 1;
  const known = new Map<number, GraphNode>();
  for (let n = 1; n < tree.count; n++) {
    const share = shareOf(totals, n);
    if (share <= 0) continue;
    const f = tree.key[n];
    let node = known.get(f);
    if (!node)
      known.set(
        f,
        (node = { function: f, total: 0, self: 0, layer: 0, place: 0 }),
      );
    if (!nested[n]) node.total += share;
    node.self += b && isGrowth
      ? (a.self[n] + b.self[n]) / (a.all + b.all)
      : side.self[n] / all;
  }
  const picked = [...known.values()]
    .filter((node) => node.total >= leastEdge)
    .sort((m, n) => n.total - m.total)
    .slice(0, most);
  return new Map(picked.map((node) => [node.function, node]));
}

function callsBetween(order: Order, index: Map<number, number>): GraphEdge[] {
  const { tree, totals } = order;
  const edges = new Map<string, GraphEdge>();
  for (let n = 1; n < tree.count; n++) {
    const share = shareOf(totals, n);
    const to = index.get(tree.key[n]);
    if (share <= 0 || to === undefined || tree.parent[n] === 0) continue;
    const from = index.get(tree.key[tree.parent[n]]);
    if (from === undefined || from === to || isRepeated(tree, n)) continue;
    const key = `${from} ${to}`;
    const edge = edges.get(key);
    if (edge) edge.share += share;
    else edges.set(key, { from, to, share });
  }
  return [...edges.values()]
    .filter((edge) => edge.share >= leastEdge)
    .sort((m, n) => n.share - m.share);
}

// Heaviest first, an edge counts unless it closes a circle.
function withoutCircles(nodes: GraphNode[], edges: GraphEdge[]): GraphEdge[] {
  const next: number[][] = nodes.map(() => []);
  const leadsTo = (from: number, to: number): boolean => {
    const seen = new Set<number>();
    const todo = [from];
    for (let at; (at = todo.pop()) !== undefined;) {
      if (at === to) return true;
      if (seen.has(at)) continue;
      seen.add(at);
      todo.push(...next[at]);
    }
    return false;
  };
  return edges.filter(({ from, to }) => {
    if (leadsTo(to, from)) return false;
    next[from].push(to);
    return true;
  });
}

function setLayers(nodes: GraphNode[], down: GraphEdge[]): void {
  for (let changed = true; changed;) {
    changed = false;
    for (const { from, to } of down)
      if (nodes[to].layer <= nodes[from].layer) {
        nodes[to].layer = nodes[from].layer + 1;
        changed = true;
      }
  }
}

// Each node below the middle of its callers.
function setPlaces(nodes: GraphNode[], down: GraphEdge[], layers: number) {
  for (let layer = 0; layer < layers; layer++) {
    const row = nodes.filter((n) => n.layer === layer);
    const middle = new Map(
      row.map((node) => {
        const above = down.filter((e) => nodes[e.to] === node);
        const sum = above.reduce((s, e) => s + e.share, 0);
        const at = above.reduce((s, e) => s + nodes[e.from].place * e.share, 0);
        return [node, sum ? at / sum : Infinity];
      }),
    );
    row
      .sort((m, n) => middle.get(m)! - middle.get(n)! || n.total - m.total)
      .forEach((node, place) => (node.place = place));
  }
}

// order is of a top-down tree of functions.
export function graphOf(order: Order, most: number): Graph {
  const picked = pickFunctions(order, most);
  const nodes = [...picked.values()];
  const index = new Map(nodes.map((node, i) => [node.function, i]));
  const edges = callsBetween(order, index);
  const down = withoutCircles(nodes, edges);
  setLayers(nodes, down);
  const layers = 1 + nodes.reduce((m, n) => Math.max(m, n.layer), 0);
  setPlaces(nodes, down, layers);
  const widest = nodes.reduce((m, n) => Math.max(m, n.place + 1), 1);
  return { nodes, edges, layers, widest };
}
