// SPDX-License-Identifier: MIT
// Colours: of frames by module, of differences, and of timelines. Hues are
// told apart with the common kinds of colour blindness by their order in
// lightness too; text on each has a contrast of at least 4.5.

export interface Palette {
  text: string;
  dim: string; // text on the page's own ground
  ground: string;
  root: string;
  small: string; // many frames, each too small to be drawn
  match: string; // found by the search
  hatch: string; // over what stands for a missing part of a stack
  focus: string;
  frames: string[][]; // for each module some shades
  other: string[]; // of all other modules
  cpu: string;
  blocked: string;
  waiting: string;
  memory: string;
  mark: string;
  missed: string;
  pause: string;
  less: [number, number, number]; // hue, saturation, lightness
  same: [number, number, number];
  more: [number, number, number];
}

const hues = [38, 205, 165, 18, 265, 95, 325, 55];

function shades(saturation: number, lightness: number, step: number) {
  return hues.map((hue, i) =>
    [0, 1, 2].map((shade) =>
      hsl([hue, saturation, lightness + shade * step + (i % 2) * step]),
    ),
  );
}

export function hsl([h, s, l]: [number, number, number]): string {
  return `hsl(${h.toFixed(0)} ${s.toFixed(0)}% ${l.toFixed(0)}%)`;
}

export const light: Palette = {
  text: "#14181d",
  dim: "#4c5663",
  ground: "#ffffff",
  root: "#d5dae1",
  small: "#e6e9ee",
  match: "#ffdf20",
  hatch: "#b9c0ca",
  focus: "#0b57d0",
  frames: shades(72, 72, 4),
  other: ["#d9dde3", "#d0d5dc", "#c8ced6"],
  cpu: "#2673b8",
  blocked: "#f0b35b",
  waiting: "#a0529b",
  memory: "#0a7d5e",
  mark: "#14181d",
  missed: "#c42000",
  pause: "#e6e9ee",
  less: [207, 85, 66],
  same: [220, 10, 88],
  more: [16, 92, 68],
};

export const dark: Palette = {
  text: "#f4f6f9",
  dim: "#b0bac6",
  ground: "#15181d",
  root: "#3a424d",
  small: "#262b33",
  match: "#7a5b00",
  hatch: "#4d5663",
  focus: "#8ab4ff",
  frames: shades(48, 23, 2),
  other: ["#3a414b", "#353b45", "#30363f"],
  cpu: "#5aa7e8",
  blocked: "#b57a20",
  waiting: "#c583c0",
  memory: "#3ec9a0",
  mark: "#f4f6f9",
  missed: "#ff7a5c",
  pause: "#262b33",
  less: [210, 75, 34],
  same: [220, 8, 26],
  more: [14, 75, 34],
};

export function frameColor(palette: Palette, rank: number, key: number) {
  const shade = (key * 7) % 3;
  return (palette.frames[rank] ?? palette.other)[shade];
}

// change: -1, only the first has it, to 1, only the second.
export function changeColor(palette: Palette, change: number): string {
  const end = change < 0 ? palette.less : palette.more;
  const part = Math.min(1, Math.abs(change)) ** 0.7;
  const { same } = palette;
  // The neutral's hue would lead through others.
  return hsl([
    end[0],
    same[1] + (end[1] - same[1]) * part,
    same[2] + (end[2] - same[2]) * part,
  ]);
}
