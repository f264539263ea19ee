// SPDX-License-Identifier: MIT
// Keys: the shortcuts that work everywhere, and the text that tells of all.

export const shortcuts: [string, string][] = [
  ["1 2 3 4 5", "flame graph, call tree, functions, heap, quality"],
  ["/", "search; /\u2026/ is a regular expression"],
  ["s", "shape: from the top, from the bottom, by module"],
  ["w", "weight: CPU, blocked, ..."],
  ["r", "collapse recursion, or not"],
  ["f", "focus on the chosen function: only stacks through it"],
  ["c", "copy the chosen function's name"],
  [
    "\u2190 \u2192 \u2191 \u2193",
    "move in a flame graph, tree, list or timeline",
  ],
  ["Enter", "zoom to the frame; open or close the row; choose the thread"],
  ["Backspace", "zoom out by one frame"],
  ["Shift + \u2190 \u2192", "in the timeline: widen or narrow the range"],
  ["+ \u2212", "in the timeline: show the range alone, or all again"],
  ["Escape", "undo one of: zoom, search, focus, range, threads"],
  ["t", "light or dark"],
  ["?", "this list"],
];

export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    !!target.closest("input[type=search], select, textarea, dialog")
  );
}

export function isPlain(event: KeyboardEvent): boolean {
  return !event.ctrlKey && !event.metaKey && !event.altKey;
}
