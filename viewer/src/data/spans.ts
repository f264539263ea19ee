// SPDX-License-Identifier: MIT
// Spans: which rows of a column belong to which thread.

import type { ThreadInfo } from "./head";

export interface Spans {
  // Thread t's rows are order[start[t]] to order[start[t + 1]] (exclusive).
  start: Uint32Array;
  order: Uint32Array;
}

// Keeps the order of rows within a thread.
export function orderByThread(thread: Uint32Array, threads: number): Spans {
  const start = new Uint32Array(threads + 1);
  for (let i = 0; i < thread.length; i++) start[thread[i] + 1]++;
  for (let t = 0; t < threads; t++) start[t + 1] += start[t];
  const next = start.slice();
  const order = new Uint32Array(thread.length);
  for (let i = 0; i < thread.length; i++) order[next[thread[i]]++] = i;
  return { start, order };
}

const wrap = 2 ** 32;

// Times are kept modulo 2^32 us, 71 minutes. A thread's come in order, and
// the first is not before the thread.
export function unwrapTimes(
  times: Uint32Array,
  spans: Spans,
  threads: ThreadInfo[],
): Float64Array {
  const whole = new Float64Array(times.length);
  for (let t = 0; t < threads.length; t++) {
    let last = threads[t].start_ns / 1000 - 1e6; // clocks differ a little
    for (let k = spans.start[t]; k < spans.start[t + 1]; k++) {
      const row = spans.order[k];
      const turns = Math.max(0, Math.ceil((last - times[row]) / wrap));
      whole[row] = times[row] + turns * wrap;
      last = whole[row] - 1e6;
    }
  }
  return whole;
}
