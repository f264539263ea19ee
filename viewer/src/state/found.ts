// SPDX-License-Identifier: MIT
// Found: what the search found in the view that is shown. A view says how
// much that is and goes there; the search box counts it and leads on.

import { createContext } from "preact";
import { useContext, useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { useStore } from "./store";

export interface Found {
  count: number;
  share: number | null; // of all stacks; null: not known
}

// Where to go; eagerly: also if that changes what is shown.
type GoTo = (at: number, eagerly: boolean) => void;

export class FoundBoard {
  found: Found | null = null;
  private goTo: GoTo | null = null;
  private readonly listeners = new Set<() => void>();

  publish(found: Found | null): void {
    this.found = found;
    for (const listener of this.listeners) listener();
  }

  attend(goTo: GoTo): () => void {
    this.goTo = goTo;
    return () => {
      this.goTo = null;
      this.publish(null);
    };
  }

  go(at: number): void {
    this.goTo?.(at, true);
  }

  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

export const FoundContext = createContext(new FoundBoard());

// count: null where nothing is searched for.
export function useFound(
  count: number | null,
  goTo: GoTo,
  share: number | null = null,
): void {
  const board = useContext(FoundContext);
  const [state] = useStore();
  const latest = useRef(goTo);
  latest.current = goTo;
  useLayoutEffect(
    () => board.attend((at, eagerly) => latest.current(at, eagerly)),
    [board],
  );
  useLayoutEffect(
    () => board.publish(count === null ? null : { count, share }),
    [board, count, share],
  );
  const went = useRef(""); // the search that it went to the first of
  useEffect(() => {
    if (!count || went.current === state.search) return;
    went.current = state.search;
    latest.current(Math.min(state.at, count - 1), false);
  }, [state.search, !count]);
}
