// SPDX-License-Identifier: MIT
// Frame text: what is said of one frame, in the line below and the tip.

import { display } from "../data/display";
import { amount, change, percent, points } from "../model/amount";
import { shortName } from "../model/short_name";
import type { Shape } from "../model/shapes";
import { deltaOf, type Side, type Totals } from "../model/totals";
import type { Unit } from "../model/weights";
import type { Analysis } from "../state/analysis";

function sideText(name: string, side: Side, node: number, totals: Totals) {
  const total = amount(side.total[node], totals.unit);
  const self = amount(side.self[node], totals.unit);
  return (
    `${name}total ${total} (${percent(side.total[node], side.all)}), ` +
    `self ${self} (${percent(side.self[node], side.all)})`
  );
}

function growthText(less: Side, more: Side, node: number, unit: Unit) {
  const grew = more.total[node];
  const shrank = less.total[node];
  return (
    `total ${change(grew - shrank, unit)}, ` +
    `self ${change(more.self[node] - less.self[node], unit)}` +
    (grew && shrank
      ? `; ${amount(grew, unit)} more, ${amount(shrank, unit)} less`
      : "")
  );
}

const longName = 50; // characters

// A name in a row of a list.
export function listName(name: string): string {
  return name.length > longName ? shortName(name) : name;
}

export function costText(totals: Totals, node: number): string {
  if (!totals.b) return sideText("", totals.a, node, totals);
  if (totals.isGrowth) return growthText(totals.a, totals.b, node, totals.unit);
  return [
    sideText("A: ", totals.a, node, totals),
    sideText("B: ", totals.b, node, totals),
    points(deltaOf(totals, node)),
  ].join("; ");
}

export interface FrameText {
  title: string;
  short: string; // of the title, where it is long
  place: string;
  cost: string;
}

export function frameText(
  analysis: Analysis,
  shape: Shape,
  key: number | null, // null: the root
  totals: Totals,
  node: number,
): FrameText {
  const cost = costText(totals, node);
  if (key === null) {
    const title = rootName(analysis, shape);
    return { title, short: title, place: "", cost };
  }
  const name = analysis.keyName(shape)(key);
  const text = { title: display(name), short: display(listName(name)), cost };
  if (shape.kind === "module") {
    const module = analysis.profile.head.modules[key];
    return { ...text, place: module ? display(module.path) : "" };
  }
  const module = display(analysis.names.moduleOf(key));
  const place = display(analysis.names.place(key));
  return { ...text, place: place ? `${place} in ${module}` : `in ${module}` };
}

export function rootName(analysis: Analysis, shape: Shape): string {
  return shape.focus === null
    ? "all"
    : `all ${shape.kind === "callers" ? "callers of" : "through"} ${display(analysis.names.function(shape.focus), 80)}`;
}
