// SPDX-License-Identifier: MIT
// Marks: the program's own, as a table; one chooses its time, or that before.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { display } from "../data/display";
import type { Profile } from "../data/profile";
import { amount } from "../model/amount";
import { matcher } from "../model/search";
import { useAnalysis } from "../state/analysis";
import { useFound } from "../state/found";
import type { State } from "../state/state";
import { useStore } from "../state/store";
import { copyText } from "../ui/copy";
import { isPlain } from "../ui/keys";
import { rowAfterKey, rowId, VirtualRows } from "../ui/virtual_rows";

const rowHeight = 22;
const before = 40000; // us
const least = 1000; // us, of a mark that is a moment

function sortedMarks(profile: Profile, state: State): number[] {
  const { count, of, time, duration } = profile.marks;
  const threads = state.threads ?? profile.head.threads.map((_, t) => t);
  const all: number[] = [];
  for (const t of threads)
    for (let k = of.start[t]; k < of.start[t + 1]; k++) all.push(of.order[k]);
  const byTime = (m: number, n: number) => time[m] - time[n] || m - n;
  if (state.marksBy === "time" || !count) return all.sort(byTime);
  return all.sort((m, n) => duration[n] - duration[m] || byTime(m, n));
}

// The time of a mark, and of what was before it.
function rangeOf(
  { marks, duration }: Profile,
  mark: number,
  lead: number,
): [number, number] {
  const start = marks.time[mark];
  const end = lead ? start : start + Math.max(marks.duration[mark], least);
  return [Math.max(0, start - lead), Math.min(duration, Math.max(end, 1))];
}

function Heads(): JSX.Element {
  const [state, set] = useStore();
  const button = (text: string, marksBy: State["marksBy"]) => (
    <button
      type="button"
      aria-pressed={state.marksBy === marksBy}
      onClick={() => set({ marksBy })}
    >
      {text}
      {state.marksBy === marksBy ? " \u25be" : ""}
    </button>
  );
  return (
    <div class="heads">
      <span class="cell number">{button("Start", "time")}</span>
      <span class="cell number">{button("Duration", "duration")}</span>
      <span class="cell">Deadline</span>
      <span class="cell thread-cell">Thread</span>
      <span class="name">Mark</span>
    </div>
  );
}

export function Marks(): JSX.Element {
  const [state, set] = useStore();
  const { profile, names } = useAnalysis();
  const [at, setAt] = useState(0);
  const threadOf = useMemo(() => {
    const { of, count } = profile.marks;
    const thread = new Uint32Array(count);
    profile.head.threads.forEach((_, t) => {
      for (let k = of.start[t]; k < of.start[t + 1]; k++)
        thread[of.order[k]] = t;
    });
    return thread;
  }, [profile]);
  const marks = useMemo(
    () => sortedMarks(profile, state),
    [profile, state.threads, state.marksBy],
  );
  const text = (mark: number) => profile.strings.text(profile.marks.text[mark]);
  const found = useMemo(() => {
    const matches = matcher(state.search);
    if (!matches) return null;
    const rows: number[] = [];
    marks.forEach((mark, i) => {
      if (matches(text(mark))) rows.push(i);
    });
    return rows;
  }, [marks, state.search]);
  const isFound = useMemo(() => new Set(found ?? []), [found]);
  useFound(found ? found.length : null, (i) => setAt(found![i]));
  const active = Math.min(at, marks.length - 1);

  const choose = (index: number, lead: number) => {
    if (marks[index] !== undefined)
      set({ range: rangeOf(profile, marks[index], lead) });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isPlain(event) || !marks.length) return;
    const to = rowAfterKey(event.key, active, marks.length);
    if (to !== null) setAt(to);
    else if (event.key === "Enter") choose(active, 0);
    else if (event.key === "b") choose(active, before);
    else if (event.key === "c") void copyText(text(marks[active]));
    else return;
    event.preventDefault();
  };

  const row = (index: number) => {
    const mark = marks[index];
    const { time, duration, missed } = profile.marks;
    return (
      <div
        key={mark}
        id={rowId("marks", index)}
        role="row"
        class={isFound.has(index) ? "row found" : "row"}
        aria-rowindex={index + 1}
        aria-selected={index === active}
        title={display(text(mark))}
        onClick={() => setAt(index)}
        onDblClick={() => choose(index, 0)}
      >
        <span role="gridcell" class="cell number">
          {amount(time[mark], "us")}
        </span>
        <span role="gridcell" class="cell number">
          {duration[mark] ? amount(duration[mark], "us") : "a moment"}
        </span>
        <span role="gridcell" class={missed[mark] ? "cell missed" : "cell"}>
          {missed[mark] ? "missed" : ""}
        </span>
        <span role="gridcell" class="cell thread-cell">
          {display(names.thread(threadOf[mark]), 40)}
        </span>
        <span role="gridcell" class="name">
          {display(text(mark), 300)}
        </span>
      </div>
    );
  };

  return (
    <div class="table">
      <Heads />
      <VirtualRows
        id="marks"
        role="grid"
        label="Marks of the program"
        count={marks.length}
        rowHeight={rowHeight}
        active={active}
        row={row}
        onKeyDown={onKeyDown}
      />
      <p class="detail actions">
        <button
          type="button"
          disabled={!marks.length}
          onClick={() => choose(active, 0)}
        >
          Choose its time
        </button>
        <button
          type="button"
          disabled={!marks.length}
          onClick={() => choose(active, before)}
        >
          Choose the 40 ms before it
        </button>
        <span>
          {marks.length.toLocaleString("en-US")}{" "}
          {marks.length === 1 ? "mark" : "marks"} of{" "}
          {state.threads ? "the chosen threads" : "all threads"}
        </span>
      </p>
    </div>
  );
}
