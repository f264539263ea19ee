// SPDX-License-Identifier: MIT
// Function table: each function's self cost, and its total, in which a stack
// counts once however often the function is on it.

import type { Totals, Side } from "./totals";
import { findNested, type Tree } from "./tree";

export interface FunctionCost {
  function: number;
  selfA: number;
  totalA: number;
  selfB: number;
  totalB: number;
}

// B's are there in a comparison only.
export type FunctionOrder =
  "self" | "selfB" | "total" | "totalB" | "delta" | "deltaTotal" | "name";

const ofGrowth: FunctionOrder[] = [
  "delta",
  "deltaTotal",
  "total",
  "totalB",
  "name",
];

// The chosen order, or the usual one where there is no such column.
export function fitOrder(
  order: FunctionOrder,
  { isGrowth }: Totals,
): FunctionOrder {
  if (isGrowth) return ofGrowth.includes(order) ? order : "deltaTotal";
  return order === "deltaTotal" ? "total" : order;
}

function perFunction(tree: Tree, { self, total }: Side, functions: number) {
  const own = new Float64Array(functions);
  const all = new Float64Array(functions);
  const nested = findNested(tree);
  for (let n = 1; n < tree.count; n++) {
    own[tree.key[n]] += self[n];
    if (!nested[n]) all[tree.key[n]] += total[n];
  }
  return { own, all };
}

// tree is a top-down one of functions.
export function functionTable(
  tree: Tree,
  totals: Totals,
  functions: number,
): FunctionCost[] {
  const a = perFunction(tree, totals.a, functions);
  const b = totals.b && perFunction(tree, totals.b, functions);
  const rows: FunctionCost[] = [];
  for (let f = 0; f < functions; f++) {
    const totalB = b ? b.all[f] : 0;
    if (!a.all[f] && !totalB) continue;
    const selfB = b ? b.own[f] : 0;
    rows.push({
      function: f,
      selfA: a.own[f],
      totalA: a.all[f],
      selfB,
      totalB,
    });
  }
  return rows;
}

function sorter(order: FunctionOrder, { a, b, isGrowth }: Totals) {
  const allA = a.all || 1;
  const allB = b?.all || 1;
  switch (order) {
    case "deltaTotal":
      return (r: FunctionCost) => r.totalB - r.totalA;
    case "delta":
      if (isGrowth) return (r: FunctionCost) => r.selfB - r.selfA;
      return (r: FunctionCost) => Math.abs(r.selfB / allB - r.selfA / allA);
    case "selfB":
      return (r: FunctionCost) => r.selfB;
    case "total":
      return (r: FunctionCost) => r.totalA;
    case "totalB":
      return (r: FunctionCost) => r.totalB;
    default:
      return (r: FunctionCost) => r.selfA;
  }
}

export function sortFunctions(
  rows: FunctionCost[],
  order: FunctionOrder,
  totals: Totals,
  name: (f: number) => string,
): FunctionCost[] {
  if (order === "name") {
    const names = new Map(rows.map((r) => [r.function, name(r.function)]));
    return [...rows].sort((r, s) =>
      names.get(r.function)! < names.get(s.function)! ? -1 : 1,
    );
  }
  const value = sorter(order, totals);
  const keyed = rows.map((row) => ({ row, by: value(row) }));
  keyed.sort(
    (r, s) =>
      s.by - r.by ||
      s.row.totalA - r.row.totalA ||
      s.row.totalB - r.row.totalB,
  );
  return keyed.map((k) => k.row);
}
