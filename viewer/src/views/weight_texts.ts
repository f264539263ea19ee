// SPDX-License-Identifier: MIT
// Weight texts: what the weights of time are called.

import type { TimeWeight } from "../model/weights";

export const weightTexts: Record<TimeWeight, string> = {
  cpu: "CPU time",
  samples: "samples",
  blocked: "blocked",
  waiting: "waiting for a CPU",
  wall: "wall-clock time",
};
