// SPDX-License-Identifier: MIT
// Held: trees of the places of a scanned heap. Nodes are numbered parents
// first; node 0 is above all.

import type { Columns } from "./columns";

export interface Held {
  count: number;
  parent: Uint32Array;
  place: Uint32Array; // a string
  blocks: Float64Array; // of the place, not of those below
  bytes: Float64Array;
  offset: Float64Array; // bytes, of the pointer in what is above
  how: Uint32Array; // bits
}

export const isRoot = 1;
export const isConservative = 2;
export const differs = 4; // the offset
export const repeats = 8; // blocks of the place hold each other
export const hasPointer = 16;

export function readHeld(columns: Columns, prefix: string): Held {
  const parent = columns.u32(`${prefix}parent`);
  return {
    count: parent.length,
    parent,
    place: columns.u32(`${prefix}place`),
    blocks: columns.f64(`${prefix}blocks`),
    bytes: columns.f64(`${prefix}bytes`),
    offset: columns.f64(`${prefix}offset`),
    how: columns.u32(`${prefix}how`),
  };
}
