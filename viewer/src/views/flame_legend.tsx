// SPDX-License-Identifier: MIT
// Flame legend: whose colours these are.

import type { JSX } from "preact";
import { display } from "../data/display";
import { changeColor, type Palette } from "../draw/colors";
import { useAnalysis } from "../state/analysis";

function Key(props: { color: string; text: string }): JSX.Element {
  return (
    <li>
      <i style={{ background: props.color }} />
      {props.text}
    </li>
  );
}

export function FlameLegend(props: {
  ranks: Map<number, number>;
  palette: Palette;
  guesses?: boolean; // some frames are
  missing?: boolean; // some stacks are not whole
  unreported?: boolean; // these are the colours
  growth?: boolean; // these are
}): JSX.Element {
  const { names, isDiff } = useAnalysis();
  const { palette } = props;
  if (isDiff)
    return (
      <ul class="legend">
        <Key color={changeColor(palette, -1)} text="less in B" />
        <Key color={changeColor(palette, 0)} text="the same" />
        <Key color={changeColor(palette, 1)} text="more in B" />
      </ul>
    );
  if (props.growth)
    return (
      <ul class="legend" aria-label="Colours of growth">
        <Key color={changeColor(palette, 1)} text="grew" />
        <Key color={changeColor(palette, 0)} text="as much of both" />
        <Key color={changeColor(palette, -1)} text="shrank" />
      </ul>
    );
  if (props.unreported)
    return (
      <ul class="legend" aria-label="Colours of what is not reported">
        <Key color={changeColor(palette, 0)} text="reported" />
        <Key color={changeColor(palette, 0.5)} text="half of it not" />
        <Key color={changeColor(palette, 1)} text="not reported" />
      </ul>
    );
  const modules = [...props.ranks].slice(0, palette.frames.length);
  return (
    <ul class="legend" aria-label="Colours of modules">
      {modules.map(([module, rank]) => (
        <Key
          key={module}
          color={palette.frames[rank][1]}
          text={display(names.module(module), 40)}
        />
      ))}
      {props.ranks.size > modules.length && (
        <Key color={palette.other[1]} text="others" />
      )}
      {props.guesses && (
        <li>
          <i class="guess" />
          ~ guessed
        </li>
      )}
      {props.missing && (
        <li>
          <i class="missing" />
          cut or lost on the way to the root
        </li>
      )}
    </ul>
  );
}
