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

// A page in the background draws nothing.
function drawn(): Promise<void> {
  return new Promise((done) => setTimeout(done));
}

async function main(root: HTMLElement): Promise<void> {
  const page = await readPage();
  const { head } = page;
  const { profile, addTimes } = readProfile(head, page.columns);
  const store = new Store({
    ...initial,
    tab: hasTime(profile) ? "flame" : profile.memory ? "memory" : "heap",
  });
  document.title = display(head.title, 120);
  root.textContent = "";
  render(
    <StoreContext.Provider value={store}>
      <AnalysisContext.Provider value={new Analysis(profile)}>
        <App />
      </AnalysisContext.Provider>
    </StoreContext.Provider>,
    root,
  );
  await drawn();
  for (const _ of addTimes(await page.later())) await drawn();
  store.refresh();
  performance.mark("windlass-whole");
}

const root = document.getElementById("app")!;
main(root).catch((error: unknown) => {
  console.error(error);
  root.textContent = `This recording cannot be shown: ${String(error)}`;
});
