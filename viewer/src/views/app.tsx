// SPDX-License-Identifier: MIT
// App: the page's parts and the keys that work in all of them.

import type { JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { hasTime, type Profile } from "../data/profile";
import type { ShapeKind } from "../model/shapes";
import type { TimeWeight } from "../model/weights";
import { useAnalysis } from "../state/analysis";
import type { State, Tab } from "../state/state";
import { useStore, useUndo } from "../state/store";
import { isPlain, isTyping, isUndo } from "../ui/keys";
import { Tabs } from "../ui/tabs";
import { nextTheme, usePalette } from "../ui/theme";
import { Header } from "./header";
import { Heap } from "./heap";
import { Help } from "./help";
import { Quality } from "./quality";
import { CallGraph } from "./call_graph";
import { Memory } from "./memory";
import { Marks } from "./marks";
import { useSearchSteps } from "./search_box";
import { shapeTexts, StackBar, unfocused } from "./stack_bar";
import { StackChart } from "./stack_chart";
import { StackView } from "./stack_view";
import { Timeline } from "./timeline";
import { weightTexts } from "./weight_texts";

const tabTexts: Record<Tab, string> = {
  flame: "Flame graph",
  tree: "Call tree",
  functions: "Functions",
  chart: "Stack chart",
  marks: "Marks",
  graph: "Call graph",
  heap: "Heap",
  memory: "Memory",
  quality: "Quality",
};

const tabIds = Object.keys(tabTexts) as Tab[];

const timeless: Tab[] = ["heap", "memory", "marks", "quality"];
const withoutStacks: Tab[] = ["memory", "marks", "quality"];

function tabsOf(profile: Profile): { id: Tab; text: string }[] {
  return tabIds
    .filter((id) => id !== "heap" || profile.heaps.length > 0)
    .filter((id) => id !== "memory" || profile.memory !== null)
    .filter((id) => id !== "quality" || profile.head.recordings.length > 0)
    .filter((id) => id !== "marks" || profile.marks.count > 0)
    .filter((id) => timeless.includes(id) || hasTime(profile))
    .map((id) => ({ id, text: tabTexts[id] }));
}

function after<T>(all: T[], one: T): T {
  return all[(all.indexOf(one) + 1) % all.length];
}

// What Escape undoes: the latest that narrows the view.
function undo(state: State): Partial<State> | null {
  if (state.zoom) return { zoom: 0 };
  if (state.search) return { search: "" };
  if (state.focus !== null) return unfocused(state);
  if (state.range) return { range: null };
  if (state.threads) return { threads: null };
  return null;
}

function patchForKey(key: string, state: State, tabs: Tab[]) {
  const tab = tabIds[Number(key) - 1];
  if (tab) return tabs.includes(tab) ? { tab } : null;
  switch (key) {
    case "s":
      return {
        shape: after(
          (Object.keys(shapeTexts) as ShapeKind[]).filter(
            (kind) => kind !== "callers" || state.focus !== null,
          ),
          state.shape,
        ),
      };
    case "w":
      return {
        weight: after(Object.keys(weightTexts) as TimeWeight[], state.weight),
      };
    case "r":
      return { collapse: !state.collapse };
    case "f":
      return state.function === null ? null : { focus: state.function };
    case "t":
      return { theme: nextTheme(state.theme) };
    case "Escape":
      return undo(state);
    default:
      return null;
  }
}

function useGlobalKeys(tabs: Tab[], onHelp: () => void): void {
  const [state, set] = useStore();
  const step = useSearchSteps();
  const { undo: undoStep } = useUndo();
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return;
      if (isUndo(event) && !isTyping(event.target)) {
        undoStep();
        return event.preventDefault();
      }
      if (!isPlain(event)) return;
      const search = document.getElementById("search")!;
      if (event.key === "Escape" && event.target === search) {
        search.blur();
        return set({ search: "" });
      }
      if (isTyping(event.target)) return;
      if (event.key === "?") onHelp();
      else if (event.key === "/") search.focus();
      else if (event.key === "n") step(1);
      else if (event.key === "N") step(-1);
      else {
        const patch = patchForKey(event.key, state, tabs);
        if (!patch) return;
        set(patch);
      }
      event.preventDefault();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  });
}

// Where the timeline will be.
function NoTimeline(): JSX.Element {
  return (
    <section class="timeline opening" aria-label="Timeline" aria-busy="true">
      {"Reading samples\u2026"}
    </section>
  );
}

// What needs each sample.
const timed: Tab[] = ["chart", "marks"];

export function App(): JSX.Element {
  const [state, set] = useStore();
  const analysis = useAnalysis();
  const { profile } = analysis;
  usePalette();
  const [help, setHelp] = useState(false);
  const tabs = tabsOf(profile);
  const ids = tabs.map((t) => t.id);
  const tab = ids.includes(state.tab) ? state.tab : ids[0];
  useLayoutEffect(() => {
    if (tab !== state.tab) set({ tab });
  }, [tab]);
  useGlobalKeys(ids, () => setHelp(true));
  const isKnown =
    profile.isWhole || (!timed.includes(tab) && analysis.isKnown(state));
  const isStacks = tab === "flame" || tab === "tree" || tab === "functions";
  return (
    <>
      <Header onHelp={() => setHelp(true)} />
      {(hasTime(profile) || profile.marks.count > 0) &&
        (profile.isWhole ? <Timeline /> : <NoTimeline />)}
      <nav class="bar" aria-label="Views">
        <Tabs
          label="Views"
          panel="panel"
          tabs={tabs}
          chosen={tab}
          onChoose={(id) => set({ tab: id })}
        />
        {!withoutStacks.includes(tab) &&
          !(tab === "heap" && state.inner === "retained") && <StackBar />}
      </nav>
      <div
        id="panel"
        class="panel"
        role="tabpanel"
        aria-labelledby={`panel-${tab}`}
      >
        {!isKnown && <p class="opening">{"Reading samples\u2026"}</p>}
        {isStacks && isKnown && <StackView view={tab} />}
        {tab === "chart" && isKnown && <StackChart />}
        {tab === "marks" && isKnown && <Marks />}
        {tab === "graph" && isKnown && <CallGraph />}
        {tab === "heap" && <Heap />}
        {tab === "memory" && <Memory />}
        {tab === "quality" && <Quality />}
      </div>
      <Help open={help} onClose={() => setHelp(false)} />
    </>
  );
}
