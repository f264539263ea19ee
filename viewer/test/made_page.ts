// SPDX-License-Identifier: MIT
// Made page: data as windlass view puts it in a page, from a few calls.

import { gzipSync } from "node:zlib";
import { Columns } from "../src/data/columns";
import type { ColumnInfo, Head, HeapInfo } from "../src/data/head";
import { type Profile, readProfile } from "../src/data/profile";

interface MadeHeap {
  info: HeapInfo;
  curve: [number, number, number][]; // us, bytes, blocks
  stacks: { node: number; [column: string]: number }[];
  sizes?: { stack: number; power: number; [column: string]: number }[];
  // By snapshot.
  lived?: { snapshot: number; stack: number; bytes: number; blocks: number }[];
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
  private readonly strings = new Map<string, number>([["", 0]]);
  private readonly functions = new Map<string, number>();
  private readonly functionRows: number[][] = [];
  private readonly locations = new Map<string, number>();
  private readonly locationRows: number[][] = [];
  private readonly children = new Map<string, number>();
  private readonly heaps: MadeHeap[] = [];

  constructor(recordings = 1, modules = ["app", "libc.so.6"]) {
    this.head = {
      format: 1,
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

  encode(): { head: Head; data: Uint8Array } {
    this.samples.sort((s, t) => s[0] - t[0] || s[1] - t[1]);
    const file = new ColumnFile();
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
    file.add("samples.thread", "u32", row(this.samples, 0), true);
    file.addFit("samples.time", row(this.samples, 1), true);
    file.add("samples.node", "u32", row(this.samples, 2), true);
    file.add("samples.cpu", "u32", row(this.samples, 3));
    file.add("samples.end", "u8", row(this.samples, 4));
    ["thread", "start", "duration", "node"].forEach((name, i) =>
      file.addFit(`blocks.${name}`, row(this.blocks, i)),
    );
    file.add("blocks.waiting", "u8", row(this.blocks, 4));
    file.add("blocks.end", "u8", row(this.blocks, 5));
    ["thread", "time", "duration", "text"].forEach((name, i) =>
      file.add(`marks.${name}`, "u32", row(this.marks, i)),
    );
    file.add("marks.missed", "u8", row(this.marks, 4));
    ["process", "time", "resident"].forEach((name, i) =>
      file.addFit(`sizes.${name}`, row(this.sizes, i), true),
    );
    this.heaps.forEach((heap, i) => encodeHeap(file, `heap${i}.`, heap));
    this.head.columns = file.infos;
    return { head: this.head, data: file.data() };
  }

  profile(): Profile {
    const { head, data } = this.encode();
    return readProfile(head, new Columns(head.columns, data));
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
  const { head, data } = made.encode();
  const json = JSON.stringify(head)
    .replaceAll("<", "\\u003c")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029");
  const elements =
    `<script type="application/json" id="windlass-head">${json}</script>\n` +
    '<script type="text/plain" id="windlass-data">' +
    gzipSync(data).toString("base64") +
    "</script>";
  return template.split("<!--windlass-data-->").join(elements);
}
