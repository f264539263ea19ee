// SPDX-License-Identifier: MIT
// Lanes: the rows of the timeline: each process, below it its threads.

import type { Lane } from "../draw/lane_painter";
import type { Profile } from "../data/profile";
import { addThread, emptyBins } from "../model/timeline";

export interface LaneRow {
  process: number;
  thread: number | null; // null: the whole process
  threads: number[]; // that it stands for
  isOpen?: boolean; // of a process: its threads are shown below
}

// How much each thread did: by its samples, and a little by the rest.
function activity(profile: Profile, threads: number[]): number {
  const { samples, blocks } = profile;
  let sum = 0;
  for (const t of threads) {
    const rows = (of: Uint32Array) => of[t + 1] - of[t];
    sum += rows(samples.of.start) + rows(blocks.of.start) / 1000;
  }
  return sum;
}

export function busiestThread(profile: Profile): number {
  let best = 0;
  let most = -1;
  profile.head.threads.forEach((_, t) => {
    const much = activity(profile, [t]);
    if (much > most) [best, most] = [t, much];
  });
  return best;
}

const mostLanes = 40; // that are all shown at first

// The processes of a recording by activity: a shell that only starts another
// program is below that. Where there are very many threads, those of the
// busiest process alone are shown; `toggled` processes are the other way.
export function laneRows(profile: Profile, toggled: number[] = []): LaneRow[] {
  const { processes, threads } = profile.head;
  const of: number[][] = processes.map(() => []);
  threads.forEach(({ process }, t) => of[process]?.push(t));
  const active = of.map((all) => activity(profile, all));
  const order = processes
    .map((_, process) => process)
    .sort(
      (p, q) =>
        processes[p].recording - processes[q].recording ||
        active[q] - active[p],
    );
  const few = threads.length + processes.length <= mostLanes;
  return order.flatMap((process, place) => {
    const all = of[process];
    const isOpen = (few || place === 0) !== toggled.includes(process);
    const whole = { process, thread: null, threads: all, isOpen };
    if (all.length < 2 || !isOpen) return [whole];
    return [
      whole,
      ...all.map((thread) => ({ process, thread, threads: [thread] })),
    ];
  });
}

interface Point {
  time: number; // us
  bytes: number;
}

function residentOf({ sizes }: Profile, process: number): Point[] {
  const points: Point[] = [];
  sizes.time.forEach((time, i) => {
    if (sizes.process[i] === process)
      points.push({ time, bytes: sizes.resident[i] });
  });
  return points;
}

function liveOf(profile: Profile, process: number): Point[] {
  const heap = profile.heaps.find((h) => h.info.process === process);
  if (!heap) return [];
  return Array.from(heap.time, (time, i) => ({ time, bytes: heap.bytes[i] }));
}

// The curves of a process: of its first heap, and of what was resident. Both
// have one scale.
function curvesOf(profile: Profile, row: LaneRow, at: (us: number) => number) {
  if (row.thread !== null) return { live: [], resident: [] };
  const live = liveOf(profile, row.process);
  const resident = residentOf(profile, row.process);
  let most = 1;
  for (const { bytes } of [...live, ...resident]) most = Math.max(most, bytes);
  const scaled = (points: Point[]) =>
    points.map(({ time, bytes }) => ({ x: at(time), y: bytes / most }));
  return { live: scaled(live), resident: scaled(resident) };
}

// What a process had resident at a time; null: nobody knows.
export function residentAt(
  { sizes }: Profile,
  process: number,
  us: number,
): number | null {
  let bytes = null;
  for (let i = 0; i < sizes.time.length; i++)
    if (sizes.process[i] === process && sizes.time[i] <= us)
      bytes = sizes.resident[i];
  return bytes;
}

function recordingOf(profile: Profile, { process }: LaneRow): number {
  return profile.head.processes[process].recording;
}

export function makeLane(
  profile: Profile,
  row: LaneRow,
  [from, to]: [number, number],
  count: number, // of bins
): Lane {
  const bins = emptyBins(count);
  for (const t of row.threads) addThread(profile, t, from, to, bins);
  const at = (us: number) => (us - from) / (to - from);
  const marks = [];
  const { of, time, duration, missed } = profile.marks;
  for (const t of row.threads)
    for (let k = of.start[t]; k < of.start[t + 1]; k++) {
      const m = of.order[k];
      const width = duration[m] / (to - from);
      marks.push({ x: at(time[m]), width, missed: !!missed[m] });
    }
  const { recording, start, end } = profile.pauses;
  const pauses = Array.from(start, (us, i) => ({
    x: at(us),
    width: (end[i] - us) / (to - from),
  })).filter((_, i) => recording[i] === recordingOf(profile, row));
  const most = Math.max(1, row.threads.length > 1 ? highest(bins.cpu) : 1);
  return { bins, most, ...curvesOf(profile, row, at), marks, pauses };
}

function highest(values: Float64Array): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

// Which part of a moment these threads ran, were blocked and waited: of a
// thread's time, or of that of all of them.
export function sharesAt(
  profile: Profile,
  threads: number[],
  [from, to]: [number, number],
): { cpu: number; blocked: number; waiting: number } {
  const bins = emptyBins(1);
  for (const t of threads) addThread(profile, t, from, to, bins);
  const all = Math.max(1, threads.length);
  return {
    cpu: bins.cpu[0] / all,
    blocked: bins.blocked[0] / all,
    waiting: bins.waiting[0] / all,
  };
}

// The mark of these threads nearest to a time, within `reach` us.
export function markNear(
  profile: Profile,
  threads: number[],
  when: number,
  reach: number,
): number | null {
  const { of, time, duration } = profile.marks;
  let best = null;
  for (const t of threads)
    for (let k = of.start[t]; k < of.start[t + 1]; k++) {
      const m = of.order[k];
      if (time[m] - reach <= when && when <= time[m] + duration[m] + reach)
        best = m;
    }
  return best;
}
