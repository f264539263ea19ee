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
    if (this.count === this.parent.length) {
      const { parent: parents, key: keys } = this;
      this.parent = new Int32Array(2 * this.count);
      this.parent.set(parents);
      this.key = new Uint32Array(2 * this.count);
      this.key.set(keys);
    }
    this.parent[this.count] = parent;
    this.key[this.count] = key;
    return this.count++;
  }
}

class Inverter {
  readonly nodes: Nodes;
  readonly last: Int32Array;
  private readonly groups: { node: number; start: number; end: number }[] = [];
  private readonly path: Int32Array; // which, by where it begins
  private readonly at: Int32Array; // how far it is followed
  private readonly sizes: Uint32Array; // by key, 0 between splits

  constructor(
    private readonly tree: Tree,
    ends: Int32Array,
  ) {
    this.nodes = new Nodes(2 * tree.count + 2);
    this.last = new Int32Array(tree.count);
    this.path = ends;
    this.at = ends.slice();
    const most = tree.key.reduce((m, key) => Math.max(m, key), 0);
    this.sizes = new Uint32Array(most + 1);
    if (ends.length) this.groups.push({ node: 0, start: 0, end: ends.length });
  }

  run(): void {
    for (let group; (group = this.groups.pop());)
      if (group.end - group.start === 1) this.follow(group.node, group.start);
      else this.split(group.node, group.start, group.end);
  }

  private follow(node: number, which: number): void {
    const { parent, key } = this.tree;
    let to = node;
    for (let n = this.at[which]; n > 0; n = parent[n])
      to = this.nodes.add(to, key[n]);
    this.last[this.path[which]] = to;
  }

  private split(node: number, start: number, end: number): void {
    const { key } = this.tree;
    const { at, path, sizes } = this;
    const keys: number[] = [];
    for (let i = start; i < end; i++)
      if (sizes[key[at[i]]]++ === 0) keys.push(key[at[i]]);
    const oldAt = at.slice(start, end);
    const oldPath = path.slice(start, end);
    const next = new Map<number, number>();
    let from = start;
    for (const k of keys) {
      next.set(k, from);
      from += sizes[k];
    }
    for (let i = 0; i < oldAt.length; i++) {
      const k = key[oldAt[i]];
      const to = next.get(k)!;
      next.set(k, to + 1);
      at[to] = oldAt[i];
      path[to] = oldPath[i];
    }
    from = start;
    for (const k of keys) {
      const child = this.nodes.add(node, k);
      this.advance(child, from, from + sizes[k]);
      from += sizes[k];
      sizes[k] = 0;
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
    parent: parent.slice(0, count),
    key: key.slice(0, count),
    last: inverter.last,
  };
}
