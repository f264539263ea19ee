// SPDX-License-Identifier: MIT
// Virtual rows: a list of any length, of which only what is seen is made.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useSize } from "./size";

const spare = 4; // rows above and below

export interface VirtualRowsProps {
  id: string;
  role: "treegrid" | "grid" | "listbox";
  label: string;
  count: number;
  rowHeight: number;
  active: number; // row with the keyboard's mark, -1: none
  multiple?: boolean;
  row(index: number): ComponentChildren;
  onKeyDown(event: KeyboardEvent): void;
  class?: string;
}

export function rowId(list: string, index: number): string {
  return `${list}-${index}`;
}

export function VirtualRows(props: VirtualRowsProps): JSX.Element {
  const { count, rowHeight, active } = props;
  const box = useRef<HTMLDivElement>(null);
  const [, height] = useSize(box);
  const [top, setTop] = useState(0);
  useEffect(() => {
    const element = box.current!;
    if (active < 0) return;
    const y = active * rowHeight;
    if (y < element.scrollTop) element.scrollTop = y;
    else if (y + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = y + rowHeight - element.clientHeight;
  }, [active, rowHeight]);
  const first = Math.max(0, Math.floor(top / rowHeight) - spare);
  const last = Math.min(count, Math.ceil((top + height) / rowHeight) + spare);
  const rows = [];
  for (let i = first; i < last; i++) rows.push(props.row(i));
  return (
    <div
      id={props.id}
      ref={box}
      class={"rows " + (props.class ?? "")}
      role={props.role}
      aria-label={props.label}
      aria-rowcount={props.role === "listbox" ? undefined : count}
      aria-multiselectable={props.multiple}
      aria-activedescendant={
        active >= first && active < last ? rowId(props.id, active) : undefined
      }
      tabIndex={0}
      onScroll={(e) => setTop(e.currentTarget.scrollTop)}
      onKeyDown={props.onKeyDown}
    >
      <div
        role="presentation"
        class="all"
        style={{ height: `${count * rowHeight}px` }}
      >
        <div
          role="presentation"
          class="seen"
          style={{ transform: `translateY(${first * rowHeight}px)` }}
        >
          {rows}
        </div>
      </div>
    </div>
  );
}

// Where the keys lead from row `at`; null: they lead nowhere.
export function rowAfterKey(
  key: string,
  at: number,
  count: number,
  page = 20,
): number | null {
  const clamp = (to: number) => Math.max(0, Math.min(count - 1, to));
  switch (key) {
    case "ArrowDown":
      return clamp(at + 1);
    case "ArrowUp":
      return clamp(at - 1);
    case "PageDown":
      return clamp(at + page);
    case "PageUp":
      return clamp(at - page);
    case "Home":
      return 0;
    case "End":
      return clamp(count - 1);
    default:
      return null;
  }
}
