// SPDX-License-Identifier: MIT
// Page: takes head and data out of the document that carries them.

import { Columns } from "./columns";
import type { Head } from "./head";

interface FromBase64 {
  fromBase64?(text: string): Uint8Array<ArrayBuffer>;
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as unknown as FromBase64).fromBase64;
  if (native) return native.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export async function gunzip(
  bytes: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array> {
  const unzipped = new Blob([bytes])
    .stream()
    .pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(unzipped).arrayBuffer());
}

function take(id: string): string {
  const element = document.getElementById(id);
  if (!element) throw new Error("this page has no recording in it");
  const text = element.textContent ?? "";
  element.remove(); // megabytes that nobody reads again
  return text;
}

export interface Page {
  head: Head;
  columns: Columns;
  later(): Promise<Columns>; // what the first picture does not need
}

async function unpack(text: string): Promise<Uint8Array> {
  return gunzip(fromBase64(text.trim()));
}

export async function readPage(): Promise<Page> {
  const head = JSON.parse(take("windlass-head")) as Head;
  if (head.format !== 2)
    throw new Error(`the page's data is of format ${head.format}, not 2`);
  const columns = new Columns(head.columns, await unpack(take("windlass-data")));
  const later = async () =>
    new Columns(head.columns, await unpack(take("windlass-later")), true);
  return { head, columns, later };
}
