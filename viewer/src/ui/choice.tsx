// SPDX-License-Identifier: MIT
// Choice: a labelled list to choose one of.

import type { JSX } from "preact";

export function Choice(props: {
  label: string;
  value: string;
  options: { value: string; text: string }[];
  onChoose(value: string): void;
}): JSX.Element {
  return (
    <label class="choice">
      <span>{props.label}</span>
      <select
        value={props.value}
        onChange={(e) => props.onChoose(e.currentTarget.value)}
      >
        {props.options.map(({ value, text }) => (
          <option key={value} value={value} selected={value === props.value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
