// SPDX-License-Identifier: MIT
// Strings: the texts of a page by number, decoded when first asked for.

import type { Columns } from "./columns";

export class Strings {
  private readonly bytes: Uint8Array;
  private readonly ends: Uint32Array;
  private readonly known: (string | undefined)[] = [];
  private readonly decoder = new TextDecoder();

  constructor(columns: Columns) {
    this.bytes = columns.u8("strings.bytes");
    this.ends = columns.u32("strings.ends");
  }

  // A text of the page's own; its number.
  add(text: string): number {
    const id = Math.max(this.ends.length, this.known.length);
    this.known[id] = text;
    return id;
  }

  text(id: number): string {
    let text = this.known[id];
    if (text === undefined) {
      const start = id ? this.ends[id - 1] : 0;
      text = this.decoder.decode(this.bytes.subarray(start, this.ends[id]));
      this.known[id] = text;
    }
    return text;
  }
}
