// SPDX-License-Identifier: MIT
// Unfinished stacks: those that were cut or lost on the way stand below a
// root of their own, as in windlass's reports and exports: their first frame
// is no root. So a node may have copies; all that is told of nodes is told of
// them too.

import type { Functions, Locations, Nodes } from "./profile";
import type { Strings } from "./strings";

// How a stack is labelled: 0 is a whole one.
export const truncated = 1;
export const lost = 2;
export const noStack = 3;
const texts = ["", "[truncated]", "[lost]", "[no stack]"];

const endComplete = 0;
const endTruncated = 1;
const endFramePointerRoot = 7; // whole by convention

export function labelOfEnd(end: number, node: number): number {
  if (end === endComplete || end === endFramePointerRoot) return 0;
  if (!node) return noStack;
  return end === endTruncated ? truncated : lost;
}

export interface Stacks {
  functions: Functions;
  locations: Locations;
  nodes: Nodes;
}

export class Unfinished {
  private readonly parent: number[] = [];
  private readonly original: number[] = []; // of each copy; a root: -label
  private readonly copies = new Map<number, number>();
  private readonly copied = new Map<number, number>(); // whole stacks

  constructor(private readonly nodes: Nodes) {}

  // The copy of a node for stacks with this label.
  copy(node: number, label: number): number {
    const path: number[] = [];
    for (let n = node; n > 0; n = this.nodes.parent[n]) path.push(n);
    let at = this.child(0, -label, -label);
    for (let i = path.length - 1; i >= 0; i--)
      at = this.child(at, path[i], path[i] * texts.length + label);
    return at;
  }

  relabel(nodes: Uint32Array, label: (row: number) => number): void {
    for (let row = 0; row < nodes.length; row++) {
      const which = label(row);
      if (which) nodes[row] = this.known(nodes[row], which);
    }
  }

  private known(node: number, label: number): number {
    const key = node * texts.length + label;
    let copy = this.copied.get(key);
    if (copy === undefined)
      this.copied.set(key, (copy = this.copy(node, label)));
    return copy;
  }

  // With the copies at the end of all nodes.
  finish(stacks: Stacks, strings: Strings): Stacks {
    if (!this.parent.length) return stacks;
    const { functions: f, locations: l, nodes: n } = stacks;
    const names = texts.slice(1).map((text) => strings.add(text));
    const zero = names.map(() => 0);
    const noModule = names.map(() => 0xffffffff);
    const firstFunction = f.count;
    const firstLocation = l.function.length;
    const locationOf = (node: number) =>
      node < 0 ? firstLocation - node - 1 : n.location[node];
    const functions = {
      count: f.count + names.length,
      name: joined(f.name, names),
      file: joined(f.file, zero),
      line: joined(f.line, zero),
      module: joined(f.module, noModule),
      unnamed: joinedBytes(f.unnamed, zero),
    };
    const locations = {
      function: joined(
        l.function,
        names.map((_, i) => firstFunction + i),
      ),
      file: joined(l.file, zero),
      line: joined(l.line, zero),
      inlined: joinedBytes(l.inlined, zero),
    };
    const location = joined(n.location, this.original.map(locationOf));
    return {
      functions,
      locations,
      nodes: {
        count: location.length,
        parent: joined(n.parent, this.parent),
        location,
        how: joinedBytes(
          n.how,
          this.original.map((o) => (o < 0 ? 0xff : n.how[o])),
        ),
        function: location.map((at) => locations.function[at]),
      },
    };
  }

  private child(parent: number, original: number, key: number): number {
    let node = this.copies.get(key);
    if (node === undefined) {
      node = this.nodes.count + this.parent.length;
      this.parent.push(parent);
      this.original.push(original);
      this.copies.set(key, node);
    }
    return node;
  }
}

function joined(one: Uint32Array, other: number[]): Uint32Array<ArrayBuffer> {
  const all = new Uint32Array(one.length + other.length);
  all.set(one);
  all.set(other, one.length);
  return all;
}

function joinedBytes(one: Uint8Array, other: number[]): Uint8Array {
  const all = new Uint8Array(one.length + other.length);
  all.set(one);
  all.set(other, one.length);
  return all;
}
