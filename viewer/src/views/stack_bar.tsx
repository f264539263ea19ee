// SPDX-License-Identifier: MIT
// Stack bar: how stacks are merged, and what they are narrowed to.

import type { JSX } from "preact";
import { display } from "../data/display";
import type { ShapeKind } from "../model/shapes";
import { useAnalysis } from "../state/analysis";
import { useStore } from "../state/store";
import { Choice } from "../ui/choice";

export const shapeTexts: Record<ShapeKind, string> = {
  down: "from the top",
  up: "from the bottom",
  module: "by module",
};

export function StackBar(): JSX.Element {
  const [state, set] = useStore();
  const { names, profile } = useAnalysis();
  const named = (f: number | null) =>
    f !== null && f < profile.functions.count
      ? display(names.function(f), 60)
      : null;
  const view = state.tab === "heap" ? state.inner : state.tab;
  const chosen = named(state.function);
  return (
    <div class="choices">
      {view !== "functions" && (
        <Choice
          label="Stacks"
          value={state.shape}
          options={Object.entries(shapeTexts).map(([value, text]) => ({
            value,
            text,
          }))}
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
        <button type="button" id="focus" onClick={() => set({ focus: null })}>
          Focused on {named(state.focus)} &#x2715;
        </button>
      )}
      {state.zoom > 0 && (
        <button type="button" id="unzoom" onClick={() => set({ zoom: 0 })}>
          Zoom out
        </button>
      )}
    </div>
  );
}
