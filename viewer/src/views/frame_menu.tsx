// SPDX-License-Identifier: MIT
// Frame menu: what can be done with a function and its stacks.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { display } from "../data/display";
import type { Tree } from "../model/tree";
import type { State } from "../state/state";
import { useAnalysis } from "../state/analysis";
import { useStore, useUndo } from "../state/store";
import { copyText } from "../ui/copy";
import { Menu, type MenuItem } from "../ui/menu";
import { unfocused } from "./stack_bar";

export interface FrameTarget {
  x: number; // px in the window
  y: number;
  function: number | null; // null: of a module, or none
  name: string;
  stack: string[]; // the innermost frame first
  zoom?: number; // to this node of the tree
}

export const unchanged: Partial<State> = {
  focus: null,
  collapse: false,
  merged: [],
  dropped: [],
  leaves: [],
  zoom: 0,
};

// The names from a node of a tree to its root.
export function stackOf(
  tree: Tree,
  node: number,
  up: boolean, // the root is the innermost
  name: (node: number) => string,
): string[] {
  const names: string[] = [];
  for (let n = node; n > 0; n = tree.parent[n]) names.push(name(n));
  return up ? names.reverse() : names;
}

function changesOf(
  target: FrameTarget,
  f: number,
  state: State,
  set: (patch: Partial<State>) => void,
): MenuItem[] {
  const stacks = state.tab === "heap" ? {} : { tab: stackTab(state) };
  return [
    {
      text: "Focus on it: only stacks through it, from it on",
      run: () => set({ focus: f, shape: "down", ...stacks }),
    },
    {
      text: "Show its callers",
      run: () => set({ focus: f, shape: "callers", ...stacks }),
    },
    {
      text: "Merge it into its callers",
      run: () => set({ merged: [...state.merged, f] }),
    },
    {
      text: "Drop stacks with it",
      run: () => set({ dropped: [...state.dropped, f] }),
    },
    {
      text: "Collapse what it calls",
      run: () => set({ leaves: [...state.leaves, f] }),
    },
    {
      text: state.collapse ? "Show recursion" : "Collapse recursion",
      run: () => set({ collapse: !state.collapse }),
    },
    {
      text: "Show its source",
      run: () => set({ function: f, side: "source", ...functionsTab(state) }),
    },
    {
      text: "Show callers and callees",
      run: () => set({ function: f, side: "calls", ...functionsTab(state) }),
    },
    {
      text: "Copy name",
      run: () => void copyText(target.name),
    },
  ];
}

// The tab of a tree: functions have none.
function stackTab({ tab }: State): "flame" | "tree" {
  return tab === "tree" ? "tree" : "flame";
}

function functionsTab({ tab }: State): Partial<State> {
  return tab === "heap" ? { inner: "functions" } : { tab: "functions" };
}

function useItems(target: FrameTarget | null): MenuItem[] {
  const [state, set] = useStore();
  const { profile } = useAnalysis();
  const { can, undo, link } = useUndo();
  if (!target) return [];
  const f = target.function;
  const items: MenuItem[] = [];
  if (target.zoom !== undefined)
    items.push({
      text: "Zoom to it",
      run: () => set({ zoom: target.zoom! }),
    });
  if (f !== null && f < profile.functions.count)
    items.push(...changesOf(target, f, state, set));
  if (target.stack.length)
    items.push({
      text: "Copy stack",
      run: () => void copyText(target.stack.join("\n")),
    });
  items.push({
    text: "Copy a link to this view",
    run: () => void copyText(link()),
  });
  if (can) items.push({ text: "Undo", run: undo });
  items.push({
    text: "Show all stacks as they are",
    run: () => set({ ...unfocused(state), ...unchanged }),
  });
  return items;
}

// The menu of a view, and what opens it.
export function useFrameMenu(): {
  open(target: FrameTarget): void;
  menu: JSX.Element | null;
} {
  const [target, setTarget] = useState<FrameTarget | null>(null);
  const items = useItems(target);
  const menu = target && (
    <Menu
      label={`What to do with ${display(target.name, 80)}`}
      x={target.x}
      y={target.y}
      items={items}
      onClose={() => setTarget(null)}
    />
  );
  return { open: setTarget, menu };
}
