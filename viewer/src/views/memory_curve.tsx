// SPDX-License-Identifier: MIT
// Memory curve: the live bytes (or blocks) of heaps over time.

import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { display } from "../data/display";
import type { HeapStacks } from "../data/profile";
import { amount } from "../model/amount";
import { type Curve, curveOf } from "../model/memory_curve";
import { type Analysis, growth, useAnalysis } from "../state/analysis";
import type { State } from "../state/state";
import { useStore } from "../state/store";
import { binarySteps, plotOptions, seriesColors, showRange } from "../ui/plot";
import { useSize } from "../ui/size";
import { usePalette } from "../ui/theme";

const height = 140; // px
const mostSeries = 4; // the heaps with the highest curves

function tableOf(curves: Curve[]) {
  return uPlot.join(
    curves.map(({ time, live }) => [time.map((us) => us / 1e6), live]),
  );
}

function seriesName(analysis: Analysis, heap: HeapStacks): string {
  const { process } = heap.info;
  const { recording } = analysis.profile.head.processes[process];
  const side = analysis.isDiff ? (recording ? "B: " : "A: ") : "";
  return side + display(analysis.names.process(process), 40);
}

function highest(heaps: HeapStacks[], chosen: number | null): HeapStacks[] {
  return heaps
    .filter((h, at) => h.time.length > 1 && (chosen ?? at) === at)
    .map((heap) => ({ heap, most: curveOf(heap, "bytes").most }))
    .sort((g, h) => h.most - g.most)
    .slice(0, mostSeries)
    .map(({ heap }) => heap);
}

// The two snapshots nearest to a range of time; null: no two are known.
function pairIn(
  heap: HeapStacks,
  [from, to]: [number, number],
): Partial<State> | null {
  const near = (us: number) =>
    heap.snapshots.reduce((best, s) =>
      Math.abs(s.time_ns / 1000 - us) < Math.abs(best.time_ns / 1000 - us)
        ? s
        : best,
    );
  const [since, until] = [near(from).number, near(to).number];
  return since < until ? { kind: growth, since, until } : null;
}

export function MemoryCurve(): JSX.Element {
  const [state, set] = useStore();
  const analysis = useAnalysis();
  const palette = usePalette();
  const box = useRef<HTMLDivElement>(null);
  const [width] = useSize(box);
  const heaps = useMemo(
    () => highest(analysis.profile.heaps, state.heap),
    [analysis, state.heap],
  );
  const curves = useMemo(
    () => heaps.map((heap) => curveOf(heap, state.unit)),
    [heaps, state.unit],
  );
  const grown = analysis.grownHeap(state);
  const pair = analysis.snapshots(state);
  const plot = useRef<uPlot | null>(null);
  const choose = (from: number, to: number) => {
    const patch = grown && pairIn(grown, [from, to]);
    if (patch) set(patch);
  };
  useEffect(() => {
    if (!width || !heaps.length) return;
    const names = heaps.map((h) => seriesName(analysis, h));
    const { unit } = state;
    const made = new uPlot(
      plotOptions({
        names,
        width,
        height,
        palette,
        x: (s) => amount(s * 1e6, "us"),
        y: (v) => amount(v, unit),
        ySteps: unit === "bytes" ? binarySteps : undefined,
        select: grown ? (from, to) => choose(from * 1e6, to * 1e6) : undefined,
      }),
      tableOf(curves),
      box.current!,
    );
    plot.current = made;
    return () => {
      plot.current = null;
      made.destroy();
    };
  }, [curves, width, palette, grown]);
  useEffect(() => {
    if (plot.current)
      showRange(
        plot.current,
        pair && [pair[0].time_ns / 1e9, pair[1].time_ns / 1e9],
      );
  });
  const colors = seriesColors(palette);
  return (
    <div class="curve">
      <div ref={box} role="img" aria-label={`Live ${state.unit} over time`}>
        {!heaps.length && <p class="empty">No curve was recorded.</p>}
      </div>
      {grown && heaps.length > 0 && (
        <p class="note under">
          Drag over the curve to see what grew between two snapshots.
        </p>
      )}
      <ul class="legend" aria-label="Highest live memory">
        {heaps.map((heap, i) => (
          <li key={i}>
            <i style={{ background: colors[i] }} />
            {seriesName(analysis, heap)}: at most{" "}
            {amount(curves[i].most, state.unit)}
            {curves[i].noted && " when it was noted"}
          </li>
        ))}
      </ul>
    </div>
  );
}
