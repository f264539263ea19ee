// SPDX-License-Identifier: MIT
// Call graph: a picture of the functions that cost most and their calls.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { display } from "../data/display";
import { type GraphEdge, type GraphNode, graphOf } from "../model/call_graph";
import { matcher } from "../model/search";
import { useAnalysis } from "../state/analysis";
import { useFound } from "../state/found";
import { useStore } from "../state/store";
import { isPlain } from "../ui/keys";
import { isMenuKey } from "../ui/menu";
import { useFrameMenu } from "./frame_menu";
import { listName } from "./frame_text";

const mostFunctions = 40;
const [boxWidth, boxHeight] = [190, 40];
const [gapX, gapY] = [24, 46];
const letters = 24; // that a box has room for

function left(node: GraphNode): number {
  return gapX + node.place * (boxWidth + gapX);
}

function top(node: GraphNode): number {
  return gapY / 2 + node.layer * (boxHeight + gapY);
}

function pathOf(from: GraphNode, to: GraphNode): string {
  const x = left(from) + boxWidth / 2;
  const y = top(from) + boxHeight;
  const toX = left(to) + boxWidth / 2;
  const bend = gapY / 2;
  return `M${x} ${y}C${x} ${y + bend} ${toX} ${top(to) - bend} ${toX} ${top(to)}`;
}

function cut(text: string): string {
  return text.length > letters ? text.slice(0, letters - 1) + "\u2026" : text;
}

function share(part: number): string {
  return `${(100 * part).toFixed(1)}%`;
}

export function CallGraph(): JSX.Element {
  const [state, set] = useStore();
  const analysis = useAnalysis();
  const { names } = analysis;
  const { order } = analysis.functions(state);
  const graph = useMemo(() => graphOf(order, mostFunctions), [order]);
  const { open, menu } = useFrameMenu();
  const nodes = useMemo(
    () =>
      [...graph.nodes].sort((m, n) => m.layer - n.layer || m.place - n.place),
    [graph],
  );
  const found = useMemo(() => {
    const matches = matcher(state.search);
    return matches
      ? nodes.filter((n) => matches(names.function(n.function)))
      : null;
  }, [nodes, state.search]);
  const boxOf = (node: GraphNode) =>
    document.getElementById(`graph-${node.function}`);
  useFound(found ? found.length : null, (at) => {
    set({ function: found![at].function });
    boxOf(found![at])?.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  const openMenu = (node: GraphNode, x: number, y: number) =>
    open({
      x,
      y,
      function: node.function,
      name: names.function(node.function),
      stack: [],
    });
  const onKeyDown = (event: KeyboardEvent, node: GraphNode) => {
    if (!isPlain(event)) return;
    const place = boxOf(node)!.getBoundingClientRect();
    if (event.key === "Enter" || event.key === " ")
      set({ function: node.function });
    else if (isMenuKey(event)) openMenu(node, place.left, place.bottom);
    else return;
    event.preventDefault();
  };
  const edge = ({ from, to, share: part }: GraphEdge) => (
    <path
      key={`${from} ${to}`}
      d={pathOf(graph.nodes[from], graph.nodes[to])}
      stroke-width={Math.max(1, 10 * part)}
      class={
        graph.nodes[from].function === state.function ||
        graph.nodes[to].function === state.function
          ? "edge chosen"
          : "edge"
      }
    >
      <title>{share(part)}</title>
    </path>
  );
  const box = (node: GraphNode) => {
    const name = display(names.function(node.function));
    const isChosen = node.function === state.function;
    return (
      <g
        key={node.function}
        id={`graph-${node.function}`}
        role="button"
        tabIndex={0}
        aria-pressed={isChosen}
        aria-label={`${name}, total ${share(node.total)}, self ${share(node.self)}`}
        class={
          "box" +
          (isChosen ? " chosen" : "") +
          (found?.includes(node) ? " found" : "")
        }
        transform={`translate(${left(node)} ${top(node)})`}
        onClick={() => set({ function: node.function })}
        onKeyDown={(e) => onKeyDown(e, node)}
        onContextMenu={(e) => {
          e.preventDefault();
          openMenu(node, e.clientX, e.clientY);
        }}
      >
        <title>{name}</title>
        <rect width={boxWidth} height={boxHeight} rx="4" />
        <rect
          class="self"
          y={boxHeight - 4}
          width={boxWidth * Math.min(1, node.self)}
          height="4"
        />
        <text x="8" y="15">
          {cut(display(listName(names.function(node.function))))}
        </text>
        <text x="8" y="31" class="cost">
          {share(node.total)}, self {share(node.self)}
        </text>
      </g>
    );
  };
  return (
    <div class="graph" tabIndex={0} role="region" aria-label="Call graph">
      {graph.nodes.length === 0 && (
        <p class="empty">Nothing of this weight is selected.</p>
      )}
      <svg
        role="group"
        aria-label="Functions and their calls"
        width={gapX + graph.widest * (boxWidth + gapX)}
        height={graph.layers * (boxHeight + gapY)}
      >
        {graph.edges.map(edge)}
        {nodes.map(box)}
      </svg>
      {menu}
    </div>
  );
}
