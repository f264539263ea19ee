// SPDX-License-Identifier: MIT
// Start-up: the functions in which threads start, the same in every program.

import type { Profile } from "../data/profile";

const names =
  /^(_start|__libc_start_(call_)?main(_impl)?|(__GI_)?(__)?clone3?|start_thread)$/;

export function isStartUp(profile: Profile, f: number): boolean {
  return names.test(profile.strings.text(profile.functions.name[f]));
}
