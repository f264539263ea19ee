// SPDX-License-Identifier: MIT
// Flame graph: a canvas as large as what is seen of it, within a box that
// scrolls over the whole height.

import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { display } from "../data/display";
import { changeColor, frameColor, type Palette } from "../draw/colors";
import { layOut, manySmall, type Rect, rectAt } from "../draw/flame_layout";
import { type Look, paint, rowHeight } from "../draw/flame_painter";
import { foundNodes, matchedShare, matchKeys, matcher } from "../model/search";
import { shortName } from "../model/short_name";
import { deltaOf, type Order, shareOf } from "../model/totals";
import { depthOf, reach } from "../model/tree";
import { type Analysis, shapeOf, useAnalysis } from "../state/analysis";
import type { State } from "../state/state";
import { useFound } from "../state/found";
import { useStore } from "../state/store";
import { copyText } from "../ui/copy";
import { isPlain } from "../ui/keys";
import { isMenuKey } from "../ui/menu";
import { useSize } from "../ui/size";
import { usePalette } from "../ui/theme";
import { FlameLegend } from "./flame_legend";
import { stackOf, useFrameMenu } from "./frame_menu";
import { frameText, type FrameText, rootName } from "./frame_text";
import { rankModules } from "./module_rank";

const nothing = -2;
const nameLimit = 300;

function moduleOfKey(analysis: Analysis, state: State, key: number): number {
  return state.shape === "module"
    ? key
    : analysis.profile.functions.module[key];
}

// From -1, only A has it, to 1.
function changeOf(order: Order, node: number): number {
  const { totals } = order;
  const delta = deltaOf(totals, node);
  const larger = shareOf(totals, node) + Math.abs(delta) / 2;
  return larger ? delta / larger : 0;
}

function lookOf(
  analysis: Analysis,
  state: State,
  order: Order,
  ranks: Map<number, number>,
  palette: Palette,
): Look {
  const { key } = order.tree;
  const shape = shapeOf(state);
  const nameOf = analysis.nodeName(shape, order.tree);
  const found = searchKeys(analysis, state);
  const shorts = new Map<number, string>(); // asked for at every drawing
  const unreported = analysis.hasUnreported(state)
    ? analysis.unreported(state, order)
    : null;
  return {
    palette,
    color: (node) => {
      if (node === 0) return palette.root;
      if (order.totals.b) return changeColor(palette, changeOf(order, node));
      if (unreported) return changeColor(palette, unreported(node));
      const module = moduleOfKey(analysis, state, key[node]);
      return frameColor(palette, ranks.get(module) ?? -1, key[node]);
    },
    name: (node) =>
      node === 0
        ? rootName(analysis, shape)
        : display(nameOf(node), nameLimit),
    shortName: (node) => {
      if (node === 0) return rootName(analysis, shape);
      let short = shorts.get(node);
      if (short === undefined) {
        short = display(shortName(nameOf(node)), nameLimit);
        shorts.set(node, short);
      }
      return short;
    },
    certainty: analysis.certainty(shape, order.tree),
    isMatch: (node) => !!found && node > 0 && !!found[key[node]],
    dimmed: !!found,
    marked: nothing,
  };
}

export function searchKeys(
  analysis: Analysis,
  state: State,
): Uint8Array | null {
  const matches = matcher(state.search);
  if (!matches) return null;
  const shape = shapeOf(state);
  const count =
    shape.kind === "module"
      ? analysis.profile.head.modules.length
      : analysis.profile.functions.count;
  return matchKeys(count, analysis.keyName(shape), matches);
}

// The frame that the keys lead to from `at`.
export function neighbour(order: Order, key: string, at: number): number | null {
  const { tree } = order;
  switch (key) {
    case "ArrowDown":
      return order.children(at)[0] ?? at;
    case "ArrowUp":
      return Math.max(0, tree.parent[at]);
    case "ArrowLeft":
    case "ArrowRight": {
      if (at === 0) return at;
      const row = order.children(tree.parent[at]);
      const to = row.indexOf(at) + (key === "ArrowLeft" ? -1 : 1);
      return row[Math.max(0, Math.min(row.length - 1, to))];
    }
    case "Home":
      return 0;
    default:
      return null;
  }
}

function Tip(props: { text: FrameText; x: number; y: number; wide: number }) {
  const { text, x, y, wide } = props;
  const right = x > wide / 2;
  return (
    <div
      class="tip"
      role="presentation"
      style={{
        top: `${y + 14}px`,
        left: right ? "auto" : `${x + 12}px`,
        right: right ? `${wide - x + 12}px` : "auto",
      }}
    >
      <b>{text.title}</b>
      {text.place && <span>{text.place}</span>}
      <span>{text.cost}</span>
    </div>
  );
}

interface Pointer {
  rect: Rect | null;
  x: number;
  y: number;
}

function useFlame() {
  const [state, set] = useStore();
  const analysis = useAnalysis();
  const palette = usePalette();
  const order = analysis.order(state);
  const ranks = useMemo(() => rankModules(analysis.profile), [analysis]);
  const zoom = reach(order.tree, state.zoom);
  const look = useMemo(
    () => lookOf(analysis, state, order, ranks, palette),
    [analysis, order, ranks, palette, state.search, state.shape],
  );
  return { state, set, analysis, palette, order, ranks, zoom, look };
}

export function Flame(): JSX.Element {
  const { state, set, analysis, palette, order, ranks, zoom, look } =
    useFlame();
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, height] = useSize(box);
  const [top, setTop] = useState(0);
  const [pointer, setPointer] = useState<Pointer | null>(null);
  const [walked, setWalked] = useState<{ order: Order; node: number }>();
  const active = walked?.order === order ? walked.node : null;
  const setActive = (node: number) => setWalked({ order, node });
  const layout = useMemo(
    () => layOut(order, zoom, width),
    [order, zoom, width],
  );
  useLayoutEffect(() => {
    if (width) performance.mark("windlass-flame");
  }, [width]);
  const marked = pointer?.rect?.node ?? active ?? nothing;
  useLayoutEffect(() => {
    if (width && height)
      paint(canvas.current!, { width, height, top }, layout, {
        ...look,
        marked,
      });
  }, [layout, look, marked, width, height, top]);

  const { open, menu } = useFrameMenu();
  const sureness = (node: number) =>
    node === manySmall ? "sure" : look.certainty(node);
  const keys = useMemo(
    () => searchKeys(analysis, state),
    [analysis, state.search, state.shape],
  );
  const found = useMemo(
    () => (keys ? foundNodes(order, keys) : null),
    [keys, order],
  );
  const share = useMemo(
    () => (keys ? matchedShare(order.tree, keys, order.totals) : null),
    [keys, order],
  );
  useFound(
    found && width ? found.length : null,
    (at, eagerly) => {
      const node = found![at];
      const isDrawn = layout.rects.some((r) => r.node === node);
      if (isDrawn || eagerly) walk(node);
      if (!isDrawn && eagerly) set({ zoom: order.tree.parent[node] });
    },
    share,
  );
  const pointAt = (event: MouseEvent) => {
    const bounds = canvas.current!.getBoundingClientRect();
    const x = event.clientX - bounds.left;
    const y = event.clientY - bounds.top;
    const depth = Math.floor((y + top) / rowHeight);
    setPointer({ rect: rectAt(layout, x, depth), x, y });
    return rectAt(layout, x, depth);
  };
  const choose = (node: number) => {
    if (node === manySmall) return;
    setActive(node);
    set({
      zoom: node,
      ...(node && state.shape !== "module"
        ? { function: order.tree.key[node] }
        : {}),
    });
  };
  const walk = (to: number) => {
    setPointer(null);
    setActive(to);
    if (to && state.shape !== "module") set({ function: order.tree.key[to] });
    const y = depthOf(order.tree, to) * rowHeight;
    const element = box.current!;
    if (y < element.scrollTop) element.scrollTop = y;
    if (y + rowHeight > element.scrollTop + height)
      element.scrollTop = y + rowHeight - height;
  };
  const openAt = (node: number) => {
    const bounds = canvas.current!.getBoundingClientRect();
    const rect = layout.rects.find((r) => r.node === node);
    const y = (rect ? rect.depth + 1 : 1) * rowHeight - top;
    open(target(node, bounds.left + (rect?.x ?? 0), bounds.top + y));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isPlain(event)) return;
    const at = active ?? zoom;
    const to = neighbour(order, event.key, at);
    if (to !== null) walk(to);
    else if (event.key === "Enter") choose(at);
    else if (event.key === "Backspace")
      choose(Math.max(0, order.tree.parent[zoom]));
    else if (isMenuKey(event)) openAt(at);
    else if (event.key === "c" && at)
      void copyText(analysis.keyName(shapeOf(state))(order.tree.key[at]));
    else return;
    event.preventDefault();
  };

  const shown = marked >= 0 ? marked : zoom;
  const shape = shapeOf(state);
  const text = frameText(
    analysis,
    shape,
    shown ? order.tree.key[shown] : null,
    order.totals,
    shown,
  );
  const target = (node: number, x: number, y: number) => ({
    x,
    y,
    function: node > 0 && state.shape !== "module" ? order.tree.key[node] : null,
    name: node > 0 ? analysis.keyName(shape)(order.tree.key[node]) : "all",
    stack: stackOf(
      order.tree,
      node,
      state.shape === "up" || state.shape === "callers",
      (n) => analysis.keyName(shape)(order.tree.key[n]),
    ),
    zoom: node,
  });
  return (
    <div class="flame">
      <div class="flame-box">
        <div
          ref={box}
          class="flame-scroll"
          id="flame"
          tabIndex={0}
          role="application"
          aria-roledescription="flame graph"
          aria-label={`Flame graph. ${text.title}. ${text.cost}`}
          onScroll={(e) => setTop(e.currentTarget.scrollTop)}
          onKeyDown={onKeyDown}
          onMouseMove={pointAt}
          onMouseLeave={() => setPointer(null)}
          onContextMenu={(e) => {
            const rect = pointAt(e);
            if (!rect || rect.node === manySmall) return;
            e.preventDefault();
            setActive(rect.node);
            open(target(rect.node, e.clientX, e.clientY));
          }}
          onClick={(e) => {
            const rect = pointAt(e);
            if (rect) choose(rect.node);
          }}
        >
          <div style={{ height: `${layout.depth * rowHeight}px` }}>
            <canvas ref={canvas} />
          </div>
        </div>
        {pointer?.rect && pointer.rect.node !== manySmall && !menu && (
          <Tip text={text} x={pointer.x} y={pointer.y} wide={width} />
        )}
        {!order.totals.a.all && !order.totals.b?.all && (
          <p class="empty">Nothing of this weight is selected.</p>
        )}
      </div>
      <p class="detail" aria-live="polite" id="detail">
        <b>{text.short}</b> {text.place} <span>{text.cost}</span>
      </p>
      <FlameLegend
        ranks={ranks}
        palette={palette}
        growth={order.totals.isGrowth}
        unreported={analysis.hasUnreported(state)}
        guesses={layout.rects.some((r) => sureness(r.node) === "guessed")}
        missing={layout.rects.some((r) => sureness(r.node) === "missing")}
      />
      {menu}
    </div>
  );
}
