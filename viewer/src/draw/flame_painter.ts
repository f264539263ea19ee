// SPDX-License-Identifier: MIT
// Flame painter: draws the visible rows of a layout on a canvas.

import { type Layout, manySmall, type Rect } from "./flame_layout";
import type { Certainty } from "../model/quality";
import type { Palette } from "./colors";

export const rowHeight = 18; // px
const font = "11px ui-monospace, 'DejaVu Sans Mono', Menlo, monospace";
const padding = 3;
const leastText = 3; // characters

export interface Look {
  palette: Palette;
  color(node: number): string;
  name(node: number): string;
  shortName(node: number): string;
  isMatch(node: number): boolean;
  certainty(node: number): Certainty;
  dimmed: boolean; // a search is on: what it did not find is paler
  marked: number; // node of the pointer or the keyboard, or -2
}

export function fitCanvas(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
): CanvasRenderingContext2D {
  const ratio = devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d", { alpha: false })!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

const hatch = 6; // px between strokes

// Strokes over the frames that stand for a missing part of a stack.
function paintHatch(
  context: CanvasRenderingContext2D,
  { x, width }: Rect,
  y: number,
  palette: Palette,
): void {
  const tall = rowHeight - 1;
  context.save();
  context.beginPath();
  context.rect(x, y, width, tall);
  context.clip();
  context.beginPath();
  for (let at = x - tall; at < x + width; at += hatch) {
    context.moveTo(at, y + tall);
    context.lineTo(at + tall, y);
  }
  context.strokeStyle = palette.hatch;
  context.lineWidth = 1.5;
  context.stroke();
  context.restore();
}

// Dots below a frame that is a guess.
function paintDots(
  context: CanvasRenderingContext2D,
  { x, width }: Rect,
  y: number,
  palette: Palette,
): void {
  context.save();
  context.setLineDash([3, 3]);
  context.beginPath();
  context.moveTo(x, y + rowHeight - 2);
  context.lineTo(x + width, y + rowHeight - 2);
  context.strokeStyle = palette.text;
  context.lineWidth = 1.5;
  context.stroke();
  context.restore();
}

function paintRect(
  context: CanvasRenderingContext2D,
  rect: Rect,
  y: number,
  look: Look,
  letter: number,
  isMarked: boolean,
): void {
  const { node, x, width } = rect;
  const gap = width > 2 ? 0.75 : 0;
  const found = node !== manySmall && look.isMatch(node);
  context.globalAlpha = look.dimmed && !found ? 0.45 : 1;
  context.fillStyle =
    node === manySmall
      ? look.palette.small
      : found
        ? look.palette.match
        : look.color(node);
  context.fillRect(x, y, width - gap, rowHeight - 1);
  context.globalAlpha = 1;
  const certainty = node === manySmall ? "sure" : look.certainty(node);
  if (certainty === "missing") paintHatch(context, rect, y, look.palette);
  if (certainty === "guessed") paintDots(context, rect, y, look.palette);
  const room = Math.floor((width - 2 * padding) / letter);
  if (node !== manySmall && room >= leastText) {
    let text = look.name(node);
    if (text.length > room) text = look.shortName(node);
    if (text.length > room) text = text.slice(0, room - 1) + "\u2026";
    context.fillStyle = look.palette.text;
    context.fillText(text, x + padding, y + rowHeight / 2);
  }
  if (isMarked) {
    context.strokeStyle = look.palette.focus;
    context.lineWidth = 2;
    context.strokeRect(x + 1, y + 1, Math.max(1, width - 2), rowHeight - 3);
  }
}

export function paint(
  canvas: HTMLCanvasElement,
  size: { width: number; height: number; top: number },
  layout: Layout,
  look: Look,
  marked?: Rect, // where a node has several
): void {
  const context = fitCanvas(canvas, size.width, size.height);
  context.fillStyle = look.palette.ground;
  context.fillRect(0, 0, size.width, size.height);
  context.font = font;
  context.textBaseline = "middle";
  const letter = context.measureText("m").width;
  for (const rect of layout.rects) {
    const y = rect.depth * rowHeight - size.top;
    const isMarked = marked ? rect === marked : rect.node === look.marked;
    if (y > -rowHeight && y < size.height)
      paintRect(context, rect, y, look, letter, isMarked);
  }
}
