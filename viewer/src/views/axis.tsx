// SPDX-License-Identifier: MIT
// Axis: the times of a picture, above it.

import { scaleLinear } from "d3-scale";
import type { JSX } from "preact";
import { amount } from "../model/amount";

const textWidth = 55; // px, at most

export function Axis(props: {
  shown: [number, number]; // us
  width: number; // px
}): JSX.Element {
  const { shown, width } = props;
  const scale = scaleLinear().domain(shown).range([0, width]);
  const ticks = scale
    .ticks(Math.max(2, Math.floor(width / 110)))
    .filter((us) => scale(us) + textWidth <= width);
  return (
    <div class="axis" style={{ width: `${width}px` }} aria-hidden="true">
      {ticks.map((us) => (
        <span key={us} style={{ left: `${scale(us)}px` }}>
          {us ? amount(us, "us") : "0"}
        </span>
      ))}
    </div>
  );
}
