// SPDX-License-Identifier: MIT
// Heap: blocks of memory by stack, over time, and what was found.

import type { JSX } from "preact";
import { display } from "../data/display";
import type { FindingInfo } from "../data/head";
import type { Snapshot } from "../data/profile";
import { amount } from "../model/amount";
import { type Analysis, shapeOf, useAnalysis } from "../state/analysis";
import type { HeapView, State } from "../state/state";
import { useStore } from "../state/store";
import { Choice } from "../ui/choice";
import { Tabs } from "../ui/tabs";
import { BlockSizes } from "./block_sizes";
import { listName } from "./frame_text";
import { MemoryCurve } from "./memory_curve";
import { Retained, scannedHeap } from "./retained";
import { StackView } from "./stack_view";

const kindTexts: Record<string, string> = {
  live: "live at the end",
  peak: "live at the peak",
  all: "all that was allocated",
  total: "all that was allocated",
  temporary: "temporary",
  growth: "growth between two snapshots",
  unreported: "not reported by the program",
  twice: "reported more than once",
};

interface Found {
  heap: number;
  finding: FindingInfo;
}

function findings(analysis: Analysis, state: State): Found[] {
  return analysis.profile.heaps.flatMap(({ info }, heap) =>
    state.heap === null || state.heap === heap
      ? (info.findings ?? []).map((finding) => ({ heap, finding }))
      : [],
  );
}

// Shows a finding's stacks: the tree from its node on.
function patchFor(analysis: Analysis, state: State, found: Found) {
  const { node } = found.finding;
  const shape = { ...shapeOf(state), kind: "down" as const, focus: null };
  const zoom = node === null ? 0 : Math.max(0, analysis.tree(shape).of[node]);
  return {
    heap: found.heap,
    shape: "down" as const,
    focus: null,
    zoom,
    inner: state.inner === "tree" ? ("tree" as const) : ("flame" as const),
  };
}

const shownFrames = 4;

// The innermost frames of a finding's stacks.
function whereOf({ profile, names }: Analysis, { node }: FindingInfo): string {
  const { parent, function: functionOf } = profile.nodes;
  const frames: string[] = [];
  for (let n = node ?? 0; n > 0 && frames.length < shownFrames; n = parent[n])
    frames.push(listName(names.function(functionOf[n])));
  return frames.join(" \u2190 ");
}

function Findings(): JSX.Element {
  const [state, set] = useStore();
  const analysis = useAnalysis();
  const all = findings(analysis, state);
  return (
    <section class="findings" aria-label="Findings">
      <h2>Findings</h2>
      {all.length === 0 && <p class="empty">Nothing was found.</p>}
      <ul>
        {all.map((found, i) => (
          <li key={i}>
            <button
              type="button"
              onClick={() => set(patchFor(analysis, state, found))}
            >
              <b>{display(found.finding.title, 200)}</b>
              <span>
                {found.finding.detail
                  ? display(found.finding.detail, 400)
                  : amount(found.finding.bytes, "bytes")}
              </span>
              <small>{display(whereOf(analysis, found.finding), 300)}</small>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

// Which two snapshots are compared, if growth is shown.
function SnapshotChoices(): JSX.Element | null {
  const [state, set] = useStore();
  const analysis = useAnalysis();
  const heap = analysis.grownHeap(state);
  const pair = analysis.snapshots(state);
  if (!heap || !pair) return null;
  const at = heap.snapshots.indexOf(pair[0]);
  const option = (s: Snapshot) => ({
    value: String(s.number),
    text:
      `${s.number}: ${amount(s.time_ns / 1000, "us")}, ` +
      display(s.text || s.why, 60),
  });
  return (
    <>
      <Choice
        label="from"
        value={String(pair[0].number)}
        options={heap.snapshots.slice(0, -1).map(option)}
        onChoose={(number) => set({ since: Number(number) })}
      />
      <Choice
        label="to"
        value={String(pair[1].number)}
        options={heap.snapshots.slice(at + 1).map(option)}
        onChoose={(number) => set({ until: Number(number) })}
      />
      {profileHasMore(analysis, state) && (
        <span class="note">
          Of {display(analysis.names.process(heap.info.process), 60)} alone.
        </span>
      )}
    </>
  );
}

function profileHasMore({ profile }: Analysis, { heap }: State): boolean {
  return heap === null && profile.heaps.length > 1;
}

function Choices(props: { retained: boolean }): JSX.Element {
  const [state, set] = useStore();
  const analysis = useAnalysis();
  const heaps = analysis.profile.heaps.map(({ info }, at) => ({
    value: String(at),
    text: display(analysis.names.process(info.process), 60),
  }));
  return (
    <div class="choices">
      {!props.retained && (
        <Choice
          label="Blocks"
          value={analysis.heapKind(state)}
          options={analysis
            .heapKinds()
            .map((kind) => ({ value: kind, text: kindTexts[kind] ?? kind }))}
          onChoose={(kind) => set({ kind })}
        />
      )}
      <Choice
        label="in"
        value={state.unit}
        options={[
          { value: "bytes", text: "bytes" },
          { value: "blocks", text: "numbers of blocks" },
        ]}
        onChoose={(unit) => set({ unit: unit as State["unit"] })}
      />
      {heaps.length > 1 && (
        <Choice
          label="of"
          value={state.heap === null ? "" : String(state.heap)}
          options={[{ value: "", text: "all processes" }, ...heaps]}
          onChoose={(at) => set({ heap: at === "" ? null : Number(at) })}
        />
      )}
      {!props.retained && <SnapshotChoices />}
    </div>
  );
}

export function Heap(): JSX.Element {
  const [state, set] = useStore();
  const analysis = useAnalysis();
  const { profile } = analysis;
  const views: { id: HeapView; text: string }[] = [
    { id: "flame", text: "Flame graph" },
    { id: "tree", text: "Call tree" },
    { id: "functions", text: "Functions" },
    { id: "sizes", text: "Sizes" },
  ];
  if (scannedHeap(analysis, state))
    views.push({ id: "retained", text: "Retained" });
  const isRetained = state.inner === "retained" && views.length > 4;
  const inner = state.inner === "retained" && !isRetained ? "flame" : state.inner;
  return (
    <div class="heap">
      <div class="heap-top">
        <MemoryCurve />
        <Findings />
      </div>
      <div class="bar">
        <Tabs
          label="How the blocks' stacks are shown"
          panel="heap-panel"
          tabs={views}
          chosen={inner}
          onChoose={(inner) => set({ inner })}
        />
        <Choices retained={inner === "retained"} />
        {profile.heaps.some((h) => h.info.sampled) && (
          <span class="note">Estimates: not every block was recorded.</span>
        )}
      </div>
      <div
        id="heap-panel"
        class="panel"
        role="tabpanel"
        aria-labelledby={`heap-panel-${inner}`}
      >
        {inner === "sizes" && <BlockSizes />}
        {inner === "retained" && <Retained />}
        {inner !== "sizes" && inner !== "retained" && (
          <StackView view={inner} />
        )}
      </div>
    </div>
  );
}
