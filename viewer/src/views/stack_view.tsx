// SPDX-License-Identifier: MIT
// Stack view: one of the three ways to look at weighed stacks.

import type { JSX } from "preact";
import type { StackView as View } from "../state/state";
import { CallTree } from "./call_tree";
import { Flame } from "./flame";
import { Functions } from "./functions";

export function StackView(props: { view: View }): JSX.Element {
  switch (props.view) {
    case "flame":
      return <Flame />;
    case "tree":
      return <CallTree />;
    case "functions":
      return <Functions />;
  }
}
