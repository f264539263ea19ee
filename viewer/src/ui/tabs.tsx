// SPDX-License-Identifier: MIT
// Tabs: one of several, with arrows between them.

import type { JSX } from "preact";

export interface TabsProps<T extends string> {
  label: string;
  panel: string; // its id
  tabs: { id: T; text: string }[];
  chosen: T;
  onChoose(id: T): void;
}

export function Tabs<T extends string>(props: TabsProps<T>): JSX.Element {
  const { tabs, chosen, onChoose } = props;
  const onKeyDown = (event: KeyboardEvent) => {
    const at = tabs.findIndex((tab) => tab.id === chosen);
    const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 };
    const step = steps[event.key];
    const to =
      event.key === "Home"
        ? 0
        : event.key === "End"
          ? tabs.length - 1
          : step === undefined
            ? null
            : (at + step + tabs.length) % tabs.length;
    if (to === null) return;
    event.preventDefault();
    onChoose(tabs[to].id);
    ((event.currentTarget as HTMLElement).children[to] as HTMLElement).focus();
  };
  return (
    <div
      role="tablist"
      class="tabs"
      aria-label={props.label}
      onKeyDown={onKeyDown}
    >
      {tabs.map(({ id, text }) => (
        <button
          key={id}
          type="button"
          role="tab"
          id={`${props.panel}-${id}`}
          aria-selected={id === chosen}
          aria-controls={props.panel}
          tabIndex={id === chosen ? 0 : -1}
          onClick={() => onChoose(id)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}
