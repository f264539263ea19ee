// SPDX-License-Identifier: MIT
// Memory areas: the tree of the chosen part's memory as nested areas.

import type { JSX } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { changeColor, frameColor } from "../draw/colors";
import {
  type Area,
  changeOf,
  memoryAmount,
  memoryChange,
  memoryPath,
  treemap,
  type MemoryTree,
} from "../model/memory_tree";
import { isPlain } from "../ui/keys";
import { useSize } from "../ui/size";
import { usePalette } from "../ui/theme";

const leastText = 30; // px

// The part whose areas are shown: the chosen one, or what it is in.
function topOf(tree: MemoryTree, chosen: number): number {
  const path = memoryPath(tree, chosen);
  while (path.length > 1 && !tree.children.has(path[path.length - 1]))
    path.pop();
  return path[path.length - 1] ?? -1;
}

function areaText(tree: MemoryTree, nameOf: (n: number) => string, n: number) {
  const much = tree.before
    ? memoryChange(tree, n)
    : memoryAmount(tree, n, tree.amount[n]);
  return `${nameOf(n)} ${much}`;
}

// Where a key leads: along the siblings, in, or out.
function neighbour(tree: MemoryTree, top: number, at: number, key: string) {
  const parent = tree.memory.parent[at] - 1;
  const row = tree.children.get(parent) ?? [];
  switch (key) {
    case "ArrowRight":
      return row[Math.min(row.length - 1, row.indexOf(at) + 1)];
    case "ArrowLeft":
      return row[Math.max(0, row.indexOf(at) - 1)];
    case "ArrowDown":
      return tree.children.get(at)?.[0] ?? at;
    case "ArrowUp":
    case "Backspace":
      return parent >= 0 ? parent : at;
    case "Home":
      return memoryPath(tree, top)[0];
    default:
      return null;
  }
}

export function MemoryAreas(props: {
  tree: MemoryTree;
  chosen: number;
  nameOf(n: number): string;
  onChoose(n: number): void;
}): JSX.Element {
  const { tree, chosen, nameOf, onChoose } = props;
  const palette = usePalette();
  const box = useRef<HTMLDivElement>(null);
  const [width, height] = useSize(box);
  const top = chosen < 0 ? -1 : topOf(tree, chosen);
  const areas = useMemo(
    () =>
      top >= 0 && width && height ? treemap(tree, top, width, height) : [],
    [tree, top, width, height],
  );
  const colorOf = ({ part, depth }: Area): string => {
    if (depth === 0) return palette.root;
    if (!tree.before) return frameColor(palette, depth % 8, part);
    const largest = Math.max(tree.amount[part] || 0, tree.before[part] || 0);
    return changeColor(palette, largest ? changeOf(tree, part) / largest : 0);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isPlain(event)) return;
    const to = neighbour(tree, top, chosen, event.key);
    if (to === null || to === undefined) return;
    onChoose(to);
    event.preventDefault();
  };
  const label = chosen < 0 ? "nothing" : areaText(tree, nameOf, chosen);
  return (
    <div
      ref={box}
      id="areas"
      class="areas"
      tabIndex={0}
      role="application"
      aria-roledescription="treemap"
      aria-label={`Areas of memory. ${label}`}
      onKeyDown={onKeyDown}
    >
      {areas.map((area) => (
        <div
          key={area.part}
          class={"area" + (area.part === chosen ? " chosen" : "")}
          aria-hidden="true"
          title={areaText(tree, nameOf, area.part)}
          style={{
            left: `${area.x}px`,
            top: `${area.y}px`,
            width: `${area.width}px`,
            height: `${area.height}px`,
            background: colorOf(area),
          }}
          onClick={() => onChoose(area.part)}
        >
          {area.width > leastText && area.height > 14 &&
            areaText(tree, nameOf, area.part)}
        </div>
      ))}
      {areas.length < 2 && (
        <p class="empty">
          {tree.before ? "Nothing changed in it." : "It has no parts."}
        </p>
      )}
    </div>
  );
}
