// SPDX-License-Identifier: MIT
// Tree: stacks merged by what their frames are (functions or modules). Tree
// nodes are numbered parents first; node 0 is the root. Trees have a shape
// only: what weighs how much is told by totals.ts, so that a selection costs
// one sweep and no new tree.

import type { Paths } from "./paths";

export interface Tree {
  count: number;
  parent: Int32Array;
  key: Uint32Array; // number of a function, or of a module
  of: Int32Array; // the tree node for each node of the profile; -1: none
  childStart: Uint32Array; // children of n: child[childStart[n]] ...
  child: Uint32Array;
  paths?: Paths; // of an inverted tree: nodes that none of these arrays tell of
}

export function treeOf(
  parent: Int32Array,
  key: Uint32Array,
  of: Int32Array,
  paths?: Paths,
): Tree {
  const listed = paths ? parent.subarray(0, paths.first) : parent;
  return { count: parent.length, parent, key, of, paths, ...children(listed) };
}

// The children of a node of any tree, made.
export function childrenOf(tree: Tree, node: number): Uint32Array {
  const { paths, childStart, child } = tree;
  const ofPath = paths?.children(tree, node);
  if (ofPath) return Uint32Array.from(ofPath);
  return child.subarray(childStart[node], childStart[node + 1]);
}

// The node with all that leads to it made; 0, the root, if the tree has no such.
export function reach(tree: Tree, node: number): number {
  if (node >= tree.count) return 0;
  tree.paths?.reach(tree, node);
  return node;
}

// Children of a node that are in its list; the others are in the hash table.
const mostListed = 4;

// Grows (parent, key) pairs to nodes, each pair once. Most nodes have few
// children, and these are near them in memory: a list of them costs less than a
// hash table.
export class TreeBuilder {
  count = 1;
  parent: Int32Array;
  key: Uint32Array;
  private first: Int32Array; // a child of each node, 0: none
  private next: Int32Array; // another child of the same node
  private slots = new Int32Array(64);
  private hashed = 0; // nodes in slots

  constructor(expected: number) {
    const room = Math.max(64, expected + 1);
    this.parent = new Int32Array(room);
    this.key = new Uint32Array(room);
    this.first = new Int32Array(room);
    this.next = new Int32Array(room);
    this.parent[0] = -1;
  }

  child(parent: number, key: number): number {
    let listed = 0;
    for (let n = this.first[parent]; n > 0; n = this.next[n], listed++)
      if (this.key[n] === key) return n;
    if (listed === mostListed) return this.hashedChild(parent, key);
    const node = this.add(parent, key);
    this.next[node] = this.first[parent];
    this.first[parent] = node;
    return node;
  }

  finish(of: Int32Array): Tree {
    const parent = this.parent.slice(0, this.count);
    const key = this.key.slice(0, this.count);
    return treeOf(parent, key, of);
  }

  private add(parent: number, key: number): number {
    if (this.count === this.parent.length) this.grow();
    const node = this.count++;
    this.parent[node] = parent;
    this.key[node] = key;
    return node;
  }

  private hashedChild(parent: number, key: number): number {
    const at = this.slotOf(parent, key);
    if (this.slots[at]) return this.slots[at];
    const node = this.add(parent, key);
    this.slots[at] = node;
    if (++this.hashed * 2 > this.slots.length) this.growTable();
    return node;
  }

  // Where a pair is, or belongs.
  private slotOf(parent: number, key: number): number {
    const mask = this.slots.length - 1;
    let at = hash(parent, key) & mask;
    for (let node; (node = this.slots[at]) !== 0; at = (at + 1) & mask)
      if (this.parent[node] === parent && this.key[node] === key) break;
    return at;
  }

  private growTable(): void {
    const before = this.slots;
    this.slots = new Int32Array(before.length * 4);
    for (let i = 0; i < before.length; i++) {
      const node = before[i];
      if (node) this.slots[this.slotOf(this.parent[node], this.key[node])] = node;
    }
  }

  private grow(): void {
    const room = this.parent.length * 2;
    this.parent = larger(this.parent, new Int32Array(room));
    this.key = larger(this.key, new Uint32Array(room));
    this.first = larger(this.first, new Int32Array(room));
    this.next = larger(this.next, new Int32Array(room));
  }
}

function larger<T extends Int32Array | Uint32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

function hash(parent: number, key: number): number {
  let h = Math.imul(parent, 0x9e3779b1) ^ Math.imul(key + 1, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  return h ^ (h >>> 13);
}

function children(parent: Int32Array) {
  const childStart = new Uint32Array(parent.length + 1);
  for (let n = 1; n < parent.length; n++) childStart[parent[n] + 1]++;
  for (let n = 0; n < parent.length; n++) childStart[n + 1] += childStart[n];
  const next = childStart.slice();
  const child = new Uint32Array(Math.max(0, parent.length - 1));
  for (let n = 1; n < parent.length; n++) child[next[parent[n]]++] = n;
  return { childStart, child };
}

const nestedOf = new WeakMap<Tree, Uint8Array>();

// 1 for nodes of which an ancestor has the same key. Depth first with a count
// of each key on the path: no walk up per node.
export function findNested(tree: Tree): Uint8Array {
  let nested = nestedOf.get(tree);
  if (nested) return nested;
  const { parent, key, childStart, child } = tree;
  nested = new Uint8Array(tree.count);
  const open = new Uint32Array(key.reduce((m, k) => Math.max(m, k), 0) + 1);
  const next = childStart.slice();
  let node = 0;
  while (node >= 0) {
    if (next[node] < childStart[node + 1]) {
      node = child[next[node]++];
      nested[node] = open[key[node]]++ ? 1 : 0;
      continue;
    }
    if (node > 0) open[key[node]]--;
    node = parent[node];
  }
  nestedOf.set(tree, nested);
  return nested;
}

export function depthOf(tree: Tree, node: number): number {
  let depth = 0;
  for (let n = node; n > 0; n = tree.parent[n]) depth++;
  return depth;
}
