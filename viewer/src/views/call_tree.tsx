// SPDX-License-Identifier: MIT
// Call tree: the same tree as the flame graph's as rows to open.

import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { display } from "../data/display";
import { amount, change, percent, points } from "../model/amount";
import {
  hottestPath,
  openRows,
  pathTo,
  type TreeRow,
} from "../model/open_rows";
import { deltaOf, type Order, type Side, type Totals } from "../model/totals";
import { reach } from "../model/tree";
import type { Unit } from "../model/weights";
import { type Analysis, shapeOf, useAnalysis } from "../state/analysis";
import { foundNodes, matchedShare } from "../model/search";
import { useFound } from "../state/found";
import { useStore } from "../state/store";
import { copyText } from "../ui/copy";
import { isPlain } from "../ui/keys";
import { isMenuKey } from "../ui/menu";
import { rowAfterKey, rowId, VirtualRows } from "../ui/virtual_rows";
import { Cost, Part } from "./cost_cells";
import { searchKeys } from "./flame";
import { stackOf, useFrameMenu } from "./frame_menu";
import { costText, listName } from "./frame_text";

const rowHeight = 22;
const indent = 14; // px a level
const deepest = 40; // levels that are indented
const nameRoom = "50% - 130px"; // of a row, that indentation may take

function Growth(props: { less: Side; more: Side; node: number; unit: Unit }) {
  const { less, more, node, unit } = props;
  const grew = more.total[node];
  const shrank = less.total[node];
  return (
    <>
      <Part value={change(grew - shrank, unit)} />
      <Part value={grew ? amount(grew, unit) : ""} />
      <Part value={shrank ? amount(shrank, unit) : ""} />
    </>
  );
}

function RowCosts(props: { order: Order; node: number; up: boolean }) {
  const { totals } = props.order;
  const { node } = props;
  if (totals.b && totals.isGrowth)
    return (
      <Growth
        less={totals.a}
        more={totals.b}
        node={node}
        unit={totals.unit}
      />
    );
  if (totals.b)
    return (
      <>
        <Part value={percent(totals.a.total[node], totals.a.all)} />
        <Part value={percent(totals.b.total[node], totals.b.all)} />
        <Part value={points(deltaOf(totals, node))} />
      </>
    );
  const cost = (values: Side["self"]) => (
    <Cost value={values[node]} all={totals.a.all} unit={totals.unit} />
  );
  return (
    <>
      {cost(totals.a.total)}
      {!props.up && cost(totals.a.self)}
    </>
  );
}

function headings(
  analysis: Analysis,
  { isGrowth }: Totals,
  up: boolean,
): string[] {
  if (isGrowth) return ["Change", "Grew", "Shrank"];
  if (analysis.isDiff) return ["A", "B", "Change"];
  return up ? ["Total", ""] : ["Total", "", "Self", ""];
}

function useOpen(order: Order, zoom: number) {
  const [open, setOpen] = useState(new Set<number>());
  const [active, setActive] = useState(0);
  useLayoutEffect(() => {
    const first = hottestPath(order);
    for (const node of pathTo(order, zoom)) first.add(node);
    if (zoom) first.add(zoom);
    setOpen(first);
    const rows = openRows(order, first);
    setActive(
      zoom
        ? Math.max(
            0,
            rows.findIndex((r) => r.node === zoom),
          )
        : 0,
    );
  }, [order, zoom]);
  const rows = useMemo(() => openRows(order, open), [order, open]);
  const toggle = (node: number, to = !open.has(node)) => {
    const next = new Set(open);
    if (to) next.add(node);
    else next.delete(node);
    setOpen(next);
  };
  // Opens what leads to a node, and marks it.
  const reveal = (node: number) => {
    const next = new Set([...open, ...pathTo(order, node)]);
    setOpen(next);
    setActive(openRows(order, next).findIndex((r) => r.node === node));
  };
  const shown = Math.min(active, rows.length - 1);
  return { open, rows, active: shown, setActive, toggle, reveal };
}

export function CallTree(): JSX.Element {
  const [state, set] = useStore();
  const analysis = useAnalysis();
  const order = analysis.order(state);
  const up = state.shape === "up" || state.shape === "callers";
  const zoom = reach(order.tree, state.zoom);
  const { open, rows, active, setActive, toggle, reveal } = useOpen(
    order,
    zoom,
  );
  const nameOf = analysis.nodeName(shapeOf(state), order.tree);
  const sureness = analysis.certainty(shapeOf(state), order.tree);
  const found = useMemo(
    () => searchKeys(analysis, state),
    [analysis, state.search, state.shape],
  );
  const foundAt = useMemo(
    () => (found ? foundNodes(order, found) : null),
    [found, order],
  );
  const share = useMemo(
    () => (found ? matchedShare(order.tree, found, order.totals) : null),
    [found, order],
  );
  const { open: openMenu, menu } = useFrameMenu();
  useFound(
    foundAt ? foundAt.length : null,
    (at) => {
      const node = foundAt![at];
      reveal(node);
      if (state.shape !== "module") set({ function: order.tree.key[node] });
    },
    share,
  );

  const choose = (index: number) => {
    setActive(index);
    const row = rows[index];
    if (row && state.shape !== "module")
      set({ function: order.tree.key[row.node] });
  };
  const keyName = analysis.keyName(shapeOf(state));
  const target = (node: number, x: number, y: number) => ({
    x,
    y,
    function: state.shape === "module" ? null : order.tree.key[node],
    name: keyName(order.tree.key[node]),
    stack: stackOf(order.tree, node, up, (n) => keyName(order.tree.key[n])),
    zoom: node,
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[active];
    if (!isPlain(event) || !row) return;
    const to = rowAfterKey(event.key, active, rows.length);
    if (to !== null) choose(to);
    else if (event.key === "ArrowRight") {
      if (open.has(row.node)) choose(Math.min(active + 1, rows.length - 1));
      else toggle(row.node, true);
    } else if (event.key === "ArrowLeft") {
      if (open.has(row.node)) toggle(row.node, false);
      else choose(parentRow(rows, active));
    } else if (event.key === "Enter" || event.key === " ") toggle(row.node);
    else if (isMenuKey(event)) {
      const place = document
        .getElementById(rowId("calltree", active))
        ?.getBoundingClientRect();
      openMenu(target(row.node, place?.left ?? 0, place?.bottom ?? 0));
    } else if (event.key === "c") void copyText(nameOf(row.node));
    else return;
    event.preventDefault();
  };

  const row = (index: number) => {
    const { node, level } = rows[index];
    const leaf = order.children(node).length === 0;
    const name = nameOf(node);
    return (
      <div
        key={node}
        id={rowId("calltree", index)}
        role="row"
        class={
          "row" +
          (found?.[order.tree.key[node]] ? " found" : "") +
          ` ${sureness(node)}`
        }
        aria-level={level}
        aria-rowindex={index + 1}
        aria-expanded={leaf ? undefined : open.has(node)}
        aria-selected={index === active}
        title={`${display(name)}\n${costText(order.totals, node)}`}
        onClick={() => choose(index)}
        onDblClick={() => toggle(node)}
        onContextMenu={(e) => {
          e.preventDefault();
          choose(index);
          openMenu(target(node, e.clientX, e.clientY));
        }}
      >
        <RowCosts order={order} node={node} up={up} />
        <span
          role="gridcell"
          class="name"
          style={{
            paddingLeft: `min(${Math.min(level - 1, deepest) * indent}px, ${nameRoom})`,
          }}
        >
          <i
            class={leaf ? "leaf" : open.has(node) ? "open" : "closed"}
            onClick={(e) => {
              e.stopPropagation();
              choose(index);
              toggle(node);
            }}
          />
          {display(listName(name))}
          <small>
            {state.shape === "module"
              ? ""
              : display(analysis.names.moduleOf(order.tree.key[node]), 60)}
          </small>
        </span>
      </div>
    );
  };

  return (
    <div class="table">
      <div class="heads" aria-hidden="true">
        {headings(analysis, order.totals, up).map((text, i) => (
          <span key={i} class={text ? "cell number" : "cell number part"}>
            {text}
          </span>
        ))}
        <span class="name">
          {up ? "Function, then its callers" : "Function, then what it calls"}
        </span>
      </div>
      <VirtualRows
        id="calltree"
        role="treegrid"
        label="Call tree"
        count={rows.length}
        rowHeight={rowHeight}
        active={active}
        row={row}
        onKeyDown={onKeyDown}
      />
      {menu}
    </div>
  );
}

function parentRow(rows: TreeRow[], at: number): number {
  for (let i = at - 1; i >= 0; i--)
    if (rows[i].level < rows[at].level) return i;
  return at;
}
