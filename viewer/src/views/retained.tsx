// SPDX-License-Identifier: MIT
// Retained: a flame graph of what would be freed with each place, and the
// chains of pointers that hold the chosen one.

import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { display } from "../data/display";
import type { HeapStacks } from "../data/profile";
import { frameColor, type Palette } from "../draw/colors";
import { layOut, manySmall, rectAt } from "../draw/flame_layout";
import { type Look, paint, rowHeight } from "../draw/flame_painter";
import { amount, percent } from "../model/amount";
import { type Chain, chainsTo, retainedOrder, type Step } from "../model/held";
import { matcher } from "../model/search";
import type { Order } from "../model/totals";
import { depthOf } from "../model/tree";
import { type Analysis, useAnalysis } from "../state/analysis";
import { useFound } from "../state/found";
import type { State } from "../state/state";
import { useStore } from "../state/store";
import { Choice } from "../ui/choice";
import { copyText } from "../ui/copy";
import { isPlain } from "../ui/keys";
import { useSize } from "../ui/size";
import { usePalette } from "../ui/theme";
import { neighbour } from "./flame";

const mostChains = 50; // that are shown
const nothing = -2;

// The heap whose holders are shown: the chosen one, or the first scanned.
export function scannedHeap(
  { profile }: Analysis,
  { heap }: State,
): HeapStacks | null {
  const isScanned = (h: HeapStacks | undefined) => !!h && h.retained.count > 1;
  if (heap !== null && isScanned(profile.heaps[heap]))
    return profile.heaps[heap];
  return profile.heaps.find(isScanned) ?? null;
}

// "function (file:line)": the function.
function shortPlace(name: string): string {
  return name.replace(/ \([^()]*:\d+\)$/, "");
}

function foundBy(analysis: Analysis, order: Order, search: string) {
  const matches = matcher(search);
  if (!matches) return null;
  const { strings } = analysis.profile;
  const isMatch = new Uint8Array(order.tree.count);
  for (let n = 1; n < order.tree.count; n++)
    isMatch[n] = matches(strings.text(order.tree.key[n])) ? 1 : 0;
  return isMatch;
}

function lookOf(
  name: (node: number) => string,
  order: Order,
  palette: Palette,
  found: Uint8Array | null,
): Look {
  return {
    palette,
    color: (node) =>
      node === 0
        ? palette.root
        : frameColor(palette, order.tree.key[node] % 8, node),
    name,
    shortName: (node) => shortPlace(name(node)),
    certainty: () => "sure",
    isMatch: (node) => found?.[node] === 1,
    dimmed: found !== null,
    marked: nothing,
  };
}

function useRetained() {
  const [state, set] = useStore();
  const analysis = useAnalysis();
  const palette = usePalette();
  const heap = scannedHeap(analysis, state)!;
  const order = useMemo(
    () => retainedOrder(heap.retained, state.heldBy, state.unit),
    [heap, state.heldBy, state.unit],
  );
  const text = (place: number) =>
    display(analysis.profile.strings.text(place), 300);
  const name = (node: number) =>
    node === 0 ? "all blocks" : text(order.tree.key[node]);
  const found = useMemo(
    () => foundBy(analysis, order, state.search),
    [analysis, order, state.search],
  );
  return { state, set, palette, heap, order, text, name, found };
}

function costOf(order: Order, node: number): string {
  const { a, unit } = order.totals;
  const share = percent(a.total[node], a.all);
  return (
    `retained ${amount(a.total[node], unit)} (${share}), ` +
    `of its own ${amount(a.self[node], unit)}`
  );
}

function useGraph(view: ReturnType<typeof useRetained>) {
  const { state, set, palette, order, name, found } = view;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, height] = useSize(box);
  const [top, setTop] = useState(0);
  const [pointed, setPointed] = useState<number | null>(null);
  const fits = (node: number) => (node < order.tree.count ? node : 0);
  const zoom = fits(state.zoom);
  const active = state.held === null ? zoom : fits(state.held);
  const layout = useMemo(
    () => layOut(order, zoom, width),
    [order, zoom, width],
  );
  const marked = pointed ?? active;
  useLayoutEffect(() => {
    if (width && height)
      paint(canvas.current!, { width, height, top }, layout, {
        ...lookOf(name, order, palette, found),
        marked,
      });
  }, [layout, order, marked, width, height, top, palette, found]);
  const walk = (node: number) => {
    setPointed(null);
    set({ held: node });
    const y = depthOf(order.tree, node) * rowHeight;
    const element = box.current!;
    if (y < element.scrollTop) element.scrollTop = y;
    if (y + rowHeight > element.scrollTop + height)
      element.scrollTop = y + rowHeight - height;
  };
  const nodeAt = (event: MouseEvent): number | null => {
    const bounds = canvas.current!.getBoundingClientRect();
    const depth = Math.floor((event.clientY - bounds.top + top) / rowHeight);
    const rect = rectAt(layout, event.clientX - bounds.left, depth);
    return rect && rect.node !== manySmall ? rect.node : null;
  };
  return {
    box, canvas, layout, height, zoom, active, marked,
    setTop, setPointed, walk, nodeAt,
  };
}

function Graph(props: { view: ReturnType<typeof useRetained> }): JSX.Element {
  const { set, order, name, found } = props.view;
  const graph = useGraph(props.view);
  const { zoom, active, layout, walk } = graph;
  const hits = useMemo(() => {
    if (!found) return null;
    const nodes = [];
    for (let n = 1; n < found.length; n++) if (found[n]) nodes.push(n);
    const { total } = order.totals.a;
    return nodes.sort((m, n) => total[n] - total[m]);
  }, [found, order]);
  useFound(hits && hits.length, (i, eagerly) => {
    const node = hits![i];
    walk(node);
    if (eagerly && !layout.rects.some((r) => r.node === node))
      set({ zoom: order.tree.parent[node] });
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isPlain(event)) return;
    const to = neighbour(order, event.key, active);
    if (to !== null) walk(to);
    else if (event.key === "Enter") set({ zoom: active });
    else if (event.key === "Backspace")
      set({ zoom: Math.max(0, order.tree.parent[zoom]) });
    else if (event.key === "c" && active) void copyText(name(active));
    else return;
    event.preventDefault();
  };
  const shown = graph.marked;
  return (
    <div class="flame retained">
      <div class="flame-box">
        <div
          ref={graph.box}
          id="retained"
          class="flame-scroll"
          tabIndex={0}
          role="application"
          aria-roledescription="flame graph"
          aria-label={`Retained memory. ${name(active)}. ${costOf(order, active)}`}
          onScroll={(e) => graph.setTop(e.currentTarget.scrollTop)}
          onKeyDown={onKeyDown}
          onMouseMove={(e) => graph.setPointed(graph.nodeAt(e))}
          onMouseLeave={() => graph.setPointed(null)}
          onClick={(e) => {
            const node = graph.nodeAt(e);
            if (node !== null) set({ held: node, zoom: node });
          }}
        >
          <div
            style={{
              height: `${Math.max(layout.depth * rowHeight, graph.height)}px`,
            }}
          >
            <canvas ref={graph.canvas} />
          </div>
        </div>
      </div>
      <div class="detail" id="retained-detail">
        <b>{name(shown)}</b> {costOf(order, shown)}
      </div>
    </div>
  );
}

function pointerText(step: Step): string {
  const at = step.offset === null ? "" : ` at offset ${step.offset}`;
  const sure = step.isConservative ? ", perhaps" : "";
  const list = step.repeats ? " (its blocks hold each other)" : "";
  return at + sure + list;
}

function ChainItem(props: {
  chain: Chain;
  text(place: number): string;
}): JSX.Element {
  const { chain, text } = props;
  const { steps } = chain;
  const isLost = !steps[steps.length - 1].isRoot;
  return (
    <li>
      <b>
        {amount(chain.bytes, "bytes")} in {amount(chain.blocks, "blocks")}
      </b>
      <ol>
        {steps.slice(1).map((step, i) => (
          <li key={i} class={step.isRoot ? "root" : undefined}>
            {step.isRoot ? "root " : "held by "}
            <code>{text(step.place)}</code>
            <small>{pointerText(step)}</small>
          </li>
        ))}
        {isLost && <li class="root">lost: no root leads to it</li>}
      </ol>
    </li>
  );
}

function Chains(props: { view: ReturnType<typeof useRetained> }): JSX.Element {
  const { state, heap, order, text } = props.view;
  const node = state.held !== null && state.held < order.tree.count ? state.held : 0;
  const place = node ? order.tree.key[node] : null;
  const chains = useMemo(
    () => (place === null ? [] : chainsTo(heap.chains, place)),
    [heap, place],
  );
  return (
    <section class="side chains" id="chains" aria-label="Chains" tabIndex={0}>
      <h2>{place === null ? "Why is it alive?" : text(place)}</h2>
      {place === null && (
        <p class="empty">
          Choose a frame to see the shortest chains of pointers from roots to
          its blocks.
        </p>
      )}
      {place !== null && !chains.length && (
        <p class="empty">It is a root, or holds no blocks of its own.</p>
      )}
      <ul>
        {chains.slice(0, mostChains).map((chain, i) => (
          <ChainItem key={i} chain={chain} text={text} />
        ))}
      </ul>
      {chains.length > mostChains && (
        <p class="note">{chains.length - mostChains} more chains.</p>
      )}
    </section>
  );
}

export function Retained(): JSX.Element {
  const view = useRetained();
  const { state, set } = view;
  return (
    <>
      <div class="choices retained-choices">
        <Choice
          label="Retained"
          value={state.heldBy}
          options={[
            { value: "root", text: "by root" },
            { value: "site", text: "by site" },
          ]}
          onChoose={(by) =>
            set({ heldBy: by as State["heldBy"], held: null, zoom: 0 })
          }
        />
        <span class="note">
          Below each frame is what would be freed with it, when the heap was
          scanned.
        </span>
      </div>
      <div class="split">
        <Graph view={view} />
        <Chains view={view} />
      </div>
    </>
  );
}
