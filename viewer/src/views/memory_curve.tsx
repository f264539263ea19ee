// SPDX-License-Identifier: MIT
// Memory curve: the live bytes (or blocks) of heaps over time.

import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { display } from "../data/display";
import type { HeapStacks } from "../data/profile";
import type { Palette } from "../draw/colors";
import { amount } from "../model/amount";
import { type Curve, curveOf, type HeapUnit } from "../model/memory_curve";
import { type Analysis, useAnalysis } from "../state/analysis";
import { useStore } from "../state/store";
import { useSize } from "../ui/size";
import { usePalette } from "../ui/theme";

const height = 140; // px
const mostSeries = 4; // the heaps with the highest curves

function tableOf(curves: Curve[]) {
  return uPlot.join(
    curves.map(({ time, live }) => [time.map((us) => us / 1e6), live]),
  );
}

// The steps of bytes are those at which they are told.
const binarySteps = Array.from({ length: 50 }, (_, i) => 2 ** i);

function seriesName(analysis: Analysis, heap: HeapStacks): string {
  const { process } = heap.info;
  const { recording } = analysis.profile.head.processes[process];
  const side = analysis.isDiff ? (recording ? "B: " : "A: ") : "";
  return side + display(analysis.names.process(process), 40);
}

function options(
  names: string[],
  unit: HeapUnit,
  width: number,
  palette: Palette,
): uPlot.Options {
  const colors = seriesColors(palette);
  const axis = {
    stroke: palette.dim,
    grid: { stroke: palette.small, width: 1 },
    ticks: { stroke: palette.small },
  };
  return {
    width,
    height,
    padding: [8, 30, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false } },
    scales: { x: { time: false } },
    axes: [
      {
        ...axis,
        space: 80,
        values: (_, values) => values.map((s) => amount(s * 1e6, "us")),
      },
      {
        ...axis,
        size: 112,
        space: 24,
        incrs: unit === "bytes" ? binarySteps : undefined,
        values: (_, values) => values.map((v) => amount(v, unit)),
      },
    ],
    series: [
      {
        label: "time",
        value: (_, s) => (s == null ? "" : amount(s * 1e6, "us")),
      },
      ...names.map((label, i) => ({
        label,
        stroke: colors[i % colors.length],
        width: 1.5,
        paths: uPlot.paths.stepped!({ align: 1 }),
        spanGaps: true,
        points: { show: false },
        value: (_: uPlot, v: number) => (v == null ? "" : amount(v, unit)),
      })),
    ],
  };
}

function highest(heaps: HeapStacks[], chosen: number | null): HeapStacks[] {
  return heaps
    .filter((h, at) => h.time.length > 1 && (chosen ?? at) === at)
    .map((heap) => ({ heap, most: curveOf(heap, "bytes").most }))
    .sort((g, h) => h.most - g.most)
    .slice(0, mostSeries)
    .map(({ heap }) => heap);
}

function seriesColors(palette: Palette): string[] {
  return [palette.memory, palette.waiting, palette.cpu, palette.blocked];
}

export function MemoryCurve(): JSX.Element {
  const [state] = useStore();
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
  useEffect(() => {
    if (!width || !heaps.length) return;
    const names = heaps.map((h) => seriesName(analysis, h));
    const plot = new uPlot(
      options(names, state.unit, width, palette),
      tableOf(curves),
      box.current!,
    );
    return () => plot.destroy();
  }, [curves, width, palette]);
  const colors = seriesColors(palette);
  return (
    <div class="curve">
      <div ref={box} role="img" aria-label={`Live ${state.unit} over time`}>
        {!heaps.length && <p class="empty">No curve was recorded.</p>}
      </div>
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
