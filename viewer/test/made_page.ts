// SPDX-License-Identifier: MIT
// Made page: data as windlass view puts it in a page, from a few calls.

import { gzipSync } from "node:zlib";
import { Columns } from "../src/data/columns";
import type { ColumnInfo, Head, HeapInfo } from "../src/data/head";
import { type Profile, readProfile } from "../src/data/profile";

// Rows of a tree of places; node 0 is added.
export interface MadeHeld {
  parent: number;
  place: string;
  blocks: number;
  bytes: number;
  offset: number;
  how: number;
}

interface MadeHeap {
  info: HeapInfo;
  curve: [number, number, number][]; // us, bytes, blocks
  stacks: { node: number; [column: string]: number }[];
  sizes?: { stack: number; power: number; [column: string]: number }[];
  // By snapshot.
  lived?: { snapshot: number; stack: number; bytes: number; blocks: number }[];
  retained?: MadeHeld[];
  chains?: MadeHeld[];
}

// A part of reported memory, with its amounts by report; NaN: none.
export interface MadePart {
  process: number;
  parent: number; // 1 + index
  name: string;
  unit: number;
  amounts: number[];
}

export interface MadeFunction {
  name: string;
  module?: number;
  file?: string;
  line?: number;
}

export class MadePage {
  readonly head: Head;
  readonly nodes: { parent: number; location: number; how: number }[] = [];
  readonly samples: number[][] = []; // thread, time, node, cpu, end
  readonly blocks: number[][] = []; // thread, start, duration, node, waiting
  readonly marks: number[][] = []; // thread, time, duration, text, missed
  readonly sizes: number[][] = []; // process, time, resident
  readonly parts: MadePart[] = [];
  private readonly strings = new Map<string, number>([["", 0]]);
  private readonly functions = new Map<string, number>();
  private readonly functionRows: number[][] = [];
  private readonly locations = new Map<string, number>();
  private readonly locationRows: number[][] = [];
  private readonly children = new Map<string, number>();
  private readonly heaps: MadeHeap[] = [];

  constructor(recordings = 1, modules = ["app", "libc.so.6"]) {
    this.head = {
      format: 2,
      program: "windlass test",
      title: "made",
      recordings: Array.from({ length: recordings }, (_, i) => ({
        file: `made${i}.wndl`,
        command: ["app", "--fast"],
        duration_ns: 1e9,
        interval_ns: 1e6,
        losses: [{ reason: "the ring was full", count: 3 }],
        ends: [{ end: 0, text: "complete", count: 10 }],
        summary: ["Made by a test."],
      })),
      processes: [],
      threads: [],
      modules: modules.map((name) => ({
        name,
        path: "/usr/lib/" + name,
        state: "symbol table",
      })),
      heaps: [],
      sources: [],
      columns: [],
    };
    this.nodes.push({ parent: 0, location: 0, how: 0 });
    this.location({ name: "" });
  }

  string(text: string): number {
    return added(this.strings, text, () => {});
  }

  process(recording = 0, name = "app"): number {
    return (
      this.head.processes.push({
        recording,
        pid: 100 + this.head.processes.length,
        parent: null,
        name,
        command: name,
        start_ns: 0,
        end_ns: 1e9,
      }) - 1
    );
  }

  thread(process: number, name: string): number {
    return (
      this.head.threads.push({
        process,
        tid: 1000 + this.head.threads.length,
        name,
        start_ns: 0,
        end_ns: 1e9,
        unsampled_cpu_ns: 0,
      }) - 1
    );
  }

  function({ name, module = 0, file = "", line = 0 }: MadeFunction): number {
    return added(this.functions, name, () =>
      this.functionRows.push([
        this.string(name),
        this.string(file),
        line,
        module,
        0,
      ]),
    );
  }

  location(f: MadeFunction, line = f.line ?? 0): number {
    return added(this.locations, `${line} ${f.name}`, () =>
      this.locationRows.push([
        this.function(f),
        this.string(f.file ?? ""),
        line,
        0,
      ]),
    );
  }

  child(parent: number, f: MadeFunction, line?: number): number {
    const location = this.location(f, line);
    const before = this.nodes.length;
    const key = `${parent} ${location}`;
    const known = this.children.get(key);
    if (known !== undefined) return known;
    this.nodes.push({ parent, location, how: 1 });
    this.children.set(key, before);
    return before;
  }

  // "main;work;inner", each with what is known of it in `known`.
  stack(path: string, known: Record<string, MadeFunction> = {}): number {
    return path
      .split(";")
      .reduce((n, name) => this.child(n, known[name] ?? { name }), 0);
  }

  heap(heap: MadeHeap): void {
    this.heaps.push(heap);
    this.head.heaps.push(heap.info);
  }

  source(file: string, text: string): void {
    this.head.sources.push({
      file: this.string(file),
      text: this.string(text),
    });
  }

  code(f: MadeFunction, lines: string[]): void {
    (this.head.code ??= []).push({
      function: this.function(f),
      text: this.string(lines.join("\n") + "\n"),
    });
  }

  encode(): { head: Head; data: Uint8Array; later: Uint8Array } {
    this.samples.sort((s, t) => s[0] - t[0] || s[1] - t[1]);
    const file = new ColumnFile();
    const later = new ColumnFile(true);
    this.nameLater();
    this.encodeNames(file);
    const row = (rows: number[][], at: number) => rows.map((r) => r[at]);
    file.add(
      "nodes.parent",
      "u32",
      this.nodes.map((n) => n.parent),
      true,
    );
    file.add(
      "nodes.location",
      "u32",
      this.nodes.map((n) => n.location),
    );
    file.add(
      "nodes.how",
      "u8",
      this.nodes.map((n) => n.how),
    );
    later.add("samples.thread", "u32", row(this.samples, 0), true);
    later.addFit("samples.time", row(this.samples, 1), true);
    later.add("samples.node", "u32", row(this.samples, 2), true);
    later.add("samples.cpu", "u32", row(this.samples, 3));
    later.add("samples.end", "u8", row(this.samples, 4));
    ["thread", "start", "duration", "node"].forEach((name, i) =>
      later.addFit(`blocks.${name}`, row(this.blocks, i)),
    );
    later.add("blocks.waiting", "u8", row(this.blocks, 4));
    later.add("blocks.end", "u8", row(this.blocks, 5));
    this.encodeSums(file);
    ["thread", "time", "duration", "text"].forEach((name, i) =>
      file.add(`marks.${name}`, "u32", row(this.marks, i)),
    );
    file.add("marks.missed", "u8", row(this.marks, 4));
    ["process", "time", "resident"].forEach((name, i) =>
      file.addFit(`sizes.${name}`, row(this.sizes, i), true),
    );
    this.heaps.forEach((heap, i) => {
      encodeHeap(file, `heap${i}.`, heap);
      this.encodeHeld(file, `heap${i}.retained.`, heap.retained);
      this.encodeHeld(file, `heap${i}.chains.`, heap.chains);
    });
    if (this.head.memory) this.encodeMemory(file);
    this.head.columns = [...file.infos, ...later.infos];
    return { head: this.head, data: file.data(), later: later.data() };
  }

  profile(): Profile {
    const { head, data, later } = this.encode();
    const reading = readProfile(head, new Columns(head.columns, data));
    const steps = reading.addTimes(new Columns(head.columns, later, true));
    while (!steps.next().done);
    return reading.profile;
  }

  private encodeSums(file: ColumnFile): void {
    const sums = new Map<string, number[]>();
    const add = (thread: number, node: number, end: number, cpu: number | null) => {
      const { recording } =
        this.head.processes[this.head.threads[thread].process];
      const key = [recording, node, end ?? 0].join();
      const row = sums.get(key) ?? [recording, node, end ?? 0, 0, 0];
      sums.set(key, row);
      row[3] += cpu === null ? 0 : 1;
      row[4] += cpu ?? 0;
    };
    for (const [thread, , node, cpu, end] of this.samples)
      add(thread, node, end, cpu);
    for (const [thread, , , node, , end] of this.blocks)
      add(thread, node, end, null);
    ["recording", "node", "end", "samples", "cpu"].forEach((name, i) => {
      const values = [...sums.values()].map((row) => row[i]);
      if (i === 0 || i === 2) file.add(`sums.${name}`, "u8", values);
      else file.addFit(`sums.${name}`, values, i === 1);
    });
  }

  // Strings that only later columns have.
  private nameLater(): void {
    for (const { retained, chains } of this.heaps)
      for (const held of [...(retained ?? []), ...(chains ?? [])])
        this.string(held.place);
    for (const part of this.parts) this.string(part.name);
  }

  private encodeHeld(file: ColumnFile, prefix: string, rows?: MadeHeld[]) {
    if (!rows) return;
    const top = { parent: 0, place: "", blocks: 0, bytes: 0, offset: 0, how: 0 };
    const all = [top, ...rows].map((held) => ({
      ...held,
      place: this.string(held.place),
    }));
    for (const name of Object.keys(top) as (keyof typeof top)[])
      file.addFit(
        prefix + name,
        all.map((held) => Number(held[name])),
      );
  }

  private encodeMemory(file: ColumnFile): void {
    const { parts } = this;
    for (const name of ["process", "parent", "unit"] as const)
      file.addFit(
        `memory.${name}`,
        parts.map((part) => part[name]),
      );
    for (const name of ["name", "description"])
      file.addFit(
        `memory.${name}`,
        parts.map((part) => this.string(part.name)),
      );
    const values = this.head.memory!.reports.flatMap((_, report) =>
      parts.flatMap(({ amounts }, part) =>
        Number.isNaN(amounts[report])
          ? []
          : [[report, part, Math.abs(amounts[report]), Number(amounts[report] < 0)]],
      ),
    );
    ["report", "part", "size", "how"].forEach((name, i) =>
      file.addFit(
        `memory.values.${name}`,
        values.map((value) => value[i]),
        i < 2,
      ),
    );
  }

  private encodeNames(file: ColumnFile): void {
    const texts = [...this.strings.keys()].map((t) => Buffer.from(t));
    let end = 0;
    file.add("strings.bytes", "u8", [...Buffer.concat(texts)]);
    file.add(
      "strings.ends",
      "u32",
      texts.map((t) => (end += t.length)),
      true,
    );
    const names = ["name", "file", "line", "module"];
    names.forEach((name, i) =>
      file.add(
        `functions.${name}`,
        "u32",
        this.functionRows.map((r) => r[i]),
      ),
    );
    file.add(
      "functions.unnamed",
      "u8",
      this.functionRows.map((r) => r[4]),
    );
    ["function", "file", "line"].forEach((name, i) =>
      file.add(
        `locations.${name}`,
        "u32",
        this.locationRows.map((r) => r[i]),
      ),
    );
    file.add(
      "locations.inlined",
      "u8",
      this.locationRows.map((r) => r[3]),
    );
  }
}

function added(map: Map<string, number>, key: string, add: () => unknown) {
  const known = map.get(key);
  if (known !== undefined) return known;
  const id = map.size;
  map.set(key, id);
  add();
  return id;
}

function encodeHeap(file: ColumnFile, prefix: string, heap: MadeHeap): void {
  const curve = (at: number) => heap.curve.map((point) => point[at]);
  file.add(prefix + "curve.time", "u32", curve(0), true);
  file.add(prefix + "curve.bytes", "f64", curve(1));
  file.add(prefix + "curve.blocks", "f64", curve(2));
  file.add(
    prefix + "stacks.node",
    "u32",
    heap.stacks.map((s) => s.node),
  );
  for (const name of Object.keys(heap.stacks[0] ?? {}))
    if (name !== "node")
      file.add(
        `${prefix}stacks.${name}`,
        "f64",
        heap.stacks.map((s) => s[name]),
      );
  for (const name of Object.keys(heap.sizes?.[0] ?? {}))
    file.addFit(
      `${prefix}sizes.${name}`,
      heap.sizes!.map((s) => s[name]),
    );
  for (const name of ["snapshot", "stack", "bytes", "blocks"] as const)
    file.addFit(
      `${prefix}lived.${name}`,
      (heap.lived ?? []).map((l) => l[name]),
    );
}

const arrays = { u8: Uint8Array, u32: Uint32Array, f64: Float64Array };

// All wide columns are stored in planes, as windlass does it.
export class ColumnFile {
  constructor(private readonly later = false) {}

  readonly infos: ColumnInfo[] = [];
  private readonly parts: Uint8Array[] = [];
  private size = 0;

  // Of the type that windlass chooses.
  addFit(name: string, values: number[], delta = false): void {
    const fit = values.every((value) => value < 2 ** 32);
    this.add(name, fit ? "u32" : "f64", values, delta);
  }

  add(
    name: string,
    type: keyof typeof arrays,
    values: number[],
    delta = false,
  ): void {
    const stored = delta
      ? values.map((value, i) => value - (i ? values[i - 1] : 0))
      : values;
    const array = arrays[type].from(stored);
    const bytes = new Uint8Array(array.buffer);
    const width = array.BYTES_PER_ELEMENT;
    const planes = new Uint8Array((bytes.length + 7) & ~7);
    for (let i = 0; i < bytes.length; i++)
      planes[(i % width) * array.length + Math.floor(i / width)] = bytes[i];
    const { length } = array;
    this.infos.push({
      name,
      type,
      length,
      offset: this.size,
      delta,
      planes: width > 1,
      later: this.later,
    });
    this.parts.push(planes);
    this.size += planes.length;
  }

  data(): Uint8Array {
    return Buffer.concat(this.parts);
  }
}

// The page: a template with the data in its place.
export function fillPage(template: string, made: MadePage): string {
  const { head, data, later } = made.encode();
  const json = JSON.stringify(head)
    .replaceAll("<", "\\u003c")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029");
  const elements =
    `<script type="application/json" id="windlass-head">${json}</script>\n` +
    '<script type="text/plain" id="windlass-data">' +
    gzipSync(data).toString("base64") +
    '</script>\n<script type="text/plain" id="windlass-later">' +
    gzipSync(later).toString("base64") +
    "</script>";
  return template.split("<!--windlass-data-->").join(elements);
}
