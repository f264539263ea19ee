// SPDX-License-Identifier: MIT
// Short name: a C++ name where there is little room, without what is in its
// angle brackets and the list of its parameters.

const operators = /operator\s*(<=>|<<=?|>>=?|->\*?|<=?|>=?|\(\))/g;

// The text with each balanced open..close made "open…close".
function fold(text: string, open: string, close: string): string {
  let depth = 0;
  let short = "";
  for (const c of text) {
    if (c === open && depth++ === 0) short += open + "\u2026";
    if (c === close && depth > 0 && --depth === 0) short += close;
    else if (depth === 0) short += c;
  }
  return depth === 0 ? short : text;
}

export function shortName(name: string): string {
  if (!/[<(]/.test(name)) return name;
  const kept: string[] = [];
  const keep = (part: string) => `\u0001${kept.push(part) - 1}\u0002`;
  const safe = name
    .replace(operators, keep)
    .replaceAll("(anonymous namespace)", keep);
  const folded = fold(fold(safe, "<", ">"), "(", ")").replaceAll(
    "(\u2026)",
    "()",
  );
  return folded.replace(/\u0001(\d+)\u0002/g, (_, at) => kept[Number(at)]);
}
