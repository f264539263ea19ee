// SPDX-License-Identifier: MIT
// Header: what was recorded, the search, the weight, theme and help.

import type { JSX } from "preact";
import { display } from "../data/display";
import { hasTime } from "../data/profile";
import type { TimeWeight } from "../model/weights";
import { useAnalysis } from "../state/analysis";
import { useStore } from "../state/store";
import { Choice } from "../ui/choice";
import { nextTheme } from "../ui/theme";
import { SearchBox } from "./search_box";
import { weightTexts } from "./weight_texts";

function commands(analysis: ReturnType<typeof useAnalysis>): string {
  return analysis.profile.head.recordings
    .map(({ command, host }, i) => {
      const side = analysis.isDiff ? (i ? "B: " : "A: ") : "";
      return side + command.join(" ") + (host ? ` on ${host}` : "");
    })
    .join("   ");
}

export function Header(props: { onHelp(): void }): JSX.Element {
  const [state, set] = useStore();
  const analysis = useAnalysis();
  const { head } = analysis.profile;
  const about = display(commands(analysis), 300);
  return (
    <header class="top">
      <div class="about">
        <h1 title={display(head.title)}>{display(head.title, 120)}</h1>
        <p title={about}>{about}</p>
      </div>
      {hasTime(analysis.profile) && (
        <Choice
          label="Weight"
          value={state.weight}
          options={Object.entries(weightTexts).map(([value, text]) => ({
            value,
            text,
          }))}
          onChoose={(weight) => set({ weight: weight as TimeWeight })}
        />
      )}
      <SearchBox />
      <button
        type="button"
        id="theme"
        onClick={() => set({ theme: nextTheme(state.theme) })}
      >
        Light or dark
      </button>
      <button type="button" id="help" aria-label="Help" onClick={props.onHelp}>
        ?
      </button>
    </header>
  );
}
