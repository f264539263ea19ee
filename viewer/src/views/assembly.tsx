// SPDX-License-Identifier: MIT
// Assembly: the instructions of the chosen function with their CPU time.

import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { display } from "../data/display";
import { amount, percent } from "../model/amount";
import { type Instruction, instructionsOf } from "../model/instructions";
import { useAnalysis } from "../state/analysis";
import { useStore } from "../state/store";

function Row(props: { at: Instruction; most: number; all: number }) {
  const { at, most, all } = props;
  const heat = most ? at.cost / most : 0;
  return (
    <tr class={heat === 1 ? "hottest" : ""} data-address={at.address}>
      <td class="number">{at.cost ? percent(at.cost, all) : ""}</td>
      <td class="number line">{at.line || ""}</td>
      <td class="number line">{at.address}</td>
      <td class="code">
        <i class="heat" style={{ width: `${100 * heat}%` }} />
        <span>
          {at.inlined ? "\u00b7 " : "  "}
          {display(at.text, 200)}
        </span>
      </td>
    </tr>
  );
}

function Instructions(props: { rows: Instruction[] }): JSX.Element {
  const { rows } = props;
  const box = useRef<HTMLDivElement>(null);
  const all = useMemo(() => rows.reduce((sum, r) => sum + r.cost, 0), [rows]);
  const most = useMemo(
    () => rows.reduce((most, r) => Math.max(most, r.cost), 0),
    [rows],
  );
  useEffect(() => {
    const row = box.current?.querySelector<HTMLElement>("tr.hottest");
    if (box.current && row)
      box.current.scrollTop = row.offsetTop - box.current.clientHeight / 2;
  }, [rows]);
  return (
    <>
      <p class="caption">
        {amount(all, "us")} of CPU time in the whole recording. {"\u00b7"} marks
        the code of inlined functions.
      </p>
      <div
        id="instructions"
        class="lines"
        ref={box}
        tabIndex={0}
        role="region"
        aria-label="Instructions"
      >
        <table>
          <thead>
            <tr>
              <th scope="col">Self</th>
              <th scope="col">Line</th>
              <th scope="col">Address</th>
              <th scope="col">Instruction</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((at) => (
              <Row key={at.address} at={at} most={most} all={all} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

export function Assembly(): JSX.Element {
  const [{ function: chosen }] = useStore();
  const { profile, names } = useAnalysis();
  const rows = useMemo(
    () => (chosen === null ? null : instructionsOf(profile, chosen)),
    [profile, chosen],
  );
  if (chosen === null || chosen >= profile.functions.count)
    return (
      <div class="source">
        <p class="empty">Choose a function to see its instructions.</p>
      </div>
    );
  return (
    <div class="source">
      <header>
        <b>{display(names.function(chosen), 200)}</b>
        <span>{display(names.moduleOf(chosen), 100)}</span>
      </header>
      {rows?.length ? (
        <Instructions rows={rows} />
      ) : (
        <p class="empty">
          The page has the instructions of the functions with most CPU time of
          their own. For another: windlass annotate --asm FUNCTION
        </p>
      )}
    </div>
  );
}
