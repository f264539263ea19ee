// SPDX-License-Identifier: MIT
// Memory: what programs report about their memory, as a tree and as areas, at
// one report, over time, or since another report.

import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { display } from "../data/display";
import type { MemoryReports } from "../data/memory";
import {
  changeOf,
  memoryAmount,
  memoryChange,
  memoryPath,
  memoryTree,
  type MemoryTree,
} from "../model/memory_tree";
import { amount, percent } from "../model/amount";
import { matcher } from "../model/search";
import { useAnalysis } from "../state/analysis";
import { useFound } from "../state/found";
import type { State } from "../state/state";
import { useStore } from "../state/store";
import { Choice } from "../ui/choice";
import { isPlain } from "../ui/keys";
import { binarySteps, plotOptions, seriesColors, showRange } from "../ui/plot";
import { useSize } from "../ui/size";
import { usePalette } from "../ui/theme";
import { rowAfterKey, rowId, VirtualRows } from "../ui/virtual_rows";
import { Part } from "./cost_cells";
import { MemoryAreas } from "./memory_areas";

const rowHeight = 22;
const indent = 14; // px a level
const curveHeight = 130;
const mostCurves = 4;

export function partName(
  { memory }: MemoryTree,
  text: (id: number) => string,
  n: number,
): string {
  return display(text(memory.name[n]).replace(/\\/g, "/"), 200);
}

function lastOf(memory: MemoryReports): number {
  return memory.reports.length - 1;
}

// Which report is shown, and which one is compared with it.
function momentsOf(memory: MemoryReports, state: State) {
  const at = Math.min(state.report ?? lastOf(memory), lastOf(memory));
  const { against } = state;
  return { at, since: against !== null && against < at ? against : null };
}

// Processes that have parts; all of them only where there are several.
function processesOf(memory: MemoryReports): number[] {
  const found = [...new Set(memory.process)].sort((p, q) => p - q);
  const own = found.filter((p) => p > 0);
  return own.length > 1 ? found : own;
}

export function processName(memory: MemoryReports, process: number): string {
  if (process === 0) return "all processes";
  return display(memory.processes[process - 1] || "Main Process", 60);
}

function reportName(memory: MemoryReports, at: number): string {
  const { file, time_ms } = memory.reports[at];
  const when = time_ms
    ? new Date(time_ms).toISOString().slice(0, 19).replace("T", " ")
    : display(file, 60);
  return `${at + 1}: ${when}`;
}

function useMemory() {
  const [state, set] = useStore();
  const { profile } = useAnalysis();
  const memory = profile.memory!;
  const processes = useMemo(() => processesOf(memory), [memory]);
  const process = processes.includes(state.process ?? -1)
    ? state.process!
    : (processes[0] ?? 0);
  const { at, since } = momentsOf(memory, state);
  const tree = useMemo(
    () => memoryTree(memory, process, at, since),
    [memory, process, at, since],
  );
  const text = (id: number) => profile.strings.text(id);
  const nameOf = (n: number) => partName(tree, text, n);
  const chosen =
    state.part !== null && memory.process[state.part] === process
      ? state.part
      : (tree.children.get(-1)?.[0] ?? -1);
  return { state, set, memory, processes, process, at, since, tree, nameOf, text, chosen };
}

type View = ReturnType<typeof useMemory>;

// ---- which reports

function Moments(props: { view: View }): JSX.Element {
  const { memory, set, at, since, processes, process } = props.view;
  return (
    <div class="choices memory-choices">
      {processes.length > 1 && (
        <Choice
          label="Process"
          value={String(process)}
          options={processes.map((p) => ({
            value: String(p),
            text: processName(memory, p),
          }))}
          onChoose={(p) => set({ process: Number(p), part: null, curves: [] })}
        />
      )}
      {memory.reports.length > 1 && (
        <>
          <label class="choice">
            <span>Report</span>
            <input
              type="range"
              id="report"
              min={0}
              max={lastOf(memory)}
              value={at}
              aria-valuetext={reportName(memory, at)}
              onInput={(e) => set({ report: Number(e.currentTarget.value) })}
            />
          </label>
          <output id="report-name">{reportName(memory, at)}</output>
          <Choice
            label="compared with"
            value={since === null ? "" : String(since)}
            options={[
              { value: "", text: "none" },
              ...memory.reports.slice(0, at).map((_, i) => ({
                value: String(i),
                text: reportName(memory, i),
              })),
            ]}
            onChoose={(i) => set({ against: i === "" ? null : Number(i) })}
          />
        </>
      )}
      {memory.reports.length === 1 && (
        <span class="note">{reportName(memory, 0)}</span>
      )}
    </div>
  );
}

// ---- over time

function timesOf(memory: MemoryReports): { x: number[]; known: boolean } {
  const known = memory.reports.every((r) => r.time_ms);
  const first = memory.reports[0].time_ms ?? 0;
  const x = memory.reports.map((r, i) =>
    known ? (r.time_ms! - first) / 1000 : i + 1,
  );
  return { x, known };
}

// The chosen parts, or the largest one; parts of one unit have one scale.
function curvesOf({ state, memory, process, tree }: View): number[] {
  const chosen = state.curves.filter(
    (n) => n < memory.count && memory.process[n] === process,
  );
  if (chosen.length) return chosen;
  const first = tree.children.get(-1)?.[0];
  return first === undefined ? [] : [first];
}

function nearest(x: number[], wanted: number): number {
  let best = 0;
  x.forEach((value, i) => {
    if (Math.abs(value - wanted) < Math.abs(x[best] - wanted)) best = i;
  });
  return best;
}

function Curves(props: { view: View }): JSX.Element {
  const { view } = props;
  const { memory, set, at, since, nameOf, tree } = view;
  const palette = usePalette();
  const box = useRef<HTMLDivElement>(null);
  const [width] = useSize(box);
  const curves = curvesOf(view);
  const { x, known } = useMemo(() => timesOf(memory), [memory]);
  const plot = useRef<uPlot | null>(null);
  const isBytes = curves.every((n) => memory.unit[n] === 0);
  useEffect(() => {
    if (!width || !curves.length) return;
    const made = new uPlot(
      plotOptions({
        names: curves.map(nameOf),
        width,
        height: curveHeight,
        palette,
        x: (s) => (known ? amount(s * 1e6, "us") : String(s)),
        y: (v) => (isBytes ? amount(v, "bytes") : memoryAmount(tree, curves[0], v)),
        ySteps: isBytes ? binarySteps : undefined,
        select: (from, to) => {
          const [a, b] = [nearest(x, from), nearest(x, to)];
          set(a < b ? { report: b, against: a } : { report: b });
        },
        point: (s) => set({ report: nearest(x, s), against: null }),
      }),
      [
        x,
        ...curves.map((n) =>
          memory.amounts.map((a) => (Number.isNaN(a[n]) ? null : a[n])),
        ),
      ],
      box.current!,
    );
    plot.current = made;
    return () => {
      plot.current = null;
      made.destroy();
    };
  }, [curves.join(), width, palette, memory]);
  useEffect(() => {
    const width = (x[x.length - 1] - x[0]) / 400;
    if (plot.current)
      showRange(
        plot.current,
        since === null ? [x[at] - width, x[at] + width] : [x[since], x[at]],
      );
  });
  const colors = seriesColors(palette);
  return (
    <div class="curve">
      <div
        ref={box}
        role="img"
        aria-label={`${curves.map(nameOf).join(", ")} over ${lastOf(memory) + 1} reports`}
      />
      <ul class="legend" aria-label="Curves">
        {curves.map((n, i) => (
          <li key={n}>
            <i style={{ background: colors[i % colors.length] }} />
            {memoryPath(tree, n).map(nameOf).join("/")}
          </li>
        ))}
      </ul>
    </div>
  );
}

// ---- the tree

interface Row {
  part: number;
  level: number;
}

function openParts(tree: MemoryTree, open: Set<number>): Row[] {
  const rows: Row[] = [];
  const todo: Row[] = [];
  const push = (parent: number, level: number) => {
    const list = tree.children.get(parent) ?? [];
    for (let i = list.length - 1; i >= 0; i--)
      todo.push({ part: list[i], level });
  };
  push(-1, 1);
  for (let row; (row = todo.pop());) {
    rows.push(row);
    if (open.has(row.part)) push(row.part, row.level + 1);
  }
  return rows;
}

function useRows({ tree, process, memory, chosen, state }: View) {
  const first = tree.children.get(-1)?.[0] ?? -1;
  const [opened, setOpened] = useState<{ process: number; open: Set<number> }>();
  const open =
    opened?.process === process ? opened.open : new Set([first]);
  const set = (next: Set<number>) => setOpened({ process, open: next });
  // What leads to the chosen part is open.
  useEffect(() => {
    if (state.part === null) return;
    const above = memoryPath(tree, chosen).slice(0, -1);
    if (above.some((n) => !open.has(n))) set(new Set([...open, ...above]));
  }, [chosen, memory]);
  const rows = useMemo(() => openParts(tree, open), [tree, open]);
  const toggle = (part: number, to = !open.has(part)) => {
    const next = new Set(open);
    if (to) next.add(part);
    else next.delete(part);
    set(next);
  };
  return { rows, open, toggle };
}

function shareText(tree: MemoryTree, n: number): string {
  const root = memoryPath(tree, n)[0];
  if (tree.memory.unit[n] !== 0 || !tree.children.has(root)) return "";
  return percent(tree.amount[n] || 0, tree.amount[root]);
}

function Tree(props: { view: View }): JSX.Element {
  const { view } = props;
  const { set, tree, nameOf, at, chosen, memory, text, state } = view;
  const { rows, open, toggle } = useRows(view);
  const active = rows.findIndex((row) => row.part === chosen);
  const choose = (index: number) => set({ part: rows[index].part });
  const matches = useMemo(() => matcher(state.search), [state.search]);
  const isFound = (n: number) =>
    matches !== null && matches(text(memory.name[n]));
  const found = useMemo(
    () =>
      matches
        ? [...tree.children.values()].flat().filter(isFound)
            .sort((m, n) => tree.weight[n] - tree.weight[m])
        : null,
    [matches, tree],
  );
  useFound(found && found.length, (i) => set({ part: found![i] }));
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isPlain(event) || active < 0) return;
    const { part, level } = rows[active];
    const to = rowAfterKey(event.key, active, rows.length);
    if (to !== null) choose(to);
    else if (event.key === "ArrowRight" && !open.has(part)) toggle(part, true);
    else if (event.key === "ArrowLeft" && open.has(part)) toggle(part, false);
    else if (event.key === "ArrowLeft" && level > 1)
      set({ part: memory.parent[part] - 1 });
    else if (event.key === "Enter" || event.key === " ") toggle(part);
    else return;
    event.preventDefault();
  };
  const row = (index: number) => {
    const { part, level } = rows[index];
    const leaf = !tree.children.has(part);
    const mark = memory.estimated[at][part] ? "~" : "";
    const wrong = tree.amount[part] < 0 ? " (?!)" : "";
    const told = display(text(memory.description[part]), 400);
    return (
      <div
        key={part}
        id={rowId("memory-tree", index)}
        role="row"
        class={"row" + (isFound(part) ? " found" : "")}
        aria-level={level}
        aria-rowindex={index + 1}
        aria-expanded={leaf ? undefined : open.has(part)}
        aria-selected={part === chosen}
        title={told}
        onClick={() => choose(index)}
        onDblClick={() => toggle(part)}
      >
        <Part value={mark + memoryAmount(tree, part, tree.amount[part]) + wrong} />
        {tree.before ? (
          <Part value={changeOf(tree, part) ? memoryChange(tree, part) : ""} />
        ) : (
          <Part value={shareText(tree, part)} />
        )}
        <span
          role="gridcell"
          class="name"
          style={{ paddingLeft: `${(level - 1) * indent}px` }}
        >
          <i
            class={leaf ? "leaf" : open.has(part) ? "open" : "closed"}
            onClick={(e) => {
              e.stopPropagation();
              toggle(part);
            }}
          />
          {nameOf(part)}
        </span>
      </div>
    );
  };
  return (
    <div class="table">
      <div class="heads" aria-hidden="true">
        <span class="cell number">Amount</span>
        <span class="cell number">{tree.before ? "Change" : "Share"}</span>
        <span class="name">Part</span>
      </div>
      <VirtualRows
        id="memory-tree"
        role="treegrid"
        label="Reported memory"
        count={rows.length}
        rowHeight={rowHeight}
        active={active}
        row={row}
        onKeyDown={onKeyDown}
      />
    </div>
  );
}

// ---- the chosen part

function Chosen(props: { view: View }): JSX.Element | null {
  const { view } = props;
  const { set, tree, chosen, nameOf, memory, text, state } = view;
  if (chosen < 0) return null;
  const isDrawn = state.curves.includes(chosen);
  const curves = isDrawn
    ? state.curves.filter((n) => n !== chosen)
    : [...state.curves, chosen].slice(-mostCurves);
  const told = text(memory.description[chosen]);
  return (
    <div class="detail memory-detail" id="memory-detail">
      <b>{memoryPath(tree, chosen).map(nameOf).join("/")}</b>{" "}
      {memoryAmount(tree, chosen, tree.amount[chosen])}
      {tree.before && `, ${memoryChange(tree, chosen)}`}
      {told && `. ${display(told, 300)}`}
      {memory.reports.length > 1 && (
        <button type="button" onClick={() => set({ curves })}>
          {isDrawn ? "Take off the curves" : "Show over time"}
        </button>
      )}
    </div>
  );
}

export function Memory(): JSX.Element {
  const view = useMemory();
  return (
    <div class="heap">
      <Moments view={view} />
      {view.memory.reports.length > 1 && <Curves view={view} />}
      <div class="memory-both">
        <Tree view={view} />
        <MemoryAreas
          tree={view.tree}
          chosen={view.chosen}
          nameOf={view.nameOf}
          onChoose={(part) => view.set({ part })}
        />
      </div>
      <Chosen view={view} />
    </div>
  );
}
