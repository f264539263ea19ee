// SPDX-License-Identifier: MIT
// Functions: what each costs, with the source of the chosen one beside.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { display } from "../data/display";
import { amount, change, percent, points } from "../model/amount";
import {
  fitOrder,
  type FunctionCost,
  type FunctionOrder,
  sortFunctions,
} from "../model/function_table";
import { matcher } from "../model/search";
import type { Totals } from "../model/totals";
import { useAnalysis } from "../state/analysis";
import { useFound } from "../state/found";
import { useStore } from "../state/store";
import { copyText } from "../ui/copy";
import { isPlain } from "../ui/keys";
import { isMenuKey } from "../ui/menu";
import { rowAfterKey, rowId, VirtualRows } from "../ui/virtual_rows";
import { Cost, Part } from "./cost_cells";
import { listName } from "./frame_text";
import { useFrameMenu } from "./frame_menu";
import { Side } from "./side";

const rowHeight = 22;

function Costs(props: { row: FunctionCost; totals: Totals }): JSX.Element {
  const { row, totals } = props;
  const { a, b, unit, isGrowth } = totals;
  if (isGrowth)
    return (
      <>
        <Part value={change(row.selfB - row.selfA, unit)} />
        <Part value={change(row.totalB - row.totalA, unit)} />
        <Part value={row.totalB ? amount(row.totalB, unit) : ""} />
        <Part value={row.totalA ? amount(row.totalA, unit) : ""} />
      </>
    );
  if (b) {
    const delta = row.selfB / (b.all || 1) - row.selfA / (a.all || 1);
    return (
      <>
        <Part value={percent(row.selfA, a.all)} />
        <Part value={percent(row.selfB, b.all)} />
        <Part value={points(delta)} />
        <Part value={percent(row.totalA, a.all)} />
        <Part value={percent(row.totalB, b.all)} />
      </>
    );
  }
  return (
    <>
      <Cost value={row.selfA} all={a.all} unit={unit} />
      <Cost value={row.totalA} all={a.all} unit={unit} />
    </>
  );
}

type Heading = { text: string; order: FunctionOrder | null };

function headings(isDiff: boolean, isGrowth: boolean): Heading[] {
  if (isGrowth)
    return [
      { text: "Self change", order: "delta" },
      { text: "Total change", order: "deltaTotal" },
      { text: "Total grew", order: "totalB" },
      { text: "Total shrank", order: "total" },
    ];
  const part = { text: "", order: null };
  return isDiff
    ? [
        { text: "Self A", order: "self" },
        { text: "Self B", order: "selfB" },
        { text: "Self change", order: "delta" },
        { text: "Total A", order: "total" },
        { text: "Total B", order: "totalB" },
      ]
    : [
        { text: "Self", order: "self" },
        part,
        { text: "Total", order: "total" },
        part,
      ];
}

function Heads(props: { totals: Totals; by: FunctionOrder }): JSX.Element {
  const [, set] = useStore();
  const { isDiff } = useAnalysis();
  const button = (text: string, order: FunctionOrder) => (
    <button
      type="button"
      aria-pressed={props.by === order}
      onClick={() => set({ order })}
    >
      {text}
      {props.by === order ? " \u25be" : ""}
    </button>
  );
  return (
    <div class="heads">
      {headings(isDiff, props.totals.isGrowth).map(({ text, order }, i) => (
        <span key={i} class={text ? "cell number" : "cell number part"}>
          {order ? button(text, order) : text}
        </span>
      ))}
      <span class="name">{button("Function", "name")}</span>
    </div>
  );
}

export function Functions(): JSX.Element {
  const [state, set] = useStore();
  const analysis = useAnalysis();
  const { names } = analysis;
  const { order, rows } = analysis.functions(state);
  const by = fitOrder(state.order, order.totals);
  const sorted = useMemo(() => {
    return sortFunctions(rows, by, order.totals, (f) => names.function(f));
  }, [rows, order, by]);
  const found = useMemo(() => {
    const matches = matcher(state.search);
    if (!matches) return null;
    const at: number[] = [];
    sorted.forEach((r, i) => {
      if (matches(names.function(r.function))) at.push(i);
    });
    return at;
  }, [sorted, state.search]);
  const isFound = useMemo(() => new Set(found ?? []), [found]);
  const { open, menu } = useFrameMenu();
  useFound(found ? found.length : null, (at) =>
    set({ function: sorted[found![at]].function }),
  );
  const target = (index: number, x: number, y: number) => {
    const f = sorted[index].function;
    return { x, y, function: f, name: names.function(f), stack: [] };
  };
  const active = sorted.findIndex((r) => r.function === state.function);

  const onKeyDown = (event: KeyboardEvent) => {
    if (!isPlain(event) || !sorted.length) return;
    const to = rowAfterKey(event.key, active, sorted.length);
    if (to !== null) set({ function: sorted[to].function });
    else if (event.key === "Enter" && active >= 0)
      set({
        focus: sorted[active].function,
        shape: "down",
        ...toStacks(state.tab),
      });
    else if (isMenuKey(event) && active >= 0) {
      const place = document
        .getElementById(rowId("functions", active))
        ?.getBoundingClientRect();
      open(target(active, place?.left ?? 0, place?.bottom ?? 0));
    } else if (event.key === "c" && active >= 0)
      void copyText(names.function(sorted[active].function));
    else return;
    event.preventDefault();
  };

  const row = (index: number) => {
    const cost = sorted[index];
    const f = cost.function;
    return (
      <div
        key={f}
        id={rowId("functions", index)}
        role="row"
        class={isFound.has(index) ? "row found" : "row"}
        aria-rowindex={index + 1}
        aria-selected={index === active}
        title={`${display(names.function(f))}\n${display(names.place(f))}`}
        onClick={() => set({ function: f })}
        onContextMenu={(e) => {
          e.preventDefault();
          set({ function: f });
          open(target(index, e.clientX, e.clientY));
        }}
        onDblClick={() =>
          set({ focus: f, shape: "down", ...toStacks(state.tab) })
        }
      >
        <Costs row={cost} totals={order.totals} />
        <span role="gridcell" class="name">
          {display(listName(names.function(f)))}
          <small>{display(names.moduleOf(f), 60)}</small>
        </span>
      </div>
    );
  };

  return (
    <div class="split">
      <div class="table">
        <Heads totals={order.totals} by={by} />
        <VirtualRows
          id="functions"
          role="grid"
          label="Functions"
          count={sorted.length}
          rowHeight={rowHeight}
          active={active}
          row={row}
          onKeyDown={onKeyDown}
        />
      </div>
      <Side />
      {menu}
    </div>
  );
}

// Where the stacks of a function are looked at.
function toStacks(tab: string) {
  return tab === "heap"
    ? { inner: "flame" as const }
    : { tab: "flame" as const };
}
