// SPDX-License-Identifier: MIT
// Store: the one state, who listens to it, and its copy in the address.

import { createContext } from "preact";
import { useContext, useLayoutEffect, useState } from "preact/hooks";
import { change, fromHash, type State, toHash } from "./state";

const writeAfter = 200; // ms: browsers refuse quick writes of addresses

export class Store {
  state: State;
  private readonly listeners = new Set<() => void>();
  private timer: number | undefined;

  constructor(private readonly base: State) {
    this.state = fromHash(location.hash.slice(1), base);
    addEventListener("hashchange", () => {
      if (location.hash.slice(1) === toHash(this.state, base)) return;
      this.state = fromHash(location.hash.slice(1), base);
      this.tell();
    });
    addEventListener("pagehide", () => this.write());
  }

  set(patch: Partial<State>): void {
    this.state = change(this.state, patch);
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.write(), writeAfter);
    this.tell();
  }

  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
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
