// SPDX-License-Identifier: MIT
// Memory: the trees of programs' memory reports, at several times.

import type { Columns } from "./columns";
import type { Head, MemoryReportInfo } from "./head";

export type MemoryUnit = 0 | 1 | 2 | 3; // bytes, count, cumulative, percentage

export interface MemoryReports {
  processes: string[]; // names; of a part's process - 1
  reports: MemoryReportInfo[];
  count: number; // of parts
  process: Uint32Array; // 0: all of them
  parent: Uint32Array; // 1 + number of a part; 0: none
  name: Uint32Array;
  description: Uint32Array;
  unit: Uint32Array;
  amounts: Float64Array[]; // by report and part; NaN: it has none
  estimated: Uint8Array[]; // the same
}

const negative = 1; // bits of how
const estimate = 2;

export function readMemory(head: Head, columns: Columns): MemoryReports | null {
  if (!head.memory) return null;
  const { processes, reports } = head.memory;
  const parent = columns.u32("memory.parent");
  const count = parent.length;
  const amounts = reports.map(() => new Float64Array(count).fill(NaN));
  const estimated = reports.map(() => new Uint8Array(count));
  const report = columns.u32("memory.values.report");
  const part = columns.u32("memory.values.part");
  const size = columns.f64("memory.values.size");
  const how = columns.u32("memory.values.how");
  for (let i = 0; i < report.length; i++) {
    const sign = how[i] & negative ? -1 : 1;
    amounts[report[i]][part[i]] = sign * size[i];
    estimated[report[i]][part[i]] = how[i] & estimate ? 1 : 0;
  }
  return {
    processes,
    reports,
    count,
    process: columns.u32("memory.process"),
    parent,
    name: columns.u32("memory.name"),
    description: columns.u32("memory.description"),
    unit: columns.u32("memory.unit"),
    amounts,
    estimated,
  };
}
