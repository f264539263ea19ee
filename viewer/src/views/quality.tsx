// SPDX-License-Identifier: MIT
// Quality: what was lost, how walks ended, and what is known of modules.

import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { display } from "../data/display";
import type { RecordingInfo, WalkEnd } from "../data/head";
import { hasTime } from "../data/profile";
import { percent } from "../model/amount";
import { framesByHow, moduleCosts } from "../model/quality";
import { matcher } from "../model/search";
import { sum } from "../model/weights";
import { useAnalysis } from "../state/analysis";
import { useFound } from "../state/found";
import { useStore } from "../state/store";
import { unchanged } from "./frame_menu";

const howTexts: [number, string][] = [
  [0, "where the thread was interrupted"],
  [1, "by call frame information"],
  [6, "without it, and the call was checked"],
  [2, "without it, not checked: guesses"],
  [3, "by a search of the stack: guesses"],
];

function Table(props: {
  heads: string[];
  rows: ComponentChildren[][];
  none: string;
}): JSX.Element {
  if (!props.rows.length) return <p>{props.none}</p>;
  return (
    <table class="plain">
      <thead>
        <tr>
          {props.heads.map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {props.rows.map((row, i) => (
          <tr key={i}>
            {row.map((cell, j) => (
              <td key={j} class={typeof cell === "number" ? "number" : ""}>
                {typeof cell === "number" ? cell.toLocaleString("en-US") : cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Ends(props: { ends: WalkEnd[] }): JSX.Element {
  const all = props.ends.reduce((n, e) => n + e.count, 0);
  return (
    <Table
      heads={["End", "Stacks", ""]}
      none="No stack was walked."
      rows={props.ends.map((e) => [
        display(e.text),
        e.count,
        percent(e.count, all),
      ])}
    />
  );
}

// Walks are counted of samples and blocks; those of a heap's stacks are told
// of by the summary.
function Walks(props: { recording: RecordingInfo }): JSX.Element {
  const { recording } = props;
  return (
    <>
      <h3>How walks of stacks ended</h3>
      <Ends ends={recording.ends} />
      {!!recording.block_ends?.length && (
        <>
          <h3>Those of blocked threads</h3>
          <Ends ends={recording.block_ends} />
        </>
      )}
      <h3>What was lost</h3>
      <Table
        heads={["Reason", "Samples"]}
        none="Nothing."
        rows={recording.losses.map((l) => [display(l.reason), l.count])}
      />
    </>
  );
}

function Recording(props: { recording: RecordingInfo; side: string }) {
  const { recording, side } = props;
  const { profile } = useAnalysis();
  return (
    <section>
      <h2>
        {side}
        {display(recording.file, 200)}
      </h2>
      <p class="command">{display(recording.command.join(" "), 500)}</p>
      <ul class="summary">
        {recording.summary.map((line, i) => (
          <li key={i}>{display(line, 500)}</li>
        ))}
      </ul>
      {hasTime(profile) && <Walks recording={recording} />}
    </section>
  );
}

function Modules(): JSX.Element {
  const [state] = useStore();
  const analysis = useAnalysis();
  const { profile, names } = analysis;
  const weights = analysis.weights(state);
  const costs = useMemo(
    () => new Map(moduleCosts(profile, weights).map((c) => [c.module, c])),
    [profile, weights],
  );
  const all = sum(weights.a) + (weights.b ? sum(weights.b) : 0);
  const order = profile.head.modules
    .map((_, module) => module)
    .sort((m, n) => (costs.get(n)?.self ?? 0) - (costs.get(m)?.self ?? 0));
  return (
    <section class="wide">
      <h2>Modules</h2>
      <Table
        heads={["Module", "Symbols", "Self", "With a name", "Build-id"]}
        none="No module is known."
        rows={order.map((m) => {
          const info = profile.head.modules[m];
          const cost = costs.get(m);
          const damage = [
            info.detail,
            info.damaged_units ? `${info.damaged_units} damaged unit${info.damaged_units === 1 ? "" : "s"}` : "",
          ].filter((text) => text);
          return [
            <span title={display(info.path)}>
              {display(names.module(m), 60)}
            </span>,
            display([info.state, ...damage].join(", ")),
            percent(cost?.self ?? 0, all),
            cost ? percent(cost.named, cost.self) : "",
            <code>{display(info.build_id ?? "", 40)}</code>,
          ];
        })}
      />
    </section>
  );
}

function Frames(): JSX.Element {
  const [state] = useStore();
  const analysis = useAnalysis();
  const weights = analysis.weights(state);
  const found = useMemo(
    () => framesByHow(analysis.profile, weights),
    [analysis, weights],
  );
  const all = sum(found);
  return (
    <section>
      <h2>How frames were found</h2>
      <Table
        heads={["How", "Of all frames"]}
        none=""
        rows={howTexts.map(([how, text]) => [text, percent(found[how], all)])}
      />
    </section>
  );
}

const mostPlaces = 5;

// The outermost frames of the stacks that were lost on their way.
function LostPlaces(): JSX.Element | null {
  const [state] = useStore();
  const analysis = useAnalysis();
  const { names } = analysis;
  const { order } = analysis.functions({ ...state, ...unchanged });
  const { tree, totals } = order;
  const lost = [...order.children(0)].find(
    (n) => names.function(tree.key[n]) === "[lost]",
  );
  if (lost === undefined) return null;
  const places = [...order.children(lost)].slice(0, mostPlaces);
  return (
    <section>
      <h2>Where lost stacks end</h2>
      <Table
        heads={["Function", "Module", "Of all"]}
        none=""
        rows={places.map((n) => [
          display(names.function(tree.key[n]), 100),
          display(names.moduleOf(tree.key[n]), 60),
          percent(totals.a.total[n], totals.a.all),
        ])}
      />
    </section>
  );
}

export function Quality(): JSX.Element {
  const [state] = useStore();
  const { profile, isDiff } = useAnalysis();
  const box = useRef<HTMLDivElement>(null);
  const [cells, setCells] = useState<HTMLElement[] | null>(null);
  useLayoutEffect(() => {
    const matches = matcher(state.search);
    const all = [...box.current!.querySelectorAll<HTMLElement>("td, li")];
    for (const cell of all) cell.classList.remove("found");
    const found = matches
      ? all.filter((cell) => matches(cell.textContent ?? ""))
      : null;
    for (const cell of found ?? []) cell.classList.add("found");
    setCells(found);
  }, [state.search, state.weight, state.threads, state.range]);
  useFound(cells ? cells.length : null, (at) =>
    cells![at].scrollIntoView({ block: "nearest" }),
  );
  return (
    <div
      ref={box}
      class="quality"
      role="region"
      aria-label="How good the recording is"
      tabIndex={0}
    >
      {profile.head.recordings.map((recording, i) => (
        <Recording
          key={i}
          recording={recording}
          side={isDiff ? (i ? "B: " : "A: ") : ""}
        />
      ))}
      <Frames />
      <LostPlaces />
      <Modules />
    </div>
  );
}
