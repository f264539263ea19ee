// SPDX-License-Identifier: MIT
// Theme: light or dark, by the system's wish or the user's.

import { useLayoutEffect, useState } from "preact/hooks";
import { dark, light, type Palette } from "../draw/colors";
import type { Theme } from "../state/state";
import { useStore } from "../state/store";

const wish = () => matchMedia("(prefers-color-scheme: dark)");

function isDark(theme: Theme): boolean {
  return theme === "auto" ? wish().matches : theme === "dark";
}

export function nextTheme(theme: Theme): Theme {
  return isDark(theme) ? "light" : "dark";
}

export function usePalette(): Palette {
  const [{ theme }] = useStore();
  const [, redraw] = useState(0);
  useLayoutEffect(() => {
    const query = wish();
    const listener = () => redraw((n) => n + 1);
    query.addEventListener("change", listener);
    return () => query.removeEventListener("change", listener);
  }, []);
  const shown = isDark(theme);
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = shown ? "dark" : "light";
  }, [shown]);
  return shown ? dark : light;
}
