// SPDX-License-Identifier: MIT
// Invert: the paths of a tree from where they end up to the root, merged. A
// group of paths that agree so far is split by their next key; a path alone
// needs no more comparing, and most are soon alone. The nodes of what is left of
// it have numbers, but are made when they are shown.

import { Paths } from "./paths";
import type { Tree } from "./tree";

export interface Inverted {
  parent: Int32Array;
  key: Uint32Array;
  last: Int32Array; // for each node of the tree that begins a path
  paths: Paths;
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
    if (this.count === this.parent.length) this.grow();
    this.parent[this.count] = parent;
    this.key[this.count] = key;
    return this.count++;
  }

  private grow(): void {
    const room = 2 * this.count;
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
  readonly above: number[] = []; // of each path alone: the node it hangs below,
  readonly begin: number[] = []; // the tree's node at which what is left begins,
  readonly of: number[] = []; // and the one at which all of it began
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
    this.nodes = new Nodes(tree.count + 2);
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
        this.above.push(group.node);
        this.begin.push(this.at[group.start]);
        this.of.push(this.path[group.start]);
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
  const { nodes, last, above, begin, of } = inverter;
  const paths = new Paths(tree, nodes.count, above, begin);
  for (let i = 0; i < of.length; i++) last[of[i]] = paths.start[i + 1] - 1;
  const parent = new Int32Array(paths.end);
  const key = new Uint32Array(paths.end);
  parent.set(nodes.parent.subarray(0, nodes.count));
  key.set(nodes.key.subarray(0, nodes.count));
  return { parent, key, last, paths };
}
