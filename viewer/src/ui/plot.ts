// SPDX-License-Identifier: MIT
// Plot: the options of curves over time, in the page's colours.

import uPlot from "uplot";
import type { Palette } from "../draw/colors";

export interface PlotLook {
  names: string[];
  width: number;
  height: number; // px
  palette: Palette;
  x(value: number): string;
  y(value: number): string;
  ySteps?: number[];
  select?(from: number, to: number): void; // a range of x was drawn
  point?(x: number): void; // a place was clicked
}

export function seriesColors(palette: Palette): string[] {
  return [palette.memory, palette.waiting, palette.cpu, palette.blocked];
}

// The steps of bytes are those at which they are told.
export const binarySteps = Array.from({ length: 50 }, (_, i) => 2 ** i);

function axesOf(look: PlotLook): uPlot.Axis[] {
  const { palette } = look;
  const axis = {
    stroke: palette.dim,
    grid: { stroke: palette.small, width: 1 },
    ticks: { stroke: palette.small },
  };
  return [
    { ...axis, space: 80, values: (_, values) => values.map(look.x) },
    {
      ...axis,
      size: 112,
      space: 24,
      incrs: look.ySteps,
      values: (_, values) => values.map(look.y),
    },
  ];
}

const leastDrag = 4; // px; less is a click, which draws no range

function onSelect(plot: uPlot, look: PlotLook, from: number): void {
  const to = plot.cursor.left ?? -1;
  if (from < 0 || to < 0) return;
  const at = (left: number) => plot.posToVal(left, "x");
  if (Math.abs(to - from) < leastDrag) look.point?.(at(from));
  else look.select?.(at(Math.min(from, to)), at(Math.max(from, to)));
}

export function plotOptions(look: PlotLook): uPlot.Options {
  const colors = seriesColors(look.palette);
  let begun = -1;
  return {
    width: look.width,
    height: look.height,
    padding: [8, 30, 0, 0],
    legend: { show: false },
    cursor: {
      drag: { x: look.select !== undefined, y: false, setScale: false },
      bind: {
        mousedown: (plot, _, handle) => (event) => {
          handle(event);
          begun = event.button === 0 ? (plot.cursor.left ?? -1) : -1;
          return null;
        },
        mouseup: (plot, _, handle) => (event) => {
          handle(event);
          if (event.button === 0) onSelect(plot, look, begun);
          begun = -1;
          return null;
        },
      },
    },
    scales: { x: { time: false } },
    axes: axesOf(look),
    series: [
      { label: "time", value: (_, x) => (x == null ? "" : look.x(x)) },
      ...look.names.map((label, i) => ({
        label,
        stroke: colors[i % colors.length],
        width: 1.5,
        paths: uPlot.paths.stepped!({ align: 1 }),
        spanGaps: true,
        points: { show: false },
        value: (_: uPlot, v: number) => (v == null ? "" : look.y(v)),
      })),
    ],
  };
}

// Shows a range of x as drawn.
export function showRange(plot: uPlot, range: [number, number] | null): void {
  const height = plot.bbox.height / devicePixelRatio;
  const left = range ? plot.valToPos(range[0], "x") : 0;
  const width = range ? plot.valToPos(range[1], "x") - left : 0;
  plot.setSelect({ left, top: 0, width, height }, false);
}
