// SPDX-License-Identifier: MIT
// Made pages: the ones that tests look at.

import { type MadeFunction, MadePage } from "./made_page";

export const known: Record<string, MadeFunction> = {
  main: { name: "main", file: "/src/app.c", line: 40 },
  parse: { name: "parse", file: "/src/app.c", line: 3 },
  eval: { name: "eval", file: "/src/app.c", line: 12 },
  malloc: { name: "malloc", module: 1 },
};

const source = Array.from({ length: 60 }, (_, i) => `line ${i + 1};`);

// 100 samples of 1 ms in two threads: 30 parse, 20 malloc below parse, 50
// eval (of them 20 called by itself); 0.3 s blocked in read.
export function cpuPage(): MadePage {
  const made = new MadePage();
  const process = made.process();
  const main = made.thread(process, "main");
  const worker = made.thread(process, "worker");
  const stacks: [string, number, number][] = [
    ["main;parse", 30, main],
    ["main;parse;malloc", 20, main],
    ["main;eval", 30, worker],
    ["main;eval;eval", 20, worker],
  ];
  let time = 0;
  for (const [path, count, thread] of stacks)
    for (let i = 0; i < count; i++)
      made.samples.push([
        thread,
        (time += 5000),
        made.stack(path, known),
        1000,
        0,
      ]);
  made.blocks.push([main, 600000, 300000, made.stack("main;read"), 0, 0]);
  made.marks.push([main, 500000, 20000, made.string("frame <7>"), 1]);
  made.source("/src/app.c", source.join("\n"));
  made.code(known.parse, [
    "1140\t0\t3\t0\tpush rbp",
    "1141\t22500000\t4\t0\tmov eax, dword ptr [rdi]",
    "1143\t7500000\t5\t1\tadd eax, 1",
  ]);
  return made;
}

// What `cpuPage` runs, with half of parse's time and 30 more of eval.
export function diffPage(): MadePage {
  const made = new MadePage(2);
  const counts = [
    { "main;parse": 40, "main;eval": 60 },
    { "main;parse": 20, "main;eval": 60, "main;new_one": 20 },
  ];
  counts.forEach((stacks, recording) => {
    const thread = made.thread(made.process(recording), "main");
    let time = 0;
    for (const [path, count] of Object.entries(stacks))
      for (let i = 0; i < count; i++)
        made.samples.push([
          thread,
          (time += 5000),
          made.stack(path, known),
          1000,
          0,
        ]);
  });
  return made;
}

// `more`: columns of the first stack alone.
export function heapPage(more: Record<string, number> = {}): MadePage {
  const none = Object.fromEntries(Object.keys(more).map((name) => [name, 0]));
  const made = new MadePage();
  const process = made.process();
  made.thread(process, "main");
  const node = made.stack("main;parse;malloc", known);
  const other = made.stack("main;eval;malloc", known);
  made.heap({
    info: {
      process,
      totals: {},
      sampled: false,
      findings: [
        {
          kind: "leak",
          title: "Lost at the end",
          detail: "nothing points to it",
          bytes: 4096,
          blocks: 4,
          node,
        },
      ],
    },
    curve: [
      [0, 0, 0],
      [200000, 4096, 4],
      [500000, 12288, 8],
      [900000, 4096, 4],
    ],
    stacks: [
      {
        node,
        bytes_live: 4096,
        blocks_live: 4,
        bytes_peak: 4096,
        blocks_peak: 4,
        ...more,
      },
      {
        node: other,
        bytes_live: 0,
        blocks_live: 0,
        bytes_peak: 8192,
        blocks_peak: 4,
        ...none,
      },
    ],
    sizes: [
      {
        stack: 0,
        power: 10,
        bytes_live: 4096,
        blocks_live: 4,
        bytes_peak: 4096,
        blocks_peak: 4,
      },
      {
        stack: 1,
        power: 11,
        bytes_live: 0,
        blocks_live: 0,
        bytes_peak: 8192,
        blocks_peak: 4,
      },
    ],
  });
  return made;
}

// Three snapshots: parse grows, then eval does and parse shrinks; what "gone"
// had is freed, and "kept" does not change.
export function growthPage(): MadePage {
  const made = new MadePage();
  const process = made.process();
  made.thread(process, "main");
  const stacks = ["parse;malloc", "eval;malloc", "gone", "kept"].map((path) => ({
    node: made.stack("main;" + path, known),
    bytes_live: 0,
    blocks_live: 0,
  }));
  const lived: [number, number, number, number][] = [
    [1, 0, 1024, 1],
    [1, 3, 500, 5],
    [2, 0, 5120, 5],
    [2, 2, 100, 1],
    [2, 3, 500, 5],
    [4, 0, 4096, 4],
    [4, 1, 8192, 2],
    [4, 3, 500, 5],
  ];
  made.heap({
    info: {
      process,
      totals: {},
      sampled: false,
      snapshots: [1, 2, 4].map((number) => ({
        number,
        time_ns: number * 1e8,
        why: "by --snapshot-every",
        text: number === 4 ? "loaded" : "",
      })),
    },
    curve: [
      [0, 0, 0],
      [900000, 12788, 11],
    ],
    stacks,
    lived: lived.map(([snapshot, stack, bytes, blocks]) => ({
      snapshot,
      stack,
      bytes,
      blocks,
    })),
  });
  return made;
}

// What a program reports of its memory, three times.
export function memoryPage(): MadePage {
  const made = new MadePage(0);
  made.head.memory = {
    processes: ["", "server (pid 41)"],
    reports: [1000, 11000, 21000].map((time_ms) => ({
      file: "series.json",
      time_ms,
    })),
  };
  const parts: [number, string, number, number[]][] = [
    [0, "explicit", 0, [3072, 4096, 8192]],
    [1, "cache", 0, [2048, 3072, 6144]],
    [1, "users", 0, [1024, 1024, 1024]],
    [2, "entries", 0, [2048, 3072, 6144]],
    [1, "leaky", 0, [NaN, NaN, 1024]],
    [0, "faults", 2, [5, 6, 7]],
    [0, "wrong", 0, [-512, -512, -512]],
  ];
  for (const [parent, name, unit, amounts] of parts)
    made.parts.push({ process: 2, parent, name, unit, amounts });
  return made;
}

// A heap of which it is known who holds what.
export function heldPage(): MadePage {
  const made = new MadePage();
  const process = made.process();
  made.thread(process, "main");
  const held = (
    parent: number,
    place: string,
    blocks: number,
    bytes: number,
    how: number,
    offset = 0,
  ) => ({ parent, place, blocks, bytes, how, offset });
  made.heap({
    info: { process, totals: {}, sampled: false },
    curve: [],
    stacks: [
      { node: made.stack("main;fill;malloc"), bytes_live: 900, blocks_live: 3 },
    ],
    retained: [
      held(0, "`cache` of app", 0, 0, 1),
      held(1, "fill (app.c:3)", 1, 100, 0),
      held(2, "value (app.c:9)", 2, 800, 8),
      held(0, "[lost]", 0, 0, 1),
      held(4, "value (app.c:9)", 1, 400, 0),
    ],
    chains: [
      held(0, "`cache` of app", 0, 0, 1),
      held(1, "fill (app.c:3)", 1, 100, 16, 8),
      held(2, "value (app.c:9)", 2, 800, 16 | 8 | 2, 24),
      held(0, "value (app.c:9)", 1, 400, 0),
    ],
  });
  return made;
}

export const hostileNames = [
  "<script>globalThis.broken = 1</script>",
  '"><img src=x onerror="globalThis.broken = 1">',
  "right\u202eleft\u0007bell\u0000nul\nline;semi",
  "long" + "x".repeat(100000),
];

export function hostilePage(): MadePage {
  const made = new MadePage(1, ["</script><b>"]);
  made.head.title = hostileNames[0];
  made.head.recordings[0].command = hostileNames.slice(0, 3);
  made.head.recordings[0].summary = [hostileNames[1]];
  const process = made.process(0, hostileNames[2]);
  const thread = made.thread(process, hostileNames[1]);
  let node = 0;
  hostileNames.forEach((name, i) => {
    node = made.child(node, { name, file: name, line: i + 1 });
    made.samples.push([thread, 1000 * (i + 1), node, 1000, 0]);
  });
  made.marks.push([thread, 1500, 0, made.string(hostileNames[0]), 0]);
  return made;
}
