// SPDX-License-Identifier: MIT
// Shapes: the trees that a profile's stacks can be merged to.

import type { Profile } from "../data/profile";
import { invert } from "./invert";
import { isStartUp } from "./start_up";
import { type Tree, TreeBuilder, treeOf } from "./tree";

export type ShapeKind = "down" | "up" | "callers" | "module";

export interface Shape {
  kind: ShapeKind;
  // A function: only stacks through it, from it on; of callers, up from it.
  focus: number | null;
  collapse: boolean; // recursion: a function stands once on each path
  merged?: number[]; // functions that are left out: their cost is the callers'
  dropped?: number[]; // functions whose stacks are left out
  leaves?: number[]; // functions that have what they call in their own cost
  fold?: boolean; // start-up frames above the only one that they call
}

const gone = -2; // a node of a stack that is left out

function flagsOf(count: number, functions: number[] | undefined): Uint8Array {
  const flags = new Uint8Array(count);
  for (const f of functions ?? []) if (f < count) flags[f] = 1;
  return flags;
}

function merge(
  profile: Profile,
  keyOf: Uint32Array,
  shape: Shape,
  join: (builder: TreeBuilder, up: number, key: number) => number,
): Tree {
  const { count, parent, function: functionOf } = profile.nodes;
  const { focus } = shape;
  const flags = (list?: number[]) => flagsOf(profile.functions.count, list);
  const merged = flags(shape.merged);
  const dropped = flags(shape.dropped);
  const leaves = flags(shape.leaves);
  const inLeaf = new Uint8Array(count);
  const of = new Int32Array(count).fill(-1);
  const builder = new TreeBuilder(count);
  if (focus === null) of[0] = 0;
  for (let n = 1; n < count; n++) {
    const f = functionOf[n];
    const up = of[parent[n]];
    inLeaf[n] = inLeaf[parent[n]];
    if (up === gone || dropped[f]) of[n] = gone;
    else if (inLeaf[n]) of[n] = up;
    else if (up >= 0) of[n] = merged[f] ? up : join(builder, up, keyOf[n]);
    else if (f === focus) of[n] = builder.child(0, keyOf[n]);
    if (leaves[f] && of[n] >= 0) inLeaf[n] = 1;
  }
  return builder.finish(of);
}

// Whether a root would be folded at all: most of the work is spared if not.
function startsUp(profile: Profile, { key, childStart, child }: Tree): boolean {
  return child
    .subarray(childStart[0], childStart[1])
    .some((n) => isStartUp(profile, key[n]));
}

// Without the start-up frames that hold nothing but one other frame.
function foldStart(profile: Profile, tree: Tree): Tree {
  if (!startsUp(profile, tree)) return tree;
  const weighs = weighed(profile);
  const ends = new Uint8Array(tree.count);
  for (let n = 0; n < weighs.length; n++)
    if (weighs[n] && tree.of[n] >= 0) ends[tree.of[n]] = 1;
  const builder = new TreeBuilder(tree.count);
  const to = new Int32Array(tree.count);
  for (let n = 1; n < tree.count; n++) {
    const up = to[tree.parent[n]];
    const one = tree.childStart[n + 1] - tree.childStart[n] === 1;
    const folds = up === 0 && one && !ends[n];
    to[n] =
      folds && isStartUp(profile, tree.key[n])
        ? 0
        : builder.child(up, tree.key[n]);
  }
  return builder.finish(tree.of.map((n) => (n < 0 ? n : to[n])));
}

// The node for key below up, or the one on the way to up that is it already.
function joinOnce(builder: TreeBuilder, up: number, key: number): number {
  for (let n = up; n > 0; n = builder.parent[n])
    if (builder.key[n] === key) return n;
  return builder.child(up, key);
}

function joinRun(builder: TreeBuilder, up: number, key: number): number {
  if (up > 0 && builder.key[up] === key) return up;
  return builder.child(up, key);
}

// Another tree of the same profile, which may be known already.
type TreeOf = (shape: Shape) => Tree;

export function topDown(profile: Profile, shape: Shape, treeOf: TreeOf): Tree {
  if (shape.fold)
    return foldStart(profile, treeOf({ ...shape, fold: false }));
  const join = shape.collapse
    ? joinOnce
    : (b: TreeBuilder, up: number, key: number) => b.child(up, key);
  return merge(profile, profile.nodes.function, shape, join);
}

// Frames of one module that follow each other are one frame.
export function byModule(profile: Profile, shape: Shape): Tree {
  const { module } = profile.functions;
  const keyOf = profile.nodes.function.map((f) => module[f]);
  const join = shape.collapse ? joinOnce : joinRun;
  return merge(profile, keyOf, shape, join);
}

// Where a stack ends is where its inverted path begins; all of it weighs in
// the inverted path's last node, and so in each node above that.
export function bottomUp(
  profile: Profile,
  shape: Shape,
  treeOf: TreeOf,
): Tree {
  const down = treeOf({ ...shape, kind: "down", fold: false });
  return upFrom(profile, down, down.of);
}

// The paths up from the innermost call of the focus.
export function callersOf(
  profile: Profile,
  shape: Shape,
  treeOf: TreeOf,
): Tree {
  const { count, parent, function: functionOf } = profile.nodes;
  const down = treeOf({ ...shape, kind: "down", focus: null, fold: false });
  const begin = new Int32Array(count).fill(-1);
  for (let n = 1; n < count; n++)
    begin[n] = functionOf[n] === shape.focus ? down.of[n] : begin[parent[n]];
  for (let n = 1; n < count; n++) if (down.of[n] < 0) begin[n] = -1;
  return upFrom(profile, down, begin);
}

// begin: for each node of the profile the node of `down` where its path
// begins; below 0: it has none.
function upFrom(profile: Profile, down: Tree, begin: Int32Array): Tree {
  const weighs = weighed(profile);
  const used = new Uint8Array(down.count);
  for (let n = 0; n < weighs.length; n++)
    if (weighs[n] && begin[n] > 0) used[begin[n]] = 1;
  const ends = new Int32Array(used.reduce((sum, one) => sum + one, 0));
  for (let n = 1, i = 0; n < down.count; n++) if (used[n]) ends[i++] = n;
  const { parent, key, last, paths } = invert(down, ends);
  return treeOf(
    parent,
    key,
    begin.map((n) => (n < 0 ? -1 : last[n])),
    paths,
  );
}

// Which nodes are the end of a stack.
function weighed(profile: Profile): Uint8Array {
  const weighs = new Uint8Array(profile.nodes.count);
  const { sums, heaps } = profile;
  for (const nodes of [sums.node, ...heaps.map((h) => h.node)])
    for (let i = 0; i < nodes.length; i++) weighs[nodes[i]] = 1;
  return weighs;
}

export function makeTree(
  profile: Profile,
  shape: Shape,
  treeOf: TreeOf = (other) => makeTree(profile, other),
): Tree {
  switch (shape.kind) {
    case "down":
      return topDown(profile, shape, treeOf);
    case "up":
      return bottomUp(profile, shape, treeOf);
    case "callers":
      return shape.focus === null
        ? bottomUp(profile, shape, treeOf)
        : callersOf(profile, shape, treeOf);
    case "module":
      return byModule(profile, shape);
  }
}
