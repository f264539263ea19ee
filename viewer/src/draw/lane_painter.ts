// SPDX-License-Identifier: MIT
// Lane painter: one row of the timeline.

import type { Bins } from "../model/timeline";
import type { Palette } from "./colors";
import { fitCanvas } from "./flame_painter";

export interface Lane {
  bins: Bins;
  most: number; // the value of bins that is the full height
  // Points of curves, both 0 to 1; empty: none.
  live: { x: number; y: number }[];
  resident: { x: number; y: number }[];
  marks: { x: number; width: number; missed: boolean }[]; // 0 to 1
  pauses: { x: number; width: number }[];
}

function paintBars(
  context: CanvasRenderingContext2D,
  { bins, most }: Lane,
  [width, height]: [number, number],
  palette: Palette,
): void {
  const step = width / bins.cpu.length;
  const room = height - 4;
  for (let i = 0; i < bins.cpu.length; i++) {
    let y = height;
    for (const [values, color] of [
      [bins.cpu, palette.cpu],
      [bins.waiting, palette.waiting],
      [bins.blocked, palette.blocked],
    ] as const) {
      const tall = Math.min(y - 4, (values[i] / most) * room);
      if (tall <= 0) continue;
      context.fillStyle = color;
      context.fillRect(i * step, y - tall, Math.ceil(step), tall);
      y -= tall;
    }
  }
}

function paintCurve(
  context: CanvasRenderingContext2D,
  curve: { x: number; y: number }[],
  [width, height]: [number, number],
  color: string,
): void {
  if (!curve.length) return;
  context.beginPath();
  let last = height;
  curve.forEach(({ x, y }, i) => {
    const at = height - 1 - y * (height - 4);
    if (i) context.lineTo(x * width, last); // it stays until it changes
    context[i ? "lineTo" : "moveTo"](x * width, at);
    last = at;
  });
  context.strokeStyle = color;
  context.lineWidth = 1.5;
  context.stroke();
}

export function paintLane(
  canvas: HTMLCanvasElement,
  size: [number, number],
  lane: Lane,
  palette: Palette,
): void {
  const [width, height] = size;
  const context = fitCanvas(canvas, width, height);
  context.fillStyle = palette.ground;
  context.fillRect(0, 0, width, height);
  context.fillStyle = palette.pause;
  for (const { x, width: part } of lane.pauses)
    context.fillRect(x * width, 0, Math.max(1, part * width), height);
  paintBars(context, lane, size, palette);
  paintCurve(context, lane.resident, size, palette.dim);
  paintCurve(context, lane.live, size, palette.memory);
  for (const { x, width: part, missed } of lane.marks) {
    context.fillStyle = missed ? palette.missed : palette.mark;
    context.fillRect(x * width - 0.5, 0, Math.max(2, part * width), 3);
    context.fillRect(x * width - 0.5, 0, 1, 8);
  }
}
