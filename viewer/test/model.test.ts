// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { display } from "../src/data/display";
import { change } from "../src/model/amount";
import {
  fitOrder,
  functionTable,
  type FunctionOrder,
  sortFunctions,
} from "../src/model/function_table";
import { instructionsOf } from "../src/model/instructions";
import { lineCosts } from "../src/model/line_costs";
import { Names } from "../src/model/names";
import { curveOf } from "../src/model/memory_curve";
import { hottestPath, openRows } from "../src/model/open_rows";
import { guessedNodes } from "../src/model/quality";
import { blockSizes } from "../src/model/block_sizes";
import { callsOf } from "../src/model/calls";
import { graphOf } from "../src/model/call_graph";
import {
  foundNodes,
  matchedShare,
  matchedTotal,
  matcher,
  matchKeys,
  parseQuery,
} from "../src/model/search";
import { makeTree, type Shape, type ShapeKind } from "../src/model/shapes";
import { addThread, emptyBins } from "../src/model/timeline";
import { addTotals, deltaOf, Order, shareOf } from "../src/model/totals";
import { childrenOf, reach, type Tree, TreeBuilder } from "../src/model/tree";
import { selectAll, sum, weighHeap, weighTime } from "../src/model/weights";
import { growing, pairOf } from "../src/model/growth";
import { layOut, manySmall } from "../src/draw/flame_layout";
import { blocked, chartOf, running } from "../src/draw/stack_chart";
import { shortName } from "../src/model/short_name";
import { Analysis } from "../src/state/analysis";
import { initial } from "../src/state/state";
import { laneRows, makeLane, residentAt } from "../src/views/lanes";
import { MadePage } from "./made_page";
import { heldPage, memoryPage } from "./made_pages";
import { chainsTo, retainedOrder } from "../src/model/held";
import {
  changeOf,
  memoryAmount,
  memoryChange,
  memoryPath,
  memoryTree,
  treemap,
} from "../src/model/memory_tree";
import { cpuPage, diffPage, growthPage, heapPage } from "./made_pages";

const shape = (kind: ShapeKind, other: Partial<Shape> = {}): Shape => ({
  kind,
  focus: null,
  collapse: false,
  ...other,
});

// "a;b total/self" of each node with a cost, sorted.
function told(
  tree: Tree,
  totals: ReturnType<typeof addTotals>,
  name: (k: number) => string,
) {
  const lines: string[] = [];
  const add = (node: number, above: string[]) => {
    for (const n of childrenOf(tree, node)) {
      const path = [...above, name(tree.key[n])];
      if (totals.a.total[n])
        lines.push(
          `${path.join(";")} ${totals.a.total[n]}/${totals.a.self[n]}`,
        );
      add(n, path);
    }
  };
  add(0, []);
  return lines.sort();
}

function cpu(kind: ShapeKind, other: Partial<Shape> = {}) {
  const profile = cpuPage().profile();
  const names = new Names(profile);
  const tree = makeTree(profile, shape(kind, other));
  const weights = weighTime(profile, selectAll(profile), "samples");
  const totals = addTotals(tree, weights);
  return { profile, names, tree, weights, totals };
}

test("a node is a guess if one of its frames is", () => {
  const profile = cpuPage().profile();
  const tree = makeTree(profile, shape("down"));
  const { how } = profile.nodes;
  [0, 1, 6, 0xff].forEach((sure, i) => (how[i + 1] = sure));
  const guessed = (made: Tree) => [...guessedNodes(profile, made)];
  assert.ok(guessed(tree).every((mark) => mark === 0));
  how[2] = 3;
  const again = makeTree(profile, shape("down"));
  assert.deepEqual(
    guessed(again),
    [...again.key].map((_, n) => Number(n === again.of[2])),
  );
});

test("top-down totals are sums of what is below", () => {
  const { tree, totals, names } = cpu("down");
  assert.equal(totals.a.all, 100);
  assert.deepEqual(
    told(tree, totals, (k) => names.function(k)),
    [
      "main 100/0",
      "main;eval 50/30",
      "main;eval;eval 20/20",
      "main;parse 50/30",
      "main;parse;malloc 20/20",
    ],
  );
});

test("a node has each of its children once, however many these are", () => {
  const builder = new TreeBuilder(0);
  const one = builder.child(0, 7);
  const other = builder.child(0, 8);
  const add = (up: number) =>
    Array.from({ length: 500 }, (_, key) => builder.child(up, key));
  const added = [add(one), add(other)];
  assert.deepEqual([add(one), add(other)], added);
  const { parent, key, count } = builder.finish(new Int32Array(0));
  assert.equal(count, 1003);
  assert.deepEqual(
    added.map((nodes) => nodes.map((n) => [parent[n], key[n]])),
    [one, other].map((up) => added[0].map((_, k) => [up, k])),
  );
});

test("bottom-up paths begin where stacks end", () => {
  const { tree, totals, names } = cpu("up");
  assert.equal(totals.a.all, 100);
  const lines = told(tree, totals, (k) => names.function(k)).map(
    (line) => line.split("/")[0],
  );
  assert.deepEqual(lines, [
    "eval 50",
    "eval;eval 20",
    "eval;eval;main 20",
    "eval;main 30",
    "malloc 20",
    "malloc;parse 20",
    "malloc;parse;main 20",
    "parse 30",
    "parse;main 30",
  ]);
});

test("paths that nothing shares are made when they are asked for", () => {
  const { tree, totals, names } = cpu("up");
  const stack = (node: number) => {
    const path: string[] = [];
    for (let n = node; n > 0; n = tree.parent[n])
      path.push(names.function(tree.key[n]));
    return path;
  };
  const mains = Array.from({ length: tree.count }, (_, n) => n).filter(
    (n) => totals.a.self[n] && stack(reach(tree, n))[0] === "main",
  );
  assert.deepEqual(mains.map(stack).sort(), [
    ["main", "eval"],
    ["main", "eval", "eval"],
    ["main", "parse"],
    ["main", "parse", "malloc"],
  ]);
  assert.equal(reach(tree, tree.count), 0);
  const found = cpu("up");
  const keys = matchKeys(
    found.profile.functions.count,
    (k) => names.function(k),
    (name) => name === "main",
  );
  const order = new Order(found.tree, found.totals);
  assert.equal(foundNodes(order, keys).length, 4);
  assert.equal(matchedShare(cpu("up").tree, keys, found.totals), 1);
});

test("by module, frames of one module that follow each other are one", () => {
  const { tree, totals, names } = cpu("module");
  assert.deepEqual(
    told(tree, totals, (k) => names.module(k)),
    ["app 100/80", "app;libc.so.6 20/20"],
  );
});

test("collapsed recursion keeps the sum", () => {
  const { tree, totals, names } = cpu("down", { collapse: true });
  const lines = told(tree, totals, (k) => names.function(k));
  assert.ok(lines.includes("main;eval 50/50"), lines.join());
  assert.equal(totals.a.all, 100);
});

test("a focus leaves the stacks through its function", () => {
  const profile = cpuPage().profile();
  const names = new Names(profile);
  const focus = [...Array(profile.functions.count).keys()].find(
    (f) => names.function(f) === "parse",
  )!;
  const { tree, totals } = cpu("down", { focus });
  assert.deepEqual(
    told(tree, totals, (k) => names.function(k)),
    ["parse 50/30", "parse;malloc 20/20"],
  );
});

function numberOf(names: Names, count: number, name: string): number {
  return [...Array(count).keys()].find((f) => names.function(f) === name)!;
}

test("functions are merged, dropped, and hold what they call", () => {
  const { profile, names } = cpu("down");
  const of = (name: string) => numberOf(names, profile.functions.count, name);
  const lines = (other: Partial<Shape>, kind: ShapeKind = "down") => {
    const { tree, totals } = cpu(kind, other);
    return told(tree, totals, (k) => names.function(k));
  };
  const evals = ["main;eval 50/30", "main;eval;eval 20/20"];
  assert.deepEqual(lines({ merged: [of("parse")] }), [
    "main 100/30",
    ...evals,
    "main;malloc 20/20",
  ]);
  assert.deepEqual(lines({ dropped: [of("parse")] }), ["main 50/0", ...evals]);
  assert.deepEqual(lines({ leaves: [of("parse")] }), [
    "main 100/0",
    ...evals,
    "main;parse 50/50",
  ]);
  assert.deepEqual(lines({ focus: of("eval") }, "callers"), [
    "eval 50/0",
    "eval;eval 20/0",
    "eval;eval;main 20/20",
    "eval;main 30/30",
  ]);
  assert.deepEqual(
    lines({ focus: of("malloc"), dropped: [of("eval")] }, "callers"),
    ["malloc 20/0", "malloc;parse 20/0", "malloc;parse;main 20/20"],
  );
});

test("start-up frames that hold one other are folded", () => {
  const made = new MadePage();
  const thread = made.thread(made.process(), "main");
  const paths = [
    "_start;__libc_start_main;main;work",
    "clone3;start_thread;worker",
    "clone3;start_thread;other",
  ];
  paths.forEach((path, i) =>
    made.samples.push([thread, i + 1, made.stack(path), 1, 0]),
  );
  const profile = made.profile();
  const names = new Names(profile);
  const tree = makeTree(profile, shape("down", { fold: true }));
  const weights = weighTime(profile, selectAll(profile), "samples");
  assert.deepEqual(
    told(tree, addTotals(tree, weights), (k) => names.function(k)),
    [
      "main 1/0",
      "main;work 1/1",
      "start_thread 2/0",
      "start_thread;other 1/1",
      "start_thread;worker 1/1",
    ],
  );
});

test("callers and callees count a stack once", () => {
  const { profile, names, tree, totals } = cpu("down");
  const of = (name: string) => numberOf(names, profile.functions.count, name);
  const order = new Order(tree, totals);
  const lines = (name: string) => {
    const { callers, callees } = callsOf(order, of(name));
    const text = (f: number) => (f < 0 ? "-" : names.function(f));
    return [callers, callees].map((calls) =>
      calls.map((call) => `${text(call.function)} ${call.a}`),
    );
  };
  assert.deepEqual(lines("eval"), [
    ["main 50", "eval 20"],
    ["- 50", "eval 20"],
  ]);
  assert.deepEqual(lines("main"), [["- 100"], ["parse 50", "eval 50"]]);
});

test("a call graph has callers above what they call", () => {
  const { names, tree, totals } = cpu("down");
  const graph = graphOf(new Order(tree, totals), 10);
  assert.deepEqual(
    graph.nodes.map((n) => `${names.function(n.function)} ${n.layer}`).sort(),
    ["eval 1", "main 0", "malloc 2", "parse 1"],
  );
  assert.equal(graph.edges.length, 3);
});

test("a stack chart has what each pixel's time went to", () => {
  const { profile, names, tree } = cpu("down");
  const chart = chartOf(profile, tree, 0, [0, 1e6], 1000);
  const last = chart.rects[chart.rects.length - 1];
  assert.equal(chart.doing[4], running);
  assert.equal(chart.doing[750], blocked);
  assert.equal(chart.doing[950], 0);
  assert.equal(names.function(tree.key[last.node]), "read");
  assert.deepEqual([last.x, last.width, last.depth], [600, 300, 2]);
});

test("what is found is led to by its weight, errors are told", () => {
  const { profile, names, tree, totals } = cpu("down");
  const matches = matcher("a")!;
  const keys = matchKeys(
    profile.functions.count,
    (f) => names.function(f),
    matches,
  );
  const order = new Order(tree, totals);
  assert.deepEqual(
    foundNodes(order, keys).map((n) => names.function(tree.key[n])),
    ["main", "parse", "eval", "malloc", "eval"],
  );
  assert.match(parseQuery("/(/")!.error!, /group/);
  assert.equal(parseQuery("(")!.error, null);
});

test("a function's total counts a stack once", () => {
  const { tree, totals, names, profile } = cpu("down");
  const rows = sortFunctions(
    functionTable(tree, totals, profile.functions.count),
    "total",
    totals,
    (f) => names.function(f),
  );
  assert.deepEqual(
    rows.map((r) => `${names.function(r.function)} ${r.selfA} ${r.totalA}`),
    ["main 0 100", "parse 30 50", "eval 50 50", "malloc 20 20"],
  );
});

test("functions of two recordings stand in the order that is chosen", () => {
  const profile = diffPage().profile();
  const names = new Names(profile);
  const tree = makeTree(profile, shape("down"));
  const weights = weighTime(profile, selectAll(profile), "samples");
  const totals = addTotals(tree, weights);
  const table = functionTable(tree, totals, profile.functions.count);
  const sorted = (order: FunctionOrder) =>
    sortFunctions(table, order, totals, (f) => names.function(f))
      .map((r) => names.function(r.function))
      .join(" ");
  // A: parse 40, eval 60; B: parse 20, eval 60, new_one 20.
  assert.equal(sorted("self"), "eval parse main new_one");
  assert.equal(sorted("selfB"), "eval parse new_one main");
  assert.equal(sorted("total"), "main eval parse new_one");
  assert.equal(sorted("totalB"), "main eval parse new_one");
  assert.equal(sorted("delta"), "parse new_one main eval");
});

test("a selection has its threads and its time", () => {
  const profile = cpuPage().profile();
  const selection = selectAll(profile);
  selection.threads[1] = 0;
  assert.equal(sum(weighTime(profile, selection, "samples").a), 50);
  assert.equal(sum(weighTime(profile, selection, "cpu").a), 50000);
  assert.equal(sum(weighTime(profile, selection, "blocked").a), 300000);
  assert.equal(sum(weighTime(profile, selection, "wall").a), 350000);
  selection.from = 100000;
  selection.to = 700000;
  assert.equal(sum(weighTime(profile, selection, "samples").a), 31);
  assert.equal(sum(weighTime(profile, selection, "blocked").a), 100000);
});

test("times go on after 71 minutes", () => {
  const made = new MadePage();
  const thread = made.thread(made.process(), "main");
  const node = made.stack("main");
  for (const time of [10, 2 ** 32 - 10, 2 ** 32 + 10, 2 ** 33 + 5])
    made.samples.push([thread, time, node, 1, 0]);
  made.blocks.push([thread, 20, 2 ** 32 + 30, node, 0, 0]);
  const profile = made.profile();
  assert.deepEqual(
    [...profile.samples.time],
    [10, 2 ** 32 - 10, 2 ** 32 + 10, 2 ** 33 + 5],
  );
  assert.deepEqual([...profile.blocks.duration], [2 ** 32 + 30]);
});

test("a search's total counts a stack once", () => {
  const { tree, totals, names, profile } = cpu("down");
  const keys = matchKeys(
    profile.functions.count,
    (f) => names.function(f),
    matcher("/^(eval|malloc)$/")!,
  );
  assert.equal(matchedTotal(tree, keys, totals.a), 70);
  assert.equal(matcher("/(/")!("("), false);
});

test("lines of a file have their own costs", () => {
  const { profile, weights } = cpu("down");
  const file = profile.head.sources[0].file;
  const costs = lineCosts(profile, file, weights.a);
  assert.deepEqual(costs.get(40), { self: 0, total: 100 });
  assert.deepEqual(costs.get(3), { self: 30, total: 50 });
  assert.deepEqual(costs.get(12), { self: 50, total: 50 });
});

test("a difference is of parts of each whole", () => {
  const profile = diffPage().profile();
  const names = new Names(profile);
  const tree = makeTree(profile, shape("down"));
  const totals = addTotals(tree, weighTime(profile, selectAll(profile), "cpu"));
  const delta: Record<string, number> = {};
  for (let n = 1; n < tree.count; n++)
    delta[names.function(tree.key[n])] = deltaOf(totals, n);
  assert.ok(Math.abs(delta.parse + 0.2) < 1e-9);
  assert.ok(Math.abs(delta.eval) < 1e-9);
  assert.ok(Math.abs(delta.new_one - 0.2) < 1e-9);
});

test("heaps weigh by kind and unit", () => {
  const profile = heapPage().profile();
  assert.deepEqual(profile.heaps[0].kinds, ["live", "peak"]);
  assert.equal(sum(weighHeap(profile, null, "peak", "bytes").a), 12288);
  assert.equal(sum(weighHeap(profile, 0, "live", "blocks").a), 4);
});

test("what is not reported is a part of what lives", () => {
  const state = { ...initial, tab: "heap" as const, kind: "" };
  const bright = new Analysis(heapPage().profile());
  assert.equal(bright.heapKind(state), "peak");
  assert.ok(!bright.hasUnreported({ ...state, kind: "live" }));
  const dark = new Analysis(
    heapPage({ bytes_unreported: 1024, blocks_unreported: 1 }).profile(),
  );
  assert.equal(dark.heapKind(state), "live");
  assert.ok(dark.hasUnreported(state));
  assert.ok(!dark.hasUnreported({ ...state, kind: "peak" }));
  assert.equal(dark.unreported(state, dark.order(state))(0), 0.25);
});

test("rows are those below open ones, the heaviest first", () => {
  const { tree, totals, names } = cpu("down");
  const order = new Order(tree, totals);
  const open = hottestPath(order);
  const rows = openRows(order, open);
  assert.equal(names.function(tree.key[rows[0].node]), "main");
  assert.deepEqual(
    rows.map((r) => r.level),
    [1, 2, 3, 2],
  );
});

test("a layout fills the width and lumps what is small", () => {
  const made = new MadePage();
  const thread = made.thread(made.process(), "main");
  made.samples.push([thread, 1, made.stack("main;big"), 100000, 0]);
  for (let i = 0; i < 1000; i++)
    made.samples.push([thread, 2 + i, made.stack(`main;f${i}`), 10, 0]);
  const profile = made.profile();
  const tree = makeTree(profile, shape("down"));
  const order = new Order(
    tree,
    addTotals(tree, weighTime(profile, selectAll(profile), "cpu")),
  );
  const { rects, depth } = layOut(order, 0, 1100);
  assert.equal(depth, 3);
  const row = rects.filter((r) => r.depth === 2);
  assert.deepEqual(
    row.map((r) => [r.node === manySmall, Math.round(r.width)]),
    [
      [false, 1000],
      [true, 100],
    ],
  );
});

test("bins have each its part of the CPU time", () => {
  const made = new MadePage();
  const thread = made.thread(made.process(), "main");
  made.samples.push([thread, 150, made.stack("main"), 100, 0]);
  const bins = emptyBins(4);
  addThread(made.profile(), thread, 0, 400, bins);
  assert.deepEqual([...bins.cpu], [0.5, 0.5, 0, 0]);
});

test("what acts on text is shown as an escape", () => {
  assert.equal(
    display("a\u202eb\u0007c\nd\u2066"),
    "a\\u202eb\\x07c\\nd\\u2066",
  );
  assert.equal(display("x".repeat(500)).length, 401);
});

test("a short C++ name keeps what tells functions apart", () => {
  for (const [name, short] of [
    ["std::map<int, char>::find(int const&)", "std::map<\u2026>::find()"],
    ["bool operator< <char>(A<B<C> > const&, D)", "bool operator< <\u2026>()"],
    ["A::operator()(int)", "A::operator()()"],
    ["(anonymous namespace)::f(int)", "(anonymous namespace)::f()"],
    [
      "f(int)::{lambda(int)#1}::operator()(int) const",
      "f()::{lambda()#1}::operator()() const",
    ],
    ["sort<It, f()::<lambda(A<B>&)> >", "sort<\u2026>"],
    ["plain_c", "plain_c"],
    ["unbalanced<(", "unbalanced<("],
    ["<script>alert(1)</script>", "<\u2026>alert()<\u2026>"],
  ])
    assert.equal(shortName(name), short);
});

test("stacks that were cut or lost have roots of their own", () => {
  const made = new MadePage();
  const thread = made.thread(made.process(), "main");
  const add = (path: string, end: number) =>
    made.samples.push([thread, made.samples.length, made.stack(path), 1, end]);
  add("main;f", 0);
  add("main;f", 7);
  add("main;f", 1);
  add("f", 2);
  made.samples.push([thread, 9, 0, 1, 3]);
  const profile = made.profile();
  const names = new Names(profile);
  const tree = makeTree(profile, shape("down"));
  const weights = weighTime(profile, selectAll(profile), "samples");
  const totals = addTotals(tree, weights);
  assert.deepEqual(
    told(tree, totals, (k) => names.function(k)),
    [
      "[lost] 1/0",
      "[lost];f 1/1",
      "[no stack] 1/1",
      "[truncated] 1/0",
      "[truncated];main 1/0",
      "[truncated];main;f 1/1",
      "main 2/0",
      "main;f 2/2",
    ],
  );
});

test("a function's instructions are those in the page", () => {
  const profile = cpuPage().profile();
  const of = (name: string) =>
    profile.functions.name.findIndex((n) => profile.strings.text(n) === name);
  const code = instructionsOf(profile, of("parse"));
  assert.equal(code?.length, 3);
  assert.deepEqual(code?.[2], {
    address: "1143",
    cost: 7500,
    line: 5,
    inlined: true,
    text: "add eax, 1",
  });
  assert.equal(instructionsOf(profile, of("eval")), null);
});

test("sizes of blocks are of a kind, of a heap, and of a function's stacks", () => {
  const profile = heapPage().profile();
  const { function: functionOf } = profile.nodes;
  const [heap] = profile.heaps;
  assert.deepEqual(blockSizes(profile, null, "peak", null), [
    { power: 10, blocks: 4, bytes: 4096 },
    { power: 11, blocks: 4, bytes: 8192 },
  ]);
  const parse = functionOf[profile.nodes.parent[heap.node[0]]];
  assert.deepEqual(blockSizes(profile, 0, "peak", parse), [
    { power: 10, blocks: 4, bytes: 4096 },
  ]);
  assert.deepEqual(blockSizes(profile, 1, "peak", null), []);
  assert.deepEqual(blockSizes(profile, 0, "temporary", null), []);
  heap.sizes.power[1] = 13; // rows between are there, too
  assert.deepEqual(
    blockSizes(profile, 0, "peak", null).map((row) => row.blocks),
    [4, 0, 0, 4],
  );
});

test("a heap's curve goes through its peak, between notes or at one", () => {
  const [heap] = heapPage().profile().heaps;
  const peak = (us: number) =>
    (heap.info.totals = { peak_bytes: 1e8, peak_time_ns: us * 1000 });
  assert.equal(curveOf(heap, "bytes").most, 12288);
  assert.equal(curveOf(heap, "bytes").noted, true);
  peak(300000);
  const curve = curveOf(heap, "bytes");
  assert.deepEqual(curve.time, [0, 200000, 300000, 500000, 900000]);
  assert.deepEqual(curve.live, [0, 4096, 1e8, 12288, 4096]);
  assert.equal(curve.most, 1e8);
  assert.equal(curve.noted, false);
  assert.equal(curveOf(heap, "blocks").most, 8);
  assert.equal(curveOf(heap, "blocks").noted, true);
  peak(500000);
  assert.deepEqual(curveOf(heap, "bytes").live, [0, 4096, 1e8, 4096]);
  peak(950000);
  assert.deepEqual(curveOf(heap, "bytes").live, [0, 4096, 12288, 4096, 1e8]);
});

test("what was resident is beside the heap, on one scale", () => {
  const page = heapPage();
  const of = page.process();
  page.sizes.push([0, 0, 8192], [of, 10, 4096], [0, 400000, 24576]);
  const profile = page.profile();
  const [row] = laneRows(profile);
  assert.equal(row.process, 0);
  const lane = makeLane(profile, row, [0, 1e6], 10);
  assert.deepEqual(lane.resident, [
    { x: 0, y: 8192 / 24576 },
    { x: 0.4, y: 1 },
  ]);
  assert.deepEqual(lane.live[2], { x: 0.5, y: 12288 / 24576 });
  assert.equal(residentAt(profile, 0, 399999), 8192);
  assert.equal(residentAt(profile, 0, 400000), 24576);
  assert.equal(residentAt(profile, of, 9), null);
  const other = laneRows(profile).find(({ process }) => process === of)!;
  assert.deepEqual(makeLane(profile, other, [0, 1e6], 10).live, []);
});

// Each function's self and total change at the later of two snapshots.
function grown(since: number | null, until: number | null, unit: "bytes" | "blocks") {
  const analysis = new Analysis(growthPage().profile());
  const state = {
    ...initial,
    tab: "heap" as const,
    kind: "growth",
    since,
    until,
    unit,
  };
  const { order, rows } = analysis.functions(state);
  const name = (f: number) => analysis.names.function(f);
  const by = fitOrder(state.order, order.totals);
  return {
    order,
    changes: sortFunctions(rows, by, order.totals, name).map((r) => [
      name(r.function),
      r.selfB - r.selfA,
      r.totalB - r.totalA,
    ]),
  };
}

test("functions grow and shrink between two snapshots", () => {
  assert.deepEqual(grown(2, 4, "bytes").changes, [
    ["eval", 0, 8192],
    ["malloc", 7168, 7168],
    ["main", 0, 7068],
    ["gone", -100, -100],
    ["parse", 0, -1024],
  ]);
  assert.deepEqual(grown(1, 2, "blocks").changes, [
    ["main", 0, 5],
    ["parse", 0, 4],
    ["malloc", 4, 4],
    ["gone", 1, 1],
  ]);
});

test("growth shows all that changed, though it be in both directions", () => {
  const { order } = grown(2, 4, "bytes");
  const { a, b } = order.totals;
  assert.deepEqual([a.all, b!.all], [1124, 8192]);
  const [main] = order.children(0);
  const below = [...order.children(main)];
  const shares = below.map((n) => shareOf(order.totals, n));
  assert.deepEqual(
    shares.map((s) => Math.round(s * 9316)),
    [8192, 1024, 100],
  );
  assert.deepEqual(
    below.map((n) => Math.sign(deltaOf(order.totals, n))),
    [1, -1, -1],
  );
});

test("growth is from the first snapshot to the last, or of two that fit", () => {
  const profile = growthPage().profile();
  const { snapshots } = profile.heaps[0];
  const numbers = (since: number | null, until: number | null) =>
    pairOf(snapshots, since, until).map((s) => s.number);
  assert.deepEqual(growing(profile), [0]);
  assert.deepEqual(growing(heapPage().profile()), []);
  assert.deepEqual(numbers(null, null), [1, 4]);
  assert.deepEqual(numbers(1, 2), [1, 2]);
  assert.deepEqual(numbers(2, 1), [2, 4]);
  assert.deepEqual(numbers(4, 4), [1, 4]);
  assert.deepEqual(numbers(3, 77), [1, 4]);
  const analysis = new Analysis(profile);
  assert.deepEqual(analysis.heapKinds(), ["live", "growth"]);
  assert.equal(analysis.heapKind({ ...initial, tab: "heap" }), "live");
});

test("growth is told by signs", () => {
  assert.equal(change(1024, "bytes"), "+1.00 KiB");
  assert.equal(change(-1, "blocks"), "\u22121 block");
  assert.equal(change(0, "blocks"), "\u00b10 blocks");
});

test("reports of memory become trees, alone and compared", () => {
  const memory = memoryPage().profile().memory!;
  const now = memoryTree(memory, 2, 2, null);
  assert.deepEqual(now.children.get(-1), [0, 5, 6]);
  assert.deepEqual(now.children.get(0), [1, 2, 4]);
  assert.equal(memoryAmount(now, 6, now.amount[6]), "-512 B");
  assert.equal(memoryAmount(now, 5, now.amount[5]), "7");
  assert.deepEqual(memoryPath(now, 3), [0, 1, 3]);
  const first = memoryTree(memory, 2, 0, null);
  assert.deepEqual(first.children.get(0), [1, 2]);
  const grown = memoryTree(memory, 2, 2, 0);
  assert.deepEqual(grown.children.get(0), [1, 4, 2]);
  assert.deepEqual(
    [0, 1, 2, 4].map((n) => changeOf(grown, n)),
    [5120, 4096, 0, 1024],
  );
  assert.equal(memoryChange(grown, 5), "+2");
  assert.equal(memoryTree(memory, 1, 0, null).children.size, 0);
});

test("a treemap's areas are as large as the parts, and do not overlap", () => {
  const tree = memoryTree(memoryPage().profile().memory!, 2, 2, null);
  const areas = treemap(tree, 0, 400, 317);
  const inner = areas.filter((a) => a.depth === 1);
  assert.deepEqual(
    inner.map((a) => a.part),
    [1, 2, 4],
  );
  const inside = 398 * (317 - 18);
  for (const { part, x, y, width, height } of inner) {
    const share = tree.weight[part] / 8192;
    assert.ok(Math.abs(width * height - share * inside) < 1, String(part));
    assert.ok(x >= 0.99 && y >= 16.9 && x + width < 399.1 && y + height < 316.1);
  }
  for (const a of inner)
    for (const b of inner)
      assert.ok(
        a === b ||
          a.x + a.width <= b.x + 0.01 ||
          b.x + b.width <= a.x + 0.01 ||
          a.y + a.height <= b.y + 0.01 ||
          b.y + b.height <= a.y + 0.01,
      );
});

test("what is retained is summed up by root and by site", () => {
  const profile = heldPage().profile();
  const { retained } = profile.heaps[0];
  const names = (by: "root" | "site", unit: "bytes" | "blocks") => {
    const { tree, totals } = retainedOrder(retained, by, unit);
    return [...tree.parent].map((parent, n) => [
      parent,
      profile.strings.text(tree.key[n]),
      totals.a.total[n],
    ]);
  };
  assert.deepEqual(names("root", "bytes").slice(1), [
    [0, "`cache` of app", 900],
    [1, "fill (app.c:3)", 900],
    [2, "value (app.c:9)", 800],
    [0, "[lost]", 400],
    [4, "value (app.c:9)", 400],
  ]);
  assert.deepEqual(names("site", "blocks").slice(1), [
    [0, "fill (app.c:3)", 3],
    [1, "value (app.c:9)", 2],
    [0, "value (app.c:9)", 1],
  ]);
});

test("chains lead from a place to its roots", () => {
  const { heaps, strings } = heldPage().profile();
  const { chains } = heaps[0];
  const found = chainsTo(chains, chains.place[3]);
  assert.deepEqual(
    found.map(({ bytes, blocks, steps }) => [
      bytes,
      blocks,
      steps.map((s) => [strings.text(s.place), s.offset, s.isConservative]),
    ]),
    [
      [
        800,
        2,
        [
          ["value (app.c:9)", null, false],
          ["fill (app.c:3)", 24, true],
          ["`cache` of app", 8, false],
        ],
      ],
      [400, 1, [["value (app.c:9)", null, false]]],
    ],
  );
  assert.ok(found[0].steps[2].isRoot && found[0].steps[0].repeats);
  assert.ok(!found[1].steps[0].isRoot);
});
