// SPDX-License-Identifier: MIT
// State: all that the user chose. It is kept in the address after "#", so
// that a reload or a copied address shows the same.

import type { FunctionOrder } from "../model/function_table";
import type { ShapeKind } from "../model/shapes";
import type { TimeWeight } from "../model/weights";

export type Tab =
  | "flame"
  | "tree"
  | "functions"
  | "chart"
  | "marks"
  | "graph"
  | "heap"
  | "memory"
  | "quality";
export type StackView = "flame" | "tree" | "functions";
export type HeapView = StackView | "sizes" | "retained";
export type Theme = "auto" | "light" | "dark";

export interface State {
  tab: Tab;
  shape: ShapeKind;
  focus: number | null; // function
  collapse: boolean;
  merged: number[]; // functions, as in a shape
  dropped: number[];
  leaves: number[];
  fold: boolean;
  zoom: number; // tree node
  weight: TimeWeight;
  threads: number[] | null; // null: all
  range: [number, number] | null; // us; null: all
  shown: [number, number] | null; // us; the timeline's part, null: all
  search: string;
  at: number; // which of what the search found
  function: number | null; // whose source is shown
  side: "source" | "code" | "calls"; // beside the functions
  toggled: number[]; // processes whose threads are shown, or not, unlike usual
  tall: boolean; // the timeline
  marksBy: "time" | "duration";
  order: FunctionOrder;
  inner: HeapView; // of the heap's tab
  heap: number | null; // null: all
  kind: string; // of heap blocks: live, peak, ...
  unit: "bytes" | "blocks";
  since: number | null; // numbers of snapshots; null: the first, the last
  until: number | null;
  heldBy: "root" | "site";
  held: number | null; // node of the tree of what is retained
  process: number | null; // of memory reports; null: all, or the only one
  report: number | null; // null: the last
  against: number | null; // an earlier report
  part: number | null; // of memory
  curves: number[]; // parts of memory, over time
  theme: Theme;
}

export const initial: State = {
  tab: "flame",
  shape: "down",
  focus: null,
  collapse: false,
  merged: [],
  dropped: [],
  leaves: [],
  fold: true,
  zoom: 0,
  weight: "cpu",
  threads: null,
  range: null,
  shown: null,
  search: "",
  at: 0,
  function: null,
  side: "source",
  toggled: [],
  tall: false,
  marksBy: "time",
  order: "self",
  inner: "flame",
  heap: null,
  kind: "",
  unit: "bytes",
  since: null,
  until: null,
  heldBy: "root",
  held: null,
  process: null,
  report: null,
  against: null,
  part: null,
  curves: [],
  theme: "auto",
};

// Trees of another form have other nodes.
const reshaping: (keyof State)[] = [
  "shape",
  "focus",
  "collapse",
  "merged",
  "dropped",
  "leaves",
  "fold",
];

// What is not undone: it does not change what the numbers are of.
const quiet: (keyof State)[] = [
  "theme",
  "tab",
  "inner",
  "held",
  "part",
  "at",
  "function",
  "side",
  "order",
  "toggled",
  "tall",
  "marksBy",
];

// The names of what differs and can be undone, as one text.
export function stepOf(before: State, after: State): string {
  return (Object.keys(after) as (keyof State)[])
    .filter((k) => !quiet.includes(k) && after[k] !== before[k])
    .join();
}

// A state as it is, with what can be undone from `before`.
export function undone(state: State, before: State): State {
  const kept = Object.fromEntries(quiet.map((k) => [k, state[k]]));
  return { ...before, ...kept };
}

// What is retained has a tree of its own, whose nodes are others.
function isOtherTree(before: State, after: State): boolean {
  return (before.inner === "retained") !== (after.inner === "retained");
}

export function change(state: State, patch: Partial<State>): State {
  const next = { ...state, ...patch };
  if (!("zoom" in patch) && reshaping.some((k) => next[k] !== state[k]))
    next.zoom = 0;
  if (!("zoom" in patch) && isOtherTree(state, next)) next.zoom = 0;
  if (!("at" in patch) && next.search !== state.search) next.at = 0;
  return next;
}

export function toHash(state: State, base: State): string {
  const parts = new URLSearchParams();
  for (const key of Object.keys(state) as (keyof State)[]) {
    const text = JSON.stringify(state[key]);
    if (text !== JSON.stringify(base[key])) parts.set(key, text);
  }
  return parts.toString();
}

const words: { [K in keyof State]?: readonly string[] } = {
  tab: [
    "flame",
    "tree",
    "functions",
    "chart",
    "marks",
    "graph",
    "heap",
    "memory",
    "quality",
  ],
  shape: ["down", "up", "callers", "module"],
  weight: ["cpu", "samples", "blocked", "waiting", "wall"],
  order: [
    "self",
    "selfB",
    "total",
    "totalB",
    "delta",
    "deltaTotal",
    "name",
  ],
  inner: ["flame", "tree", "functions", "sizes", "retained"],
  heldBy: ["root", "site"],
  side: ["source", "code", "calls"],
  marksBy: ["time", "duration"],
  unit: ["bytes", "blocks"],
  theme: ["auto", "light", "dark"],
};

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function isIndex(value: unknown): value is number {
  return isNumber(value) && Number.isInteger(value);
}

function isFit(key: keyof State, value: unknown): boolean {
  const known = words[key];
  if (known) return known.includes(value as string);
  switch (key) {
    case "collapse":
    case "fold":
    case "tall":
      return typeof value === "boolean";
    case "search":
    case "kind":
      return typeof value === "string";
    case "zoom":
    case "at":
      return isIndex(value);
    case "merged":
    case "dropped":
    case "leaves":
    case "toggled":
    case "curves":
      return Array.isArray(value) && value.every(isIndex);
    case "threads":
      return value === null || (Array.isArray(value) && value.every(isIndex));
    case "range":
    case "shown":
      return (
        value === null ||
        (Array.isArray(value) &&
          value.length === 2 &&
          value.every(isNumber) &&
          value[0] < value[1])
      );
    default:
      return value === null || isIndex(value);
  }
}

// What does not fit is left out: an address can come from anywhere.
export function fromHash(hash: string, base: State): State {
  const state: Record<string, unknown> = { ...base };
  for (const [key, text] of new URLSearchParams(hash)) {
    if (!(key in base)) continue;
    try {
      const value: unknown = JSON.parse(text);
      if (isFit(key as keyof State, value)) state[key] = value;
    } catch {
      continue;
    }
  }
  return state as unknown as State;
}
