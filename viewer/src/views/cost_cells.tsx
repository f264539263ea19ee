// SPDX-License-Identifier: MIT
// Cost cells: an amount, and its part of all with a bar.

import type { JSX } from "preact";
import { amount, percent } from "../model/amount";
import type { Unit } from "../model/weights";

export function Part(props: { value: string }): JSX.Element {
  return (
    <span role="gridcell" class="cell number">
      {props.value}
    </span>
  );
}

export function Cost(props: {
  value: number;
  all: number;
  unit: Unit;
}): JSX.Element {
  const { value, all, unit } = props;
  const part = all ? Math.max(0, Math.min(1, value / all)) : 0;
  return (
    <>
      <span role="gridcell" class="cell number">
        {value ? amount(value, unit) : ""}
      </span>
      <span role="gridcell" class="cell number part">
        <i class="bar" style={{ width: `${100 * part}%` }} />
        <span>{value ? percent(value, all) : ""}</span>
      </span>
    </>
  );
}
