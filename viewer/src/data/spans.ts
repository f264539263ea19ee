// SPDX-License-Identifier: MIT
// Spans: which rows of a column belong to which thread.

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
