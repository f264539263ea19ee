// SPDX-License-Identifier: MIT
// Keys: the shortcuts that work everywhere, and the text that tells of all.

export const shortcuts: [string, string][] = [
  [
    "1 2 3 4",
    "flame graph, call tree, functions, stack chart",
  ],
  ["5 6 7 8", "marks, call graph, heap, quality"],
  ["/", "search; /\u2026/ is a regular expression"],
  ["n N", "the next or previous that was found"],
  ["s", "shape: from the top, from the bottom, by module"],
  ["w", "weight: CPU, blocked, ..."],
  ["r", "collapse recursion, or not"],
  ["f", "focus on the chosen function: only stacks through it"],
  ["c", "copy the chosen function's name"],
  ["m", "menu of the chosen frame: merge, drop, collapse, callers, copy, ..."],
  ["Ctrl + z", "undo one step of what was chosen or changed"],
  [
    "\u2190 \u2192 \u2191 \u2193",
    "move in a flame graph, tree, list or timeline",
  ],
  ["Enter", "zoom to the frame; open or close the row; choose the thread"],
  ["x", "in the timeline: show or hide the threads of a process"],
  ["b", "in the marks: choose the 40 ms before one; Enter: its own time"],
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

export function isUndo(event: KeyboardEvent): boolean {
  return (
    (event.ctrlKey || event.metaKey) &&
    !event.shiftKey &&
    !event.altKey &&
    event.key.toLowerCase() === "z"
  );
}
