// SPDX-License-Identifier: MIT
// Stack chart: what one thread did, in the order of time.

import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { display } from "../data/display";
import type { Palette } from "../draw/colors";
import { frameColor } from "../draw/colors";
import { type Rect, rectAt } from "../draw/flame_layout";
import { type Look, paint, rowHeight } from "../draw/flame_painter";
import { amount } from "../model/amount";
import { matchKeys, matcher } from "../model/search";
import { shortName } from "../model/short_name";
import {
  blocked,
  type Chart,
  chartOf,
  running,
  waiting,
} from "../draw/stack_chart";
import type { Tree } from "../model/tree";
import { type Analysis, useAnalysis } from "../state/analysis";
import { useFound } from "../state/found";
import type { State } from "../state/state";
import { useStore } from "../state/store";
import { Choice } from "../ui/choice";
import { copyText } from "../ui/copy";
import { isPlain } from "../ui/keys";
import { isMenuKey } from "../ui/menu";
import { useSize } from "../ui/size";
import { usePalette } from "../ui/theme";
import { Axis } from "./axis";
import { FlameLegend } from "./flame_legend";
import { stackOf, useFrameMenu } from "./frame_menu";
import { busiestThread } from "./lanes";
import { rankModules } from "./module_rank";

const nameLimit = 300;
const mostChoices = 500; // threads in the list

const doingTexts: Record<number, string> = {
  [running]: "on the CPU",
  [blocked]: "blocked",
  [waiting]: "waiting for a CPU",
};

function colorOf(palette: Palette, doing: number): string {
  return doing === running
    ? palette.cpu
    : doing === blocked
      ? palette.blocked
      : doing === waiting
        ? palette.waiting
        : palette.ground;
}

function paintDoing(
  canvas: HTMLCanvasElement,
  { doing }: Chart,
  top: number,
  palette: Palette,
): void {
  const context = canvas.getContext("2d", { alpha: false })!;
  for (let x = 0, end = 0; x < doing.length; x = end) {
    while (end < doing.length && doing[end] === doing[x]) end++;
    context.fillStyle = colorOf(palette, doing[x]);
    context.fillRect(x, -top, end - x, rowHeight - 2);
  }
}

function lookOf(
  analysis: Analysis,
  state: State,
  tree: Tree,
  ranks: Map<number, number>,
  palette: Palette,
): Look {
  const { names, profile } = analysis;
  const matches = matcher(state.search);
  const found = matches
    ? matchKeys(profile.functions.count, (f) => names.function(f), matches)
    : null;
  const nameOf = analysis.nodeName(analysis.downShape(state), tree);
  return {
    palette,
    color: (node) => {
      const f = tree.key[node];
      return frameColor(
        palette,
        ranks.get(profile.functions.module[f]) ?? -1,
        f,
      );
    },
    name: (node) => display(nameOf(node), nameLimit),
    shortName: (node) => display(shortName(nameOf(node)), nameLimit),
    isMatch: (node) => !!found && !!found[tree.key[node]],
    certainty: analysis.certainty(analysis.downShape(state), tree),
    dimmed: !!found,
    marked: -2,
  };
}

// The rectangle that a key leads to: along its row, to its caller, to the
// first that it calls.
function neighbour(chart: Chart, at: Rect | null, key: string): Rect | null {
  const { rects } = chart;
  if (!/^(Arrow|Home|End)/.test(key)) return null;
  if (!at) return rects[0] ?? null;
  const row = rects.filter((r) => r.depth === at.depth);
  const middle = at.x + at.width / 2;
  switch (key) {
    case "ArrowRight":
      return row[row.indexOf(at) + 1] ?? at;
    case "ArrowLeft":
      return row[row.indexOf(at) - 1] ?? at;
    case "ArrowUp":
      return rectAt(chart, middle, at.depth - 1) ?? at;
    case "ArrowDown":
      return (
        rects.find(
          (r) =>
            r.depth === at.depth + 1 && r.x >= at.x && r.x < at.x + at.width,
        ) ?? at
      );
    case "Home":
      return row[0];
    case "End":
      return row[row.length - 1];
    default:
      return null;
  }
}

function useChart(width: number) {
  const [state, set] = useStore();
  const analysis = useAnalysis();
  const { profile } = analysis;
  const palette = usePalette();
  const tree = analysis.tree(analysis.downShape(state));
  const usual = useMemo(() => busiestThread(profile), [profile]);
  const chosen = state.threads?.[0] ?? usual;
  const thread = chosen < profile.head.threads.length ? chosen : usual;
  const range = state.range ?? state.shown ?? [0, profile.duration];
  const [from, to] = range as [number, number];
  const chart = useMemo(
    () => chartOf(profile, tree, thread, [from, to], width),
    [profile, tree, thread, from, to, width],
  );
  const ranks = useMemo(() => rankModules(profile), [profile]);
  const look = useMemo(
    () => lookOf(analysis, state, tree, ranks, palette),
    [analysis, tree, ranks, palette, state.search],
  );
  const timeAt = (x: number) =>
    from + (x / Math.max(1, chart.doing.length)) * (to - from);
  return {
    state,
    set,
    analysis,
    palette,
    tree,
    thread,
    chart,
    ranks,
    look,
    timeAt,
    range: [from, to] as [number, number],
  };
}

function ThreadChoice(props: { thread: number }): JSX.Element {
  const [, set] = useStore();
  const { profile, names } = useAnalysis();
  const { threads } = profile.head;
  const listed = threads.slice(0, mostChoices).map((_, t) => t);
  if (props.thread >= listed.length) listed.push(props.thread);
  return (
    <Choice
      label="Thread"
      value={String(props.thread)}
      options={listed.map((t) => ({
        value: String(t),
        text: display(names.thread(t), 60),
      }))}
      onChoose={(t) => set({ threads: [Number(t)] })}
    />
  );
}

export function StackChart(): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, height] = useSize(box);
  const {
    state,
    set,
    analysis,
    palette,
    tree,
    thread,
    chart,
    ranks,
    look,
    timeAt,
    range,
  } = useChart(width);
  const { names } = analysis;
  const [top, setTop] = useState(0);
  const [pointed, setPointed] = useState<Rect | null>(null);
  const [walked, setWalked] = useState<{ chart: Chart; rect: Rect }>();
  const active = walked?.chart === chart ? walked.rect : null;
  const { open, menu } = useFrameMenu();
  const shown = pointed ?? active;
  useLayoutEffect(() => {
    if (!width || !height) return;
    const size = { width, height, top };
    // One rectangle is marked, not all of its node.
    paint(canvas.current!, size, chart, look, shown ?? undefined);
    paintDoing(canvas.current!, chart, top, palette);
  }, [chart, look, width, height, top, shown]);

  const found = useMemo(
    () =>
      state.search
        ? chart.rects
            .filter((r) => look.isMatch(r.node))
            .sort((r, s) => r.x - s.x || r.depth - s.depth)
        : null,
    [chart, look],
  );
  const walk = (rect: Rect) => {
    setPointed(null);
    setWalked({ chart, rect });
    set({ function: tree.key[rect.node] });
    const element = box.current!;
    const y = rect.depth * rowHeight;
    if (y < element.scrollTop) element.scrollTop = y;
    if (y + rowHeight > element.scrollTop + height)
      element.scrollTop = y + rowHeight - height;
  };
  useFound(found && width ? found.length : null, (at) => walk(found![at]));

  const rectFor = (event: MouseEvent) => {
    const bounds = canvas.current!.getBoundingClientRect();
    const depth = Math.floor((event.clientY - bounds.top + top) / rowHeight);
    return rectAt(chart, event.clientX - bounds.left, depth);
  };
  const zoomTo = (rect: Rect) =>
    set({ range: [timeAt(rect.x), timeAt(rect.x + rect.width)] });
  const openAt = (rect: Rect, x: number, y: number) =>
    open({
      x,
      y,
      function: tree.key[rect.node],
      name: names.function(tree.key[rect.node]),
      stack: stackOf(tree, rect.node, false, (n) =>
        names.function(tree.key[n]),
      ),
    });
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isPlain(event)) return;
    const to = neighbour(chart, active, event.key);
    if (to !== null && event.key !== "Enter") walk(to);
    else if (event.key === "Enter" && active) zoomTo(active);
    else if (event.key === "Backspace") set({ range: null });
    else if (isMenuKey(event) && active) {
      const bounds = canvas.current!.getBoundingClientRect();
      const y = (active.depth + 1) * rowHeight - top;
      openAt(active, bounds.left + active.x, bounds.top + y);
    } else if (event.key === "c" && active)
      void copyText(names.function(tree.key[active.node]));
    else return;
    event.preventDefault();
  };

  const doing = shown ? doingTexts[chart.doing[Math.floor(shown.x)]] : "";
  const title = shown ? display(names.function(tree.key[shown.node])) : "";
  const detail = shown
    ? `${amount(timeAt(shown.x), "us")} to ` +
      `${amount(timeAt(shown.x + shown.width), "us")} ` +
      `(${amount(timeAt(shown.width) - timeAt(0), "us")}), ${doing}`
    : "Enter zooms to a frame's time, Backspace shows all of it.";
  return (
    <div class="flame">
      <div class="bar chart-bar">
        <ThreadChoice thread={thread} />
      </div>
      <Axis shown={range} width={width} />
      <div class="flame-box">
        <div
          ref={box}
          class="flame-scroll"
          id="chart"
          tabIndex={0}
          role="application"
          aria-roledescription="stack chart"
          aria-label={`Stack chart of ${display(names.thread(thread), 60)}. ${title} ${detail}`}
          onScroll={(e) => setTop(e.currentTarget.scrollTop)}
          onKeyDown={onKeyDown}
          onMouseMove={(e) => setPointed(rectFor(e))}
          onMouseLeave={() => setPointed(null)}
          onClick={(e) => {
            const rect = rectFor(e);
            if (rect) walk(rect);
          }}
          onDblClick={(e) => {
            const rect = rectFor(e);
            if (rect) zoomTo(rect);
          }}
          onContextMenu={(e) => {
            const rect = rectFor(e);
            if (!rect) return;
            e.preventDefault();
            walk(rect);
            openAt(rect, e.clientX, e.clientY);
          }}
        >
          <div style={{ height: `${chart.depth * rowHeight}px` }}>
            <canvas ref={canvas} />
          </div>
        </div>
        {!chart.rects.length && (
          <p class="empty">Nothing of this thread is known in this time.</p>
        )}
      </div>
      <p class="detail" aria-live="polite" id="detail">
        <b>{title}</b> <span>{detail}</span>
      </p>
      <FlameLegend ranks={ranks} palette={palette} />
      {menu}
    </div>
  );
}
