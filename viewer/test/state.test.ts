// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { dark, light, type Palette } from "../src/draw/colors";
import { changeColor } from "../src/draw/colors";
import {
  change,
  fromHash,
  initial,
  stepOf,
  toHash,
  undone,
} from "../src/state/state";

test("an address gives back the state", () => {
  const state = {
    ...initial,
    tab: "tree" as const,
    threads: [1, 2],
    range: [5, 10.5] as [number, number],
    search: "a&b=#c",
  };
  assert.deepEqual(fromHash(toHash(state, initial), initial), state);
  assert.equal(toHash(initial, initial), "");
});

test("what does not fit in an address is left out", () => {
  for (const hash of [
    'tab="nowhere"',
    "zoom=-1",
    "range=[5]",
    "range=[9,1]",
    'threads="all"',
    "__proto__=1",
    "search=7",
    "zoom=}{",
  ])
    assert.deepEqual(fromHash(hash, initial), initial, hash);
});

test("another shape has no zoom", () => {
  const zoomed = change(initial, { zoom: 7 });
  assert.equal(change(zoomed, { search: "x" }).zoom, 7);
  assert.equal(change(zoomed, { shape: "up" }).zoom, 0);
});

test("a step back leaves alone what is only looked at", () => {
  const later = change(initial, { dropped: [3], tab: "tree", function: 3 });
  assert.equal(stepOf(initial, later), "dropped");
  assert.equal(stepOf(initial, change(initial, { tab: "tree" })), "");
  const back = undone(later, initial);
  assert.deepEqual(back.dropped, []);
  assert.equal(back.tab, "tree");
});

function channel(value: number): number {
  return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

function rgb(color: string): number[] {
  const hex = /^#(..)(..)(..)$/.exec(color);
  if (hex) return hex.slice(1).map((x) => parseInt(x, 16) / 255);
  const [h, s, l] = /hsl\((\d+) (\d+)% (\d+)%\)/
    .exec(color)!
    .slice(1)
    .map(Number);
  const a = (s / 100) * Math.min(l / 100, 1 - l / 100);
  return [0, 8, 4].map((n) => {
    const k = (n + h / 30) % 12;
    return l / 100 - a * Math.max(-1, Math.min(k - 3, 9 - k, 1));
  });
}

function luminance(color: string): number {
  const [r, g, b] = rgb(color).map(channel);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

test("text can be read on every colour of frames", () => {
  const palettes: Palette[] = [light, dark];
  for (const palette of palettes) {
    const grounds = [
      ...palette.frames.flat(),
      ...palette.other,
      palette.root,
      palette.match,
      ...[-1, -0.6, -0.3, 0, 0.3, 0.6, 1].map((c) => changeColor(palette, c)),
    ];
    for (const ground of grounds)
      assert.ok(
        contrast(palette.text, ground) >= 4.5,
        `${palette.text} on ${ground}: ${contrast(palette.text, ground)}`,
      );
  }
});
