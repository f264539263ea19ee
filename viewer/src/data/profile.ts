// SPDX-License-Identifier: MIT
// Profile: a page's data as typed arrays. Nodes are the stacks: each has a
// parent of a smaller number, and node 0 is the root above all roots.

import type { Columns } from "./columns";
import type { Head, HeapInfo, SnapshotInfo } from "./head";
import { type Held, readHeld } from "./held";
import { type MemoryReports, readMemory } from "./memory";
import { Strings } from "./strings";
import { orderByThread, type Spans } from "./spans";
import { labelOfEnd, Unfinished } from "./unfinished";

export interface Functions {
  count: number;
  name: Uint32Array;
  file: Uint32Array;
  line: Uint32Array;
  module: Uint32Array;
  unnamed: Uint8Array;
}

export interface Locations {
  function: Uint32Array;
  file: Uint32Array;
  line: Uint32Array;
  inlined: Uint8Array;
}

export interface Nodes {
  count: number;
  parent: Uint32Array;
  location: Uint32Array;
  how: Uint8Array;
  function: Uint32Array; // of its location
}

export interface Samples {
  count: number;
  thread: Uint32Array;
  time: Float64Array; // us since the recording's start
  node: Uint32Array;
  cpu: Float64Array; // us
  end: Uint8Array;
  of: Spans; // each thread's, by time
}

export interface Blocks {
  count: number;
  start: Float64Array; // us
  duration: Float64Array; // us
  node: Uint32Array;
  waiting: Uint8Array;
  end: Uint8Array;
  of: Spans;
}

export interface Marks {
  count: number;
  time: Float64Array;
  duration: Float64Array;
  text: Uint32Array;
  missed: Uint8Array;
  of: Spans;
}

// What processes were resident, by their memory event logs.
export interface Sizes {
  process: Uint32Array;
  time: Float64Array; // us
  resident: Float64Array; // bytes
}

// The blocks of a row of the stacks whose bytes are from 2^power on, below
// twice that.
export interface BlockSizes {
  stack: Uint32Array;
  power: Uint32Array;
  bytesOf: Map<string, Float64Array>;
  blocksOf: Map<string, Float64Array>;
}

// What lived at it is in rows of the heap's `lived`.
export interface Snapshot extends SnapshotInfo {
  from: number;
  to: number;
}

export interface HeapStacks {
  info: HeapInfo;
  time: Float64Array; // us; of the curve
  bytes: Float64Array;
  blocks: Float64Array;
  node: Uint32Array;
  label: Uint8Array;
  kinds: string[]; // live, peak, all, temporary, unreported, twice
  bytesOf: Map<string, Float64Array>;
  blocksOf: Map<string, Float64Array>;
  sizes: BlockSizes;
  snapshots: Snapshot[]; // in order
  lived: { stack: Uint32Array; bytes: Float64Array; blocks: Float64Array };
  retained: Held; // empty: the heap was not scanned
  chains: Held;
}

// The samples of stacks, by their recording and how walks ended. Stacks of
// blocks alone have none.
export interface Sums {
  recording: Uint8Array;
  node: Uint32Array;
  samples: Float64Array;
  cpu: Float64Array; // us
}

export interface Profile {
  head: Head;
  sums: Sums; // known before samples and blocks are
  isWhole: boolean; // samples and blocks are there
  hasTime: boolean; // else it tells of heaps alone
  strings: Strings;
  functions: Functions;
  locations: Locations;
  nodes: Nodes;
  samples: Samples;
  blocks: Blocks;
  marks: Marks;
  pauses: { recording: Uint32Array; start: Float64Array; end: Float64Array };
  sizes: Sizes;
  heaps: HeapStacks[];
  memory: MemoryReports | null;
  duration: number; // us, of the longest recording
}

export function hasTime(profile: Profile): boolean {
  return profile.hasTime;
}

function readFunctions(columns: Columns): Functions {
  const name = columns.u32("functions.name");
  return {
    count: name.length,
    name,
    file: columns.u32("functions.file"),
    line: columns.u32("functions.line"),
    module: columns.u32("functions.module"),
    unnamed: columns.u8("functions.unnamed"),
  };
}

function readNodes(columns: Columns, locations: Locations): Nodes {
  const location = columns.u32("nodes.location");
  return {
    count: location.length,
    parent: columns.u32("nodes.parent"),
    location,
    how: columns.u8("nodes.how"),
    function: location.map((l) => locations.function[l]),
  };
}

function noSpans(threads: number): Spans {
  return { start: new Uint32Array(threads + 1), order: new Uint32Array(0) };
}

function noSamples(threads: number): Samples {
  return {
    count: 0,
    thread: new Uint32Array(0),
    time: new Float64Array(0),
    node: new Uint32Array(0),
    cpu: new Float64Array(0),
    end: new Uint8Array(0),
    of: noSpans(threads),
  };
}

function noBlocks(threads: number): Blocks {
  return {
    count: 0,
    start: new Float64Array(0),
    duration: new Float64Array(0),
    node: new Uint32Array(0),
    waiting: new Uint8Array(0),
    end: new Uint8Array(0),
    of: noSpans(threads),
  };
}

function readMarks(columns: Columns, head: Head): Marks {
  const thread = columns.u32("marks.thread");
  const of = orderByThread(thread, head.threads.length);
  return {
    count: thread.length,
    time: columns.f64("marks.time"),
    duration: columns.f64("marks.duration"),
    text: columns.u32("marks.text"),
    missed: columns.u8("marks.missed"),
    of,
  };
}

function readSnapshots(info: HeapInfo, snapshot: Uint32Array): Snapshot[] {
  let at = 0;
  return (info.snapshots ?? []).map((s) => {
    const from = at;
    while (at < snapshot.length && snapshot[at] <= s.number) at++;
    return { ...s, from, to: at };
  });
}

function readHeap(columns: Columns, info: HeapInfo, at: number): HeapStacks {
  const prefix = `heap${at}.`;
  const stem = `${prefix}stacks.bytes_`;
  const kinds = columns
    .names()
    .filter((name) => name.startsWith(stem))
    .map((name) => name.slice(stem.length));
  const perKind = (unit: string, rows = "stacks") =>
    new Map(
      kinds.map((kind) => [
        kind,
        columns.f64(`${prefix}${rows}.${unit}_${kind}`),
      ]),
    );
  return {
    info,
    time: columns.f64(`${prefix}curve.time`),
    bytes: columns.f64(`${prefix}curve.bytes`),
    blocks: columns.f64(`${prefix}curve.blocks`),
    node: columns.u32(`${prefix}stacks.node`),
    label: columns.u8(`${prefix}stacks.label`),
    kinds,
    bytesOf: perKind("bytes"),
    blocksOf: perKind("blocks"),
    sizes: {
      stack: columns.u32(`${prefix}sizes.stack`),
      power: columns.u32(`${prefix}sizes.power`),
      bytesOf: perKind("bytes", "sizes"),
      blocksOf: perKind("blocks", "sizes"),
    },
    snapshots: readSnapshots(info, columns.u32(`${prefix}lived.snapshot`)),
    lived: {
      stack: columns.u32(`${prefix}lived.stack`),
      bytes: columns.f64(`${prefix}lived.bytes`),
      blocks: columns.f64(`${prefix}lived.blocks`),
    },
    retained: readHeld(columns, `${prefix}retained.`),
    chains: readHeld(columns, `${prefix}chains.`),
  };
}

// Findings tell of nodes too.
function relabelHeap(heap: HeapStacks, unfinished: Unfinished): void {
  const before = heap.node.slice();
  unfinished.relabel(heap.node, (row) => heap.label[row] ?? 0);
  for (const finding of heap.info.findings ?? []) {
    const row = before.indexOf(finding.node ?? -1);
    if (row >= 0) finding.node = heap.node[row];
  }
}

function readSums(columns: Columns, unfinished: Unfinished): Sums {
  const node = columns.u32("sums.node");
  const end = columns.u8("sums.end");
  unfinished.relabel(node, (row) => labelOfEnd(end[row], node[row]));
  return {
    recording: columns.u8("sums.recording"),
    node,
    samples: columns.f64("sums.samples"),
    cpu: columns.f64("sums.cpu"),
  };
}

export interface Reading {
  profile: Profile; // without samples and blocks
  // Adds these in steps, between which the page may be drawn.
  addTimes(later: Columns): Generator<void>;
}

export function readProfile(head: Head, columns: Columns): Reading {
  const locations = {
    function: columns.u32("locations.function"),
    file: columns.u32("locations.file"),
    line: columns.u32("locations.line"),
    inlined: columns.u8("locations.inlined"),
  };
  const strings = new Strings(columns);
  const nodes = readNodes(columns, locations);
  const heaps = head.heaps.map((info, at) => readHeap(columns, info, at));
  const unfinished = new Unfinished(nodes);
  const sums = readSums(columns, unfinished);
  for (const heap of heaps) relabelHeap(heap, unfinished);
  const functions = readFunctions(columns);
  const duration = head.recordings.map((r) => r.duration_ns / 1000);
  const threads = head.threads.length;
  const profile: Profile = {
    head,
    sums,
    isWhole: false,
    hasTime: sums.node.length > 0,
    strings,
    ...unfinished.finish({ functions, locations, nodes }, strings),
    samples: noSamples(threads),
    blocks: noBlocks(threads),
    marks: readMarks(columns, head),
    pauses: {
      recording: columns.u32("pauses.recording"),
      start: columns.f64("pauses.start"),
      end: columns.f64("pauses.end"),
    },
    sizes: {
      process: columns.u32("sizes.process"),
      time: columns.f64("sizes.time"),
      resident: columns.f64("sizes.resident"),
    },
    heaps,
    memory: readMemory(head, columns),
    duration: Math.max(1, ...duration),
  };
  return {
    profile,
    addTimes: (later) => addTimes(profile, later, unfinished),
  };
}

function* addTimes(
  profile: Profile,
  later: Columns,
  unfinished: Unfinished,
): Generator<void> {
  const samples = noSamples(0);
  const blocks = noBlocks(0);
  yield* readSamples(samples, later, profile.head.threads.length);
  yield* readBlocks(blocks, later, profile.head.threads.length);
  for (const { node, end } of [samples, blocks]) {
    unfinished.relabel(node, (row) => labelOfEnd(end[row], node[row]));
    yield;
  }
  Object.assign(profile, { samples, blocks, isWhole: true });
}

function* readSamples(
  samples: Samples,
  columns: Columns,
  threads: number,
): Generator<void> {
  samples.thread = columns.u32("samples.thread");
  samples.count = samples.thread.length;
  yield;
  samples.of = orderByThread(samples.thread, threads);
  yield;
  samples.time = columns.f64("samples.time");
  yield;
  samples.node = columns.u32("samples.node");
  yield;
  samples.cpu = columns.f64("samples.cpu");
  yield;
  samples.end = columns.u8("samples.end");
}

function* readBlocks(
  blocks: Blocks,
  columns: Columns,
  threads: number,
): Generator<void> {
  const thread = columns.u32("blocks.thread");
  blocks.count = thread.length;
  blocks.of = orderByThread(thread, threads);
  yield;
  blocks.start = columns.f64("blocks.start");
  blocks.duration = columns.f64("blocks.duration");
  yield;
  blocks.node = columns.u32("blocks.node");
  blocks.waiting = columns.u8("blocks.waiting");
  blocks.end = columns.u8("blocks.end");
}
