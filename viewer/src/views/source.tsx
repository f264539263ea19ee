// SPDX-License-Identifier: MIT
// Source: the file of the chosen function with what its lines cost. Where
// the text is not in the page, the lines that cost something are listed.

import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { display } from "../data/display";
import type { Profile } from "../data/profile";
import { percent } from "../model/amount";
import { type LineCost, lineCosts } from "../model/line_costs";
import { sum } from "../model/weights";
import { useAnalysis } from "../state/analysis";
import { useStore } from "../state/store";

const mostLines = 20000;

function textOf(profile: Profile, file: number): string[] | null {
  const source = profile.head.sources.find((s) => s.file === file);
  if (!source) return null;
  return profile.strings.text(source.text).split("\n").slice(0, mostLines);
}

// Where a function begins; if that is not known, the first of its lines that
// is in a stack.
function firstLine({ functions, locations }: Profile, f: number): number {
  const known = functions.line[f];
  if (known) return known;
  const lines: number[] = [];
  locations.function.forEach((of, at) => {
    if (of === f && locations.file[at] === functions.file[f])
      lines.push(locations.line[at]);
  });
  return lines.length ? Math.min(...lines) : 0;
}

function Line(props: {
  number: number;
  text: string;
  cost: LineCost | undefined;
  all: number;
  first: boolean;
}): JSX.Element {
  const { number, text, cost, all, first } = props;
  const heat = cost && all ? Math.min(1, cost.self / all) : 0;
  return (
    <tr class={first ? "first" : ""} data-line={number}>
      <td class="number">{cost?.self ? percent(cost.self, all) : ""}</td>
      <td class="number">{cost?.total ? percent(cost.total, all) : ""}</td>
      <td class="number line">{number || "?"}</td>
      <td class="code">
        <i class="heat" style={{ width: `${100 * heat}%` }} />
        <span>{display(text, 1000).replaceAll("\\t", "    ")}</span>
      </td>
    </tr>
  );
}

function Lines(props: { file: number; line: number }): JSX.Element {
  const { file, line } = props;
  const [state] = useStore();
  const analysis = useAnalysis();
  const { profile } = analysis;
  const weights = analysis.weights(state);
  const side = weights.b ?? weights.a;
  const table = useRef<HTMLDivElement>(null);
  const text = useMemo(() => textOf(profile, file), [profile, file]);
  const costs = useMemo(
    () => lineCosts(profile, file, side),
    [profile, file, side],
  );
  const all = useMemo(() => sum(side), [side]);
  useEffect(() => {
    const box = table.current;
    const row = box?.querySelector<HTMLElement>("tr.first");
    if (box && row) box.scrollTop = row.offsetTop - box.clientHeight / 4;
  }, [file, line]);
  const numbers = text
    ? text.map((_, i) => i + 1)
    : [...costs.keys()].sort((m, n) => m - n);
  return (
    <div class="lines" ref={table} tabIndex={0} role="region" aria-label="Source lines">
      <table>
        <thead>
          <tr>
            <th scope="col">{weights.isGrowth ? "Self grew" : "Self"}</th>
            <th scope="col">{weights.isGrowth ? "Total grew" : "Total"}</th>
            <th scope="col">Line</th>
            <th scope="col">
              {text ? "Source" : "The text of this file is not in the page."}
            </th>
          </tr>
        </thead>
        <tbody>
          {numbers.map((n) => (
            <Line
              key={n}
              number={n}
              text={text?.[n - 1] ?? ""}
              cost={costs.get(n)}
              all={all}
              first={n === line}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function Source(): JSX.Element {
  const [{ function: chosen }, set] = useStore();
  const { profile, names } = useAnalysis();
  if (chosen === null || chosen >= profile.functions.count)
    return (
      <div class="source">
        <p class="empty">Choose a function to see what its lines cost.</p>
      </div>
    );
  const file = profile.functions.file[chosen];
  return (
    <div class="source">
      <header>
        <b>{display(names.function(chosen), 200)}</b>
        <span>
          {display(names.place(chosen), 300) || "no source line known"}
        </span>
        <button
          type="button"
          onClick={() => set({ focus: chosen, shape: "down" })}
        >
          Focus on its stacks
        </button>
      </header>
      {file ? (
        <Lines file={file} line={firstLine(profile, chosen)} />
      ) : (
        <p class="empty">No debug information tells of its lines.</p>
      )}
    </div>
  );
}
