// SPDX-License-Identifier: MIT
// Stack bar: how stacks are merged, and what they are narrowed to.

import type { JSX } from "preact";
import { display } from "../data/display";
import type { ShapeKind } from "../model/shapes";
import { useAnalysis } from "../state/analysis";
import type { State } from "../state/state";
import { useStore, useUndo } from "../state/store";
import { Choice } from "../ui/choice";

export const shapeTexts: Record<ShapeKind, string> = {
  down: "from the top",
  up: "from the bottom",
  callers: "callers of the focus",
  module: "by module",
};

// Callers are those of a focus.
export function unfocused(state: State): Partial<State> {
  return state.shape === "callers"
    ? { focus: null, shape: "down" }
    : { focus: null };
}

// What was done to stacks, each with the way back.
function Changes(props: { named(f: number): string }): JSX.Element {
  const [state, set] = useStore();
  const chips = (
    key: "merged" | "dropped" | "leaves",
    text: (name: string) => string,
  ) =>
    state[key].map((f) => (
      <button
        key={`${key}${f}`}
        type="button"
        class="chip"
        onClick={() => set({ [key]: state[key].filter((g) => g !== f) })}
      >
        {text(props.named(f))} &#x2715;
      </button>
    ));
  return (
    <>
      {chips("merged", (name) => `Without ${name}`)}
      {chips("dropped", (name) => `Dropped ${name}`)}
      {chips("leaves", (name) => `Collapsed below ${name}`)}
    </>
  );
}

export function StackBar(): JSX.Element {
  const [state, set] = useStore();
  const { names, profile } = useAnalysis();
  const { can, undo } = useUndo();
  const named = (f: number | null) =>
    f !== null && f < profile.functions.count
      ? display(names.function(f), 60)
      : null;
  const view = state.tab === "heap" ? state.inner : state.tab;
  const hasShape = view === "flame" || view === "tree";
  const chosen = named(state.function);
  return (
    <div class="choices">
      {hasShape && (
        <Choice
          label="Stacks"
          value={state.shape}
          options={Object.entries(shapeTexts)
            .filter(([value]) => value !== "callers" || state.focus !== null)
            .map(([value, text]) => ({ value, text }))}
          onChoose={(shape) => set({ shape: shape as ShapeKind })}
        />
      )}
      <label class="choice">
        <input
          type="checkbox"
          id="collapse"
          checked={state.collapse}
          onChange={(e) => set({ collapse: e.currentTarget.checked })}
        />
        <span>collapse recursion</span>
      </label>
      {state.shape === "down" && hasShape && (
        <label class="choice">
          <input
            type="checkbox"
            id="fold"
            checked={state.fold}
            onChange={(e) => set({ fold: e.currentTarget.checked })}
          />
          <span>fold start-up</span>
        </label>
      )}
      {state.focus === null ? (
        chosen && (
          <button
            type="button"
            id="focus"
            onClick={() => set({ focus: state.function })}
          >
            Focus on {chosen}
          </button>
        )
      ) : (
        <button type="button" id="focus" onClick={() => set(unfocused(state))}>
          {state.shape === "callers" ? "Callers of" : "Focused on"}{" "}
          {named(state.focus)} &#x2715;
        </button>
      )}
      {state.zoom > 0 && (
        <button type="button" id="unzoom" onClick={() => set({ zoom: 0 })}>
          Zoom out
        </button>
      )}
      <Changes named={(f) => named(f) ?? ""} />
      {can && (
        <button type="button" id="undo" onClick={undo}>
          Undo
        </button>
      )}
    </div>
  );
}
