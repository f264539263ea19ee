// SPDX-License-Identifier: MIT
// What the page is told as JSON: docs/formats/view.md has the format.

export interface Loss {
  reason: string;
  count: number;
}

export interface WalkEnd {
  end: number;
  text: string;
  count: number;
}

export interface RecordingInfo {
  file: string;
  host?: string;
  command: string[];
  start?: number; // ms since 1970
  duration_ns: number;
  interval_ns: number;
  engine?: string;
  recorder_version?: string;
  status?: string | number;
  losses: Loss[];
  ends: WalkEnd[];
  block_ends?: WalkEnd[];
  summary: string[];
}

export interface ProcessInfo {
  recording: number;
  pid: number;
  parent: number | null;
  name: string;
  command: string | string[];
  start_ns: number;
  end_ns: number;
}

export interface ThreadInfo {
  process: number;
  tid: number;
  name: string;
  start_ns: number;
  end_ns: number;
  unsampled_cpu_ns: number;
}

export interface ModuleInfo {
  name: string;
  path: string;
  state: string;
  damaged_units?: number;
  build_id?: string;
  detail?: string; // of what was wrong with its symbols
}

export interface FindingInfo {
  kind: string;
  title: string;
  detail?: string;
  bytes: number;
  blocks: number;
  node: number | null;
}

export interface SnapshotInfo {
  number: number;
  time_ns: number;
  why: string;
  text: string;
}

export interface HeapInfo {
  process: number;
  modes?: unknown;
  totals: Record<string, unknown>;
  findings?: FindingInfo[];
  snapshots?: SnapshotInfo[]; // at which it is known what lived
  sampled: boolean;
  tells_gone?: boolean;
}

export interface MemoryReportInfo {
  file: string;
  time_ms?: number; // since 1970
}

export interface ColumnInfo {
  name: string;
  type: "u8" | "u16" | "u32" | "i32" | "f64";
  length: number;
  offset: number;
  delta?: boolean;
  planes?: boolean;
  later?: boolean; // in the second part of the data
}

export interface Head {
  format: number;
  program: string;
  title: string;
  recordings: RecordingInfo[]; // two: a comparison
  processes: ProcessInfo[];
  threads: ThreadInfo[];
  modules: ModuleInfo[];
  heaps: HeapInfo[];
  sources: { file: number; text: number }[]; // numbers of strings
  code?: { function: number; text: number }[];
  memory?: { processes: string[]; reports: MemoryReportInfo[] };
  columns: ColumnInfo[];
}
