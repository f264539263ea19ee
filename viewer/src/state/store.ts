// SPDX-License-Identifier: MIT
// Store: the one state, who listens to it, and its copy in the address.

import { createContext } from "preact";
import { useContext, useLayoutEffect, useState } from "preact/hooks";
import { change, fromHash, type State, stepOf, toHash, undone } from "./state";

const writeAfter = 200; // ms: browsers refuse quick writes of addresses
const mostSteps = 200; // to be undone
// Steps of these that follow each other within `oneStep` ms are one.
const flowing = ["search", "range"];
const oneStep = 700;

export class Store {
  state: State;
  private readonly listeners = new Set<() => void>();
  private timer: number | undefined;
  private readonly past: State[] = [];
  private last = { step: "", time: 0 };

  constructor(private readonly base: State) {
    this.state = fromHash(location.hash.slice(1), base);
    addEventListener("hashchange", () => {
      if (location.hash.slice(1) === toHash(this.state, base)) return;
      const before = this.state;
      this.state = fromHash(location.hash.slice(1), base);
      this.remember(before);
      this.tell();
    });
    addEventListener("pagehide", () => this.write());
  }

  set(patch: Partial<State>): void {
    const before = this.state;
    this.state = change(before, patch);
    this.remember(before);
    this.changed();
  }

  canUndo(): boolean {
    return this.past.length > 0;
  }

  undo(): void {
    const before = this.past.pop();
    if (!before) return;
    this.state = undone(this.state, before);
    this.last.step = "";
    this.changed();
  }

  // The address of this view.
  link(): string {
    this.write();
    return location.href;
  }

  private remember(before: State): void {
    const step = stepOf(before, this.state);
    if (!step) return;
    const time = performance.now();
    const goesOn =
      flowing.includes(step) &&
      step === this.last.step &&
      time - this.last.time < oneStep;
    this.last = { step, time };
    if (goesOn) return;
    this.past.push(before);
    if (this.past.length > mostSteps) this.past.shift();
  }

  private changed(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.write(), writeAfter);
    this.tell();
  }

  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  // Draws all again: there is more to show.
  refresh(): void {
    this.tell();
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }

  private write(): void {
    const hash = toHash(this.state, this.base);
    if (hash !== location.hash.slice(1))
      history.replaceState(null, "", "#" + hash);
  }
}

export const StoreContext = createContext<Store>(null as unknown as Store);

export function useStore(): [State, (patch: Partial<State>) => void] {
  const store = useContext(StoreContext);
  const [, redraw] = useState(0);
  useLayoutEffect(() => store.listen(() => redraw((n) => n + 1)), [store]);
  return [store.state, (patch) => store.set(patch)];
}

export function useUndo(): { can: boolean; undo(): void; link(): string } {
  const store = useContext(StoreContext);
  return {
    can: store.canUndo(),
    undo: () => store.undo(),
    link: () => store.link(),
  };
}
