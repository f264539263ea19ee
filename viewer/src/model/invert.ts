// SPDX-License-Identifier: MIT
// Invert: the paths of a tree from where they end up to the root, merged. A
// group of paths that agree so far is split by their next key; a path alone
// needs no more comparing, and most are soon alone.

import type { Tree } from "./tree";

export interface Inverted {
  parent: Int32Array;
  key: Uint32Array;
  last: Int32Array; // for each node of the tree that begins a path
}

class Nodes {
  count = 1;
  parent: Int32Array;
  key: Uint32Array;

  constructor(room: number) {
    this.parent = new Int32Array(room);
    this.key = new Uint32Array(room);
    this.parent[0] = -1;
  }

  add(parent: number, key: number): number {
    this.reserve(1);
    this.parent[this.count] = parent;
    this.key[this.count] = key;
    return this.count++;
  }

  // The path up from `from`, as one below the other.
  addPath(node: number, from: number, tree: Tree): number {
    let length = 0;
    for (let n = from; n > 0; n = tree.parent[n]) length++;
    this.reserve(length);
    const { parent, key } = this;
    let to = node;
    for (let n = from; n > 0; n = tree.parent[n]) {
      parent[this.count] = to;
      key[this.count] = tree.key[n];
      to = this.count++;
    }
    return to;
  }

  private reserve(more: number): void {
    if (this.count + more <= this.parent.length) return;
    const room = 2 * (this.count + more);
    const { parent, key } = this;
    this.parent = new Int32Array(room);
    this.parent.set(parent);
    this.key = new Uint32Array(room);
    this.key.set(key);
  }
}

class Inverter {
  readonly nodes: Nodes;
  readonly last: Int32Array;
  private readonly groups: { node: number; start: number; end: number }[] = [];
  private readonly path: Int32Array; // which, by where it begins
  private readonly at: Int32Array; // how far it is followed
  private readonly oldAt: Int32Array; // the same two before a split
  private readonly oldPath: Int32Array;
  private readonly sizes: Uint32Array; // by key, 0 between splits
  private readonly next: Uint32Array; // by key: where its next path goes

  constructor(
    private readonly tree: Tree,
    ends: Int32Array,
  ) {
    this.nodes = new Nodes(3 * tree.count + 2);
    this.last = new Int32Array(tree.count);
    this.path = ends;
    this.at = ends.slice();
    this.oldAt = new Int32Array(ends.length);
    this.oldPath = new Int32Array(ends.length);
    let most = 0;
    for (const k of tree.key) if (k > most) most = k;
    this.sizes = new Uint32Array(most + 1);
    this.next = new Uint32Array(most + 1);
    if (ends.length) this.groups.push({ node: 0, start: 0, end: ends.length });
  }

  run(): void {
    for (let group; (group = this.groups.pop());)
      if (group.end - group.start === 1) {
        const { node, start } = group;
        this.last[this.path[start]] = this.nodes.addPath(
          node,
          this.at[start],
          this.tree,
        );
      } else this.split(group.node, group.start, group.end);
  }

  // Sorts the group's paths by their next key, each key's in their order.
  private split(node: number, start: number, end: number): void {
    const { key } = this.tree;
    const { at, path, sizes, next } = this;
    const keys: number[] = [];
    for (let i = start; i < end; i++) {
      const k = key[at[i]];
      if (sizes[k]++ === 0) keys.push(k);
      this.oldAt[i] = at[i];
      this.oldPath[i] = path[i];
    }
    let from = start;
    for (const k of keys) {
      next[k] = from;
      from += sizes[k];
    }
    for (let i = start; i < end; i++) {
      const to = next[key[this.oldAt[i]]]++;
      at[to] = this.oldAt[i];
      path[to] = this.oldPath[i];
    }
    from = start;
    for (const k of keys) {
      const to = from + sizes[k];
      sizes[k] = 0;
      this.advance(this.nodes.add(node, k), from, to);
      from = to;
    }
  }

  // One step up on each path; those that are at the root end here.
  private advance(node: number, start: number, end: number): void {
    let left = start;
    for (let i = start; i < end; i++) {
      const up = this.tree.parent[this.at[i]];
      if (up > 0) {
        this.at[left] = up;
        this.path[left++] = this.path[i];
      } else this.last[this.path[i]] = node;
    }
    if (left > start) this.groups.push({ node, start, end: left });
  }
}

// ends: the nodes of the tree at which a path begins, each once.
export function invert(tree: Tree, ends: Int32Array): Inverted {
  const inverter = new Inverter(tree, ends);
  inverter.run();
  const { parent, key, count } = inverter.nodes;
  return {
    parent: parent.subarray(0, count),
    key: key.subarray(0, count),
    last: inverter.last,
  };
}
