// SPDX-License-Identifier: MIT
import { render } from "preact";
import { display } from "./data/display";
import { readPage } from "./data/page";
import { hasTime, readProfile } from "./data/profile";
import { Analysis, AnalysisContext } from "./state/analysis";
import { initial } from "./state/state";
import { Store, StoreContext } from "./state/store";
import "./style.css";
import { App } from "./views/app";

async function main(root: HTMLElement): Promise<void> {
  const { head, columns } = await readPage();
  const profile = readProfile(head, columns);
  document.title = display(head.title, 120);
  const base = {
    ...initial,
    tab: hasTime(profile) ? "flame" : "heap",
  } as const;
  root.textContent = "";
  render(
    <StoreContext.Provider value={new Store(base)}>
      <AnalysisContext.Provider value={new Analysis(profile)}>
        <App />
      </AnalysisContext.Provider>
    </StoreContext.Provider>,
    root,
  );
}

const root = document.getElementById("app")!;
main(root).catch((error: unknown) => {
  console.error(error);
  root.textContent = `This recording cannot be shown: ${String(error)}`;
});
