// SPDX-License-Identifier: MIT
// Names: how functions, modules and places are called, raw; display() is for
// what is shown.

import type { Profile } from "../data/profile";

export class Names {
  constructor(private readonly profile: Profile) {}

  function(f: number): string {
    const { strings, functions } = this.profile;
    return strings.text(functions.name[f]) || "(no name)";
  }

  module(m: number): string {
    return this.profile.head.modules[m]?.name ?? "(no module)";
  }

  moduleOf(f: number): string {
    return this.module(this.profile.functions.module[f]);
  }

  // "file:line" of a function, "" if not known.
  place(f: number): string {
    const { strings, functions } = this.profile;
    const file = strings.text(functions.file[f]);
    const line = functions.line[f];
    return file ? (line ? `${file}:${line}` : file) : "";
  }

  process(p: number): string {
    const { name, pid } = this.profile.head.processes[p];
    return `${name} [${pid}]`;
  }

  thread(t: number): string {
    const { name, tid } = this.profile.head.threads[t];
    return `${name} [${tid}]`;
  }
}
