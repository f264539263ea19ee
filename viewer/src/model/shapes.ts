// SPDX-License-Identifier: MIT
// Shapes: the trees that a profile's stacks can be merged to.

import type { Profile } from "../data/profile";
import { invert } from "./invert";
import { type Tree, TreeBuilder, treeOf } from "./tree";

export type ShapeKind = "down" | "up" | "module";

export interface Shape {
  kind: ShapeKind;
  focus: number | null; // a function: only stacks through it, from it on
  collapse: boolean; // recursion: a function stands once on each path
}

function merge(
  profile: Profile,
  keyOf: Uint32Array,
  focus: number | null,
  join: (builder: TreeBuilder, up: number, key: number) => number,
): Tree {
  const { count, parent, function: functionOf } = profile.nodes;
  const of = new Int32Array(count).fill(-1);
  const builder = new TreeBuilder(count);
  if (focus === null) of[0] = 0;
  for (let n = 1; n < count; n++) {
    const up = of[parent[n]];
    if (up >= 0) of[n] = join(builder, up, keyOf[n]);
    else if (functionOf[n] === focus) of[n] = builder.child(0, keyOf[n]);
  }
  return builder.finish(of);
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

export function topDown(profile: Profile, shape: Shape): Tree {
  const join = shape.collapse
    ? joinOnce
    : (b: TreeBuilder, up: number, key: number) => b.child(up, key);
  return merge(profile, profile.nodes.function, shape.focus, join);
}

// Frames of one module that follow each other are one frame.
export function byModule(profile: Profile, shape: Shape): Tree {
  const { module } = profile.functions;
  const keyOf = profile.nodes.function.map((f) => module[f]);
  const join = shape.collapse ? joinOnce : joinRun;
  return merge(profile, keyOf, shape.focus, join);
}

// Where a stack ends is where its inverted path begins; all of it weighs in
// the inverted path's last node, and so in each node above that.
export function bottomUp(profile: Profile, shape: Shape): Tree {
  const down = topDown(profile, shape);
  const weighs = weighed(profile);
  const used = new Uint8Array(down.count);
  for (let n = 0; n < weighs.length; n++)
    if (weighs[n] && down.of[n] > 0) used[down.of[n]] = 1;
  const ends = new Int32Array(used.reduce((sum, one) => sum + one, 0));
  for (let n = 1, i = 0; n < down.count; n++) if (used[n]) ends[i++] = n;
  const { parent, key, last } = invert(down, ends);
  return treeOf(
    parent,
    key,
    down.of.map((n) => (n < 0 ? -1 : last[n])),
  );
}

// Which nodes are the end of a stack.
function weighed(profile: Profile): Uint8Array {
  const weighs = new Uint8Array(profile.nodes.count);
  const { samples, blocks, heaps } = profile;
  for (const nodes of [samples.node, blocks.node, ...heaps.map((h) => h.node)])
    for (let i = 0; i < nodes.length; i++) weighs[nodes[i]] = 1;
  return weighs;
}

export function makeTree(profile: Profile, shape: Shape): Tree {
  switch (shape.kind) {
    case "down":
      return topDown(profile, shape);
    case "up":
      return bottomUp(profile, shape);
    case "module":
      return byModule(profile, shape);
  }
}
