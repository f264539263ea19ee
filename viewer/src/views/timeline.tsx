// SPDX-License-Identifier: MIT
// Timeline: what ran when. A range of it and some of its threads can be
// chosen; all that is shown below is of these.

import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { display } from "../data/display";
import type { Profile } from "../data/profile";
import { paintLane } from "../draw/lane_painter";
import { amount } from "../model/amount";
import { useAnalysis } from "../state/analysis";
import { useStore } from "../state/store";
import { isPlain } from "../ui/keys";
import { useSize } from "../ui/size";
import { usePalette } from "../ui/theme";
import { rowAfterKey, rowId, VirtualRows } from "../ui/virtual_rows";
import { Axis } from "./axis";
import {
  type LaneRow,
  laneRows,
  makeLane,
  markNear,
  residentAt,
  sharesAt,
} from "./lanes";

const rowHeight = 30;
const labelWidth = 190; // px, as in the style
const mostRows = 5; // that are seen at once
const tallRows = 14; // the same where one wants more
const mostHovered = 64; // threads whose shares are summed at once
const scrollbar = 14; // px

type Range = [number, number];

function LaneCanvas(props: {
  row: LaneRow;
  shown: Range;
  width: number;
}): JSX.Element {
  const { row, shown, width } = props;
  const { profile } = useAnalysis();
  const palette = usePalette();
  const canvas = useRef<HTMLCanvasElement>(null);
  const lane = useMemo(
    () => makeLane(profile, row, shown, Math.max(1, Math.floor(width / 2))),
    [profile, row, shown[0], shown[1], width],
  );
  useLayoutEffect(
    () => paintLane(canvas.current!, [width, rowHeight - 2], lane, palette),
    [lane, palette, width],
  );
  return <canvas ref={canvas} />;
}

function useRange() {
  const [state, set] = useStore();
  const { profile } = useAnalysis();
  const shown: Range = state.shown ?? [0, profile.duration];
  const clamp = (us: number) => Math.max(0, Math.min(profile.duration, us));
  const setRange = (one: number, other: number) => {
    const [from, to] = [
      clamp(Math.min(one, other)),
      clamp(Math.max(one, other)),
    ];
    set({ range: to > from ? [from, to] : null });
  };
  return { state, set, profile, shown, setRange };
}

function Marker(props: { shown: Range; range: Range | null; width: number }) {
  const { shown, range, width } = props;
  if (!range) return null;
  const at = (us: number) =>
    Math.max(0, Math.min(1, (us - shown[0]) / (shown[1] - shown[0]))) * width;
  const left = at(range[0]);
  return (
    <div
      class="range"
      style={{
        left: `${labelWidth + left}px`,
        width: `${Math.max(1, at(range[1]) - left)}px`,
      }}
    />
  );
}

// Drawing a range by the pointer, from one time to another.
function useDrag(width: number) {
  const { shown, setRange, set } = useRange();
  const begun = useRef<{ us: number; x: number; moved: boolean } | null>(null);
  const timeAt = (event: PointerEvent, element: HTMLElement) => {
    const x = event.clientX - element.getBoundingClientRect().left - labelWidth;
    return shown[0] + (x / width) * (shown[1] - shown[0]);
  };
  return {
    timeAt,
    onPointerDown: (event: PointerEvent) => {
      const element = event.currentTarget as HTMLElement;
      const x = event.clientX - element.getBoundingClientRect().left;
      if (event.button || x < labelWidth || x > labelWidth + width) return;
      const us = timeAt(event, element);
      begun.current = { us, x: event.clientX, moved: false };
      element.setPointerCapture(event.pointerId);
    },
    onPointerMove: (event: PointerEvent) => {
      const from = begun.current;
      if (!from) return;
      if (Math.abs(event.clientX - from.x) > 3) from.moved = true;
      if (from.moved)
        setRange(from.us, timeAt(event, event.currentTarget as HTMLElement));
    },
    onPointerUp: () => {
      if (begun.current && !begun.current.moved) set({ range: null });
      begun.current = null;
    },
  };
}

// The keys of a range: arrows move it, or with shift its end.
function rangeAfterKey(
  event: KeyboardEvent,
  shown: Range,
  range: Range | null,
): Range | null {
  const step = (shown[1] - shown[0]) / 50;
  const by = event.key === "ArrowLeft" ? -step : step;
  if (!range) {
    const middle = (shown[0] + shown[1]) / 2;
    return [middle - 5 * step, middle + 5 * step];
  }
  if (event.shiftKey)
    return [range[0], Math.max(range[0] + step / 10, range[1] + by)];
  return range[0] + by < 0 ? range : [range[0] + by, range[1] + by];
}

function useChosen(rows: LaneRow[]) {
  const { state, set } = useRange();
  const isChosen = (row: LaneRow) =>
    !!state.threads && row.threads.every((t) => state.threads!.includes(t));
  const choose = (row: LaneRow, add: boolean) => {
    const before = state.threads ?? [];
    if (!add) {
      const alone = isChosen(row) && before.length === row.threads.length;
      set({ threads: alone ? null : row.threads });
      return;
    }
    const others = before.filter((t) => !row.threads.includes(t));
    const threads = isChosen(row) ? others : [...others, ...row.threads];
    set({ threads: threads.length ? threads : null });
  };
  return { isChosen, choose, rows };
}

function sharesText(
  profile: Profile,
  threads: number[],
  us: number,
  usPerPixel: number,
): string {
  if (threads.length > mostHovered) return "";
  const reach = 2 * usPerPixel;
  const range: Range = [Math.max(0, us - reach), us + reach];
  const { cpu, blocked, waiting } = sharesAt(profile, threads, range);
  const part = (share: number, what: string) =>
    share > 0.005 ? [`${(100 * share).toFixed(0)}% ${what}`] : [];
  const parts = [
    ...part(cpu, "CPU"),
    ...part(blocked, "blocked"),
    ...part(waiting, "waiting for a CPU"),
  ];
  const of = threads.length > 1 ? ` of ${threads.length} threads` : "";
  return parts.length ? `, ${parts.join(", ")}${of}` : "";
}

function useHover() {
  const { profile } = useAnalysis();
  const [text, setText] = useState("");
  const hover = (row: LaneRow | undefined, us: number, usPerPixel: number) => {
    if (!row || us < 0) return setText("");
    const mark = markNear(profile, row.threads, us, 4 * usPerPixel);
    const bytes = residentAt(profile, row.process, us);
    const at =
      amount(us, "us") +
      sharesText(profile, row.threads, us, usPerPixel) +
      (bytes === null ? "" : `, ${amount(bytes, "bytes")} resident`);
    if (mark === null) return setText(at);
    const { text: name, missed, duration } = profile.marks;
    const long = duration[mark] ? `, ${amount(duration[mark], "us")}` : "";
    setText(
      `${at}: ${display(profile.strings.text(name[mark]), 200)}${long}` +
        (missed[mark] ? ", its deadline missed" : ""),
    );
  };
  return { text, hover };
}

function Status(props: { text: string; rows: number }): JSX.Element {
  const { state, set, profile } = useRange();
  const { range, threads } = state;
  return (
    <div class="status" id="selection" aria-live="polite">
      {range
        ? `${amount(range[0], "us")} to ${amount(range[1], "us")} (${amount(range[1] - range[0], "us")})`
        : "all of the time"}
      {threads
        ? `, ${threads.length} thread${threads.length > 1 ? "s" : ""}`
        : ", all threads"}
      {(range || threads) && (
        <button
          type="button"
          onClick={() => set({ range: null, threads: null })}
        >
          Select all
        </button>
      )}
      {range && (
        <button type="button" onClick={() => set({ shown: range })}>
          Show the range alone
        </button>
      )}
      {state.shown && (
        <button type="button" onClick={() => set({ shown: null })}>
          Show all of the time
        </button>
      )}
      {props.rows > mostRows && (
        <button type="button" onClick={() => set({ tall: !state.tall })}>
          {state.tall ? "Fewer rows" : "More rows"}
        </button>
      )}
      <span class="pointer">{props.text}</span>
      <ul class="legend" aria-label="Colours of the timeline">
        <li>
          <i class="cpu" />
          CPU
        </li>
        <li>
          <i class="blocked" />
          blocked
        </li>
        <li>
          <i class="waiting" />
          waiting for a CPU
        </li>
        {profile.heaps.length > 0 && (
          <li>
            <i class="memory" />
            heap
          </li>
        )}
        {profile.sizes.time.length > 0 && (
          <li>
            <i class="resident" />
            resident
          </li>
        )}
      </ul>
    </div>
  );
}

function laneName(
  analysis: ReturnType<typeof useAnalysis>,
  { process, thread }: LaneRow,
): string {
  if (thread !== null) return display(analysis.names.thread(thread), 100);
  const { recording } = analysis.profile.head.processes[process];
  const side = analysis.isDiff ? (recording ? "B: " : "A: ") : "";
  return side + display(analysis.names.process(process), 100);
}

// Where it is too long the name is cut, not the number behind it.
function LaneName(props: { name: string }): JSX.Element {
  const number = props.name.lastIndexOf(" [");
  if (number < 0) return <span>{props.name}</span>;
  return (
    <>
      <span>{props.name.slice(0, number)}</span>
      <b>{props.name.slice(number)}</b>
    </>
  );
}

export function Timeline(): JSX.Element {
  const { state, set, profile, shown } = useRange();
  const analysis = useAnalysis();
  const box = useRef<HTMLDivElement>(null);
  const [whole] = useSize(box);
  const width = Math.max(50, whole - labelWidth - scrollbar);
  const rows = useMemo(
    () => laneRows(profile, state.toggled),
    [profile, state.toggled],
  );
  const [at, setActive] = useState(0);
  const active = Math.min(at, rows.length - 1);
  const { isChosen, choose } = useChosen(rows);
  const drag = useDrag(width);
  const { text, hover } = useHover();

  const toggle = ({ process }: LaneRow) =>
    set({
      toggled: state.toggled.includes(process)
        ? state.toggled.filter((p) => p !== process)
        : [...state.toggled, process],
    });
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isPlain(event)) return;
    const to = rowAfterKey(event.key, active, rows.length);
    if (to !== null) setActive(to);
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight")
      set({ range: rangeAfterKey(event, shown, state.range) });
    else if (event.key === "Enter" || event.key === " ")
      choose(rows[active], event.shiftKey);
    else if (event.key === "x") toggle(rows[active]);
    else if (event.key === "+" && state.range) set({ shown: state.range });
    else if (event.key === "-") set({ shown: null });
    else return;
    event.preventDefault();
  };

  const row = (index: number) => (
    <div
      key={index}
      id={rowId("lanes", index)}
      role="option"
      class={"lane" + (rows[index].thread === null ? " process" : "")}
      aria-selected={isChosen(rows[index])}
      data-active={index === active}
      onPointerMove={(e) => {
        const us = drag.timeAt(e, e.currentTarget);
        hover(rows[index], us, (shown[1] - shown[0]) / width);
      }}
    >
      <span
        class="label"
        title={laneName(analysis, rows[index])}
        onClick={(e) => {
          setActive(index);
          choose(rows[index], e.ctrlKey || e.metaKey || e.shiftKey);
        }}
      >
        {rows[index].thread === null && rows[index].threads.length > 1 && (
          <i
            class={rows[index].isOpen ? "open" : "closed"}
            title="Show or hide its threads"
            onClick={(e) => {
              e.stopPropagation();
              toggle(rows[index]);
            }}
          />
        )}
        <LaneName name={laneName(analysis, rows[index])} />
        {rows[index].isOpen === false && rows[index].threads.length > 1 && (
          <small> {rows[index].threads.length} threads</small>
        )}
      </span>
      <LaneCanvas row={rows[index]} shown={shown} width={width} />
    </div>
  );

  return (
    <section class="timeline" aria-label="Timeline">
      <Axis shown={shown} width={width} />
      <div
        class="drag"
        ref={box}
        style={{
          height: `${Math.min(state.tall ? tallRows : mostRows, rows.length) * rowHeight + 2}px`,
        }}
        onPointerDown={drag.onPointerDown}
        onPointerMove={drag.onPointerMove}
        onPointerUp={drag.onPointerUp}
        onPointerLeave={() => hover(undefined, 0, 0)}
      >
        <VirtualRows
          id="lanes"
          role="listbox"
          label="Processes and threads"
          multiple
          count={rows.length}
          rowHeight={rowHeight}
          active={active}
          row={row}
          onKeyDown={onKeyDown}
        />
        <Marker shown={shown} range={state.range} width={width} />
      </div>
      <Status text={text} rows={rows.length} />
    </section>
  );
}
