// SPDX-License-Identifier: MIT
// Paths: what of an inverted tree only one stack goes through, each path below a
// node that has nothing else below it. Their nodes come after all others, those
// of a path one after the other; their parents and keys are set when somebody
// asks, as there are very many and most are never shown.

import type { Tree } from "./tree";

export class Paths {
  readonly start: Int32Array; // the first node of each path, and the end
  private readonly below: Int32Array; // of each other node: its path + 1, or 0
  private readonly made: Uint8Array;

  constructor(
    private readonly from: Tree, // path `i` leads from begin[i] to its root
    readonly first: number, // the first node that is of a path
    readonly above: ArrayLike<number>, // what each path is below
    private readonly begin: ArrayLike<number>,
  ) {
    const depth = depths(from);
    this.start = new Int32Array(above.length + 1);
    this.below = new Int32Array(first);
    this.made = new Uint8Array(above.length);
    this.start[0] = first;
    for (let i = 0; i < above.length; i++) {
      this.start[i + 1] = this.start[i] + depth[begin[i]];
      this.below[above[i]] = i + 1;
    }
  }

  get end(): number {
    return this.start[this.start.length - 1];
  }

  // The children of a node, made; null: it is of no path and above none.
  children(tree: Tree, node: number): number[] | null {
    if (node >= this.first)
      return this.pathOf(node) === this.pathOf(node + 1) ? [node + 1] : [];
    const path = this.below[node] - 1;
    if (path < 0) return null;
    this.make(tree, path);
    return [this.start[path]];
  }

  // Makes the path that a node is of.
  reach(tree: Tree, node: number): void {
    if (node >= this.first) this.make(tree, this.pathOf(node));
  }

  makeAll(tree: Tree): void {
    for (let path = 0; path < this.made.length; path++) this.make(tree, path);
  }

  private make({ parent, key }: Tree, path: number): void {
    if (this.made[path]) return;
    this.made[path] = 1;
    let up = this.above[path];
    let at = this.begin[path];
    for (let n = this.start[path]; n < this.start[path + 1]; n++) {
      parent[n] = up;
      key[n] = this.from.key[at];
      up = n;
      at = this.from.parent[at];
    }
  }

  private pathOf(node: number): number {
    let low = 0;
    let high = this.start.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.start[middle] <= node) low = middle;
      else high = middle;
    }
    return low;
  }
}

function depths({ count, parent }: Tree): Uint32Array {
  const depth = new Uint32Array(count);
  for (let n = 1; n < count; n++) depth[n] = depth[parent[n]] + 1;
  return depth;
}
