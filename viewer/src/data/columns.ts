// SPDX-License-Identifier: MIT
// Columns: numbers of one kind in a row, as they lie in the unzipped data.

import type { ColumnInfo } from "./head";

export type Column =
  Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array;

const widths = { u8: 1, u16: 2, u32: 4, i32: 4, f64: 8 };

// Byte b of value i lies at b * length + i.
function gatherPlanes(bytes: Uint8Array, width: number): Uint8Array {
  const length = bytes.length / width;
  const whole = new Uint8Array(bytes.length);
  for (let b = 0; b < width; b++)
    for (let i = 0, at = b, from = b * length; i < length; i++, at += width)
      whole[at] = bytes[from + i];
  return whole;
}

// The same of u32, undoing differences on the way: most of a large page.
function joinPlanes(bytes: Uint8Array, delta: boolean): Uint32Array {
  const length = bytes.length / 4;
  const [b0, b1, b2, b3] = [0, 1, 2, 3].map((b) =>
    bytes.subarray(b * length, (b + 1) * length),
  );
  const column = new Uint32Array(length);
  let last = 0;
  for (let i = 0; i < length; i++) {
    const value = b0[i] | (b1[i] << 8) | (b2[i] << 16) | (b3[i] << 24);
    last = delta ? (last + value) | 0 : value;
    column[i] = last;
  }
  return column;
}

function view(type: ColumnInfo["type"], bytes: Uint8Array): Column {
  const { buffer, byteOffset } = bytes;
  const length = bytes.length / widths[type];
  switch (type) {
    case "u8":
      return new Uint8Array(buffer, byteOffset, length);
    case "u16":
      return new Uint16Array(buffer, byteOffset, length);
    case "u32":
      return new Uint32Array(buffer, byteOffset, length);
    case "i32":
      return new Int32Array(buffer, byteOffset, length);
    case "f64":
      return new Float64Array(buffer, byteOffset, length);
  }
}

export function decodeColumn(info: ColumnInfo, data: Uint8Array): Column {
  const width = widths[info.type];
  if (width === undefined) throw new Error(`unknown type of ${info.name}`);
  const size = info.length * width;
  if (info.offset + size > data.length)
    throw new Error(`${info.name} reaches beyond the data`);
  let bytes = data.subarray(info.offset, info.offset + size);
  if (info.type === "u32" && info.planes)
    return joinPlanes(bytes, info.delta === true);
  if (info.planes && width > 1) bytes = gatherPlanes(bytes, width);
  else if (bytes.byteOffset % width) bytes = bytes.slice();
  const column = view(info.type, bytes);
  if (info.delta)
    for (let i = 1; i < column.length; i++) column[i] += column[i - 1];
  return column;
}

export class Columns {
  private readonly infos = new Map<string, ColumnInfo>();

  // Of one of the two parts of the data.
  constructor(
    infos: ColumnInfo[],
    private readonly data: Uint8Array,
    later = false,
  ) {
    for (const info of infos)
      if ((info.later === true) === later) this.infos.set(info.name, info);
  }

  has(name: string): boolean {
    return this.infos.has(name);
  }

  names(): string[] {
    return [...this.infos.keys()];
  }

  // A column that is not there is empty.
  u32(name: string): Uint32Array {
    const column = this.column(name);
    return column instanceof Uint32Array ? column : new Uint32Array(column);
  }

  u8(name: string): Uint8Array {
    const column = this.column(name);
    return column instanceof Uint8Array ? column : new Uint8Array(column);
  }

  f64(name: string): Float64Array {
    const column = this.column(name);
    return column instanceof Float64Array ? column : new Float64Array(column);
  }

  private column(name: string): Column {
    const info = this.infos.get(name);
    return info ? decodeColumn(info, this.data) : new Uint8Array(0);
  }
}
