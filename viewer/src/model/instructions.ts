// SPDX-License-Identifier: MIT
// Instructions: the code of a function, as far as it is in the page.

import type { Profile } from "../data/profile";

export interface Instruction {
  address: string; // hexadecimal, as linked
  cost: number; // us of CPU time, of the whole recording
  line: number; // of the function; 0: not known
  inlined: boolean;
  text: string;
}

function parse(line: string): Instruction {
  const [address, cost, number, inlined, text = ""] = line.split("\t");
  return {
    address,
    cost: Number(cost) / 1000,
    line: Number(number),
    inlined: inlined === "1",
    text,
  };
}

// Null: it is not in the page.
export function instructionsOf(
  profile: Profile,
  f: number,
): Instruction[] | null {
  const code = profile.head.code?.find((c) => c.function === f);
  if (!code) return null;
  const lines = profile.strings.text(code.text).split("\n");
  return lines.filter((line) => line !== "").map(parse);
}
