// SPDX-License-Identifier: MIT
// Block sizes: how many blocks there are of each size, in powers of two, of the
// stacks that have a function.

import type { HeapStacks, Profile } from "../data/profile";

export interface SizeRow {
  power: number; // from 2^power bytes on, below twice that
  blocks: number;
  bytes: number;
}

// 1: the function is in the stack of this node; null: of any function.
function nodesWith(profile: Profile, f: number | null): Uint8Array {
  const { count, parent, function: functionOf } = profile.nodes;
  const has = new Uint8Array(count);
  if (f === null) return has.fill(1);
  for (let n = 1; n < count; n++)
    has[n] = functionOf[n] === f || has[parent[n]] ? 1 : 0;
  return has;
}

function addHeap(
  heap: HeapStacks,
  kind: string,
  wanted: Uint8Array,
  rows: Map<number, SizeRow>,
): void {
  const { stack, power, bytesOf, blocksOf } = heap.sizes;
  const bytes = bytesOf.get(kind);
  const blocks = blocksOf.get(kind);
  if (!bytes || !blocks) return;
  for (let i = 0; i < stack.length; i++) {
    if (!blocks[i] || !wanted[heap.node[stack[i]]]) continue;
    let row = rows.get(power[i]);
    if (!row)
      rows.set(power[i], (row = { power: power[i], blocks: 0, bytes: 0 }));
    row.blocks += blocks[i];
    row.bytes += bytes[i];
  }
}

// Of one heap, or of all (null): every power from the least to the greatest.
export function blockSizes(
  profile: Profile,
  at: number | null,
  kind: string,
  f: number | null,
): SizeRow[] {
  const found = new Map<number, SizeRow>();
  const wanted = nodesWith(profile, f);
  profile.heaps.forEach((heap, i) => {
    if (at === null || at === i) addHeap(heap, kind, wanted, found);
  });
  if (!found.size) return [];
  const powers = [...found.keys()];
  const rows: SizeRow[] = [];
  for (let p = Math.min(...powers); p <= Math.max(...powers); p++)
    rows.push(found.get(p) ?? { power: p, blocks: 0, bytes: 0 });
  return rows;
}
