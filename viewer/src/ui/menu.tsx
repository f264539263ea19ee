// SPDX-License-Identifier: MIT
// Menu: what can be done with the thing under the pointer or the keyboard's
// mark.

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export interface MenuItem {
  text: string;
  run(): void;
}

export interface MenuProps {
  label: string;
  x: number; // px in the window
  y: number;
  items: MenuItem[];
  onClose(): void;
}

const margin = 4; // px

function itemAfterKey(key: string, at: number, count: number): number | null {
  switch (key) {
    case "ArrowDown":
      return (at + 1) % count;
    case "ArrowUp":
      return (at - 1 + count) % count;
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return null;
  }
}

function placeIn(box: HTMLElement, x: number, y: number): [number, number] {
  return [
    Math.max(margin, Math.min(x, innerWidth - box.offsetWidth - margin)),
    Math.max(margin, Math.min(y, innerHeight - box.offsetHeight - margin)),
  ];
}

export function Menu(props: MenuProps): JSX.Element {
  const { label, items, onClose } = props;
  const box = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState<[number, number]>([props.x, props.y]);
  const buttons = () =>
    [...box.current!.querySelectorAll<HTMLElement>("[role=menuitem]")];
  useLayoutEffect(
    () => setPlace(placeIn(box.current!, props.x, props.y)),
    [props.x, props.y],
  );
  useEffect(() => {
    const before = document.activeElement;
    buttons()[0]?.focus();
    const onDown = (event: PointerEvent) => {
      if (!box.current?.contains(event.target as Node)) onClose();
    };
    addEventListener("pointerdown", onDown);
    return () => {
      removeEventListener("pointerdown", onDown);
      if (before instanceof HTMLElement || before instanceof SVGElement)
        before.focus();
    };
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    const all = buttons();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to = itemAfterKey(event.key, at, all.length);
    if (to !== null) all[to].focus();
    else if (event.key === "Escape" || event.key === "Tab") onClose();
    else if (event.key === "Enter" || event.key === " ") all[at]?.click();
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      ref={box}
      class="menu"
      role="menu"
      aria-label={label}
      style={{ left: `${place[0]}px`, top: `${place[1]}px` }}
      onKeyDown={onKeyDown}
    >
      {items.map(({ text, run }) => (
        <div
          key={text}
          role="menuitem"
          tabIndex={-1}
          onClick={() => {
            onClose();
            run();
          }}
        >
          {text}
        </div>
      ))}
    </div>
  );
}

// Whether a key asks for the menu.
export function isMenuKey(event: KeyboardEvent): boolean {
  return (
    event.key === "ContextMenu" ||
    (event.key === "F10" && event.shiftKey) ||
    event.key === "m"
  );
}
