// SPDX-License-Identifier: MIT
// Search box: a part of a name or an expression, how often the view has it,
// and the way to the next and the previous.

import type { JSX } from "preact";
import { useContext, useLayoutEffect, useState } from "preact/hooks";
import { parseQuery } from "../model/search";
import { type Found, FoundContext } from "../state/found";
import { useStore } from "../state/store";

function useBoard() {
  const board = useContext(FoundContext);
  const [, redraw] = useState(0);
  useLayoutEffect(
    () => board.listen(() => redraw((count) => count + 1)),
    [board],
  );
  return board;
}

function countText(found: Found, at: number): string {
  if (!found.count) return "none found";
  const share =
    found.share === null
      ? ""
      : `, ${(100 * found.share).toFixed(2)}% of all`;
  return `${Math.min(at, found.count - 1) + 1} of ${found.count.toLocaleString("en-US")}${share}`;
}

export function useSearchSteps(): (by: number) => void {
  const [state, set] = useStore();
  const board = useContext(FoundContext);
  return (by) => {
    const count = board.found?.count ?? 0;
    if (!count) return;
    const at = (Math.min(state.at, count - 1) + by + count) % count;
    set({ at });
    board.go(at);
  };
}

export function SearchBox(): JSX.Element {
  const [state, set] = useStore();
  const { found } = useBoard();
  const step = useSearchSteps();
  const query = parseQuery(state.search);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    step(event.shiftKey ? -1 : 1);
    event.preventDefault();
  };
  return (
    <div class="search" role="search">
      <input
        type="search"
        id="search"
        aria-label="Search names; an expression is within slashes"
        aria-invalid={!!query?.error}
        aria-describedby="found"
        placeholder="Search  ( / )"
        value={state.search}
        onInput={(e) => set({ search: e.currentTarget.value })}
        onKeyDown={onKeyDown}
      />
      <span
        id="found"
        role="status"
        class={query?.error ? "found-text wrong" : "found-text"}
      >
        {query?.error ?? (query && found ? countText(found, state.at) : "")}
      </span>
      {query && !query.error && !!found?.count && (
        <>
          <button
            type="button"
            id="previous"
            aria-label="Previous match"
            onClick={() => step(-1)}
          >
            &#x25b4;
          </button>
          <button
            type="button"
            id="next"
            aria-label="Next match"
            onClick={() => step(1)}
          >
            &#x25be;
          </button>
        </>
      )}
    </div>
  );
}
