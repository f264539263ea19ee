// SPDX-License-Identifier: MIT
// Block sizes: a row for each power of two, with a bar for the chosen unit.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { display } from "../data/display";
import { amount, percent } from "../model/amount";
import { blockSizes, type SizeRow } from "../model/block_sizes";
import { growth, useAnalysis } from "../state/analysis";
import { useStore } from "../state/store";

// Blocks of no bytes are in the first row, too.
function sizeText(power: number): string {
  const from = power ? amount(2 ** power, "bytes") : "0 B";
  return `${from} to ${amount(2 ** (power + 1) - 1, "bytes")}`;
}

function Row(props: {
  row: SizeRow;
  all: number;
  most: number;
  unit: "bytes" | "blocks";
}): JSX.Element {
  const { row, all, most, unit } = props;
  const value = row[unit];
  return (
    <tr data-power={row.power}>
      <th scope="row">{sizeText(row.power)}</th>
      <td class="number">{amount(row.blocks, "blocks")}</td>
      <td class="number">{amount(row.bytes, "bytes")}</td>
      <td class="number">{percent(value, all)}</td>
      <td class="bars">
        <i class="bar" style={{ width: `${most ? (100 * value) / most : 0}%` }} />
      </td>
    </tr>
  );
}

export function BlockSizes(): JSX.Element {
  const [state] = useStore();
  const analysis = useAnalysis();
  const { profile, names } = analysis;
  const { heap, unit, focus } = state;
  const kind = analysis.heapKind(state);
  const rows = useMemo(
    () => blockSizes(profile, heap, kind, focus),
    [profile, heap, kind, focus],
  );
  const values = rows.map((r) => r[unit]);
  const all = values.reduce((sum, v) => sum + v, 0);
  if (!rows.length)
    return (
      <p class="empty">
        {kind === growth
          ? "The sizes of blocks are not known of each snapshot."
          : "There are no blocks of this kind."}
      </p>
    );
  return (
    <div
      id="block-sizes"
      class="sizes"
      tabIndex={0}
      role="region"
      aria-label="Sizes of blocks"
    >
      <table>
        <caption>
          {focus === null
            ? "Blocks by usable bytes"
            : `Blocks of stacks with ${display(names.function(focus), 200)}, by usable bytes`}
        </caption>
        <thead>
          <tr>
            <th scope="col">Size of a block</th>
            <th scope="col">Blocks</th>
            <th scope="col">Bytes</th>
            <th scope="col">Share</th>
            <th scope="col">
              {unit === "bytes" ? "of the bytes" : "of the blocks"}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row
              key={row.power}
              row={row}
              all={all}
              most={Math.max(...values)}
              unit={unit}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}
