// SPDX-License-Identifier: MIT
// Amount: costs as people read them.

import type { Unit } from "./weights";

function scaled(value: number, step: number, units: string[]): string {
  let at = 0;
  let shown = value;
  while (Math.abs(shown) >= step && at < units.length - 1) {
    shown /= step;
    at++;
  }
  const digits =
    at === 0 && Number.isInteger(shown) ? 0 : Math.abs(shown) >= 100 ? 1 : 2;
  return `${shown.toFixed(digits)} ${units[at]}`.trim();
}

const thousands = new Intl.NumberFormat("en-US");

function counted(count: number, noun: string): string {
  return `${thousands.format(count)} ${noun}${count === 1 ? "" : "s"}`;
}

export function amount(value: number, unit: Unit): string {
  switch (unit) {
    case "us":
      return scaled(value, 1000, ["\u00b5s", "ms", "s"]);
    case "bytes":
      return scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);
    case "blocks":
      return counted(Math.round(value), "block");
    case "samples":
      return counted(value, "sample");
  }
}

// By how much something grew or shrank.
export function change(value: number, unit: Unit): string {
  const sign = value > 0 ? "+" : value < 0 ? "\u2212" : "\u00b1";
  return sign + amount(Math.abs(value), unit);
}

export function percent(part: number, all: number): string {
  return all ? ((100 * part) / all).toFixed(2) + "%" : "-";
}

// Of two shares, in percentage points.
export function points(delta: number): string {
  const text = (100 * Math.abs(delta)).toFixed(2);
  return (delta > 0 ? "+" : delta < 0 ? "\u2212" : "\u00b1") + text + " pp";
}
