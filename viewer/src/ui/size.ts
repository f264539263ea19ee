// SPDX-License-Identifier: MIT
// Size: how large an element is, as that changes.

import { type RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

export function useSize(ref: RefObject<HTMLElement | null>): [number, number] {
  const [size, setSize] = useState<[number, number]>([0, 0]);
  useLayoutEffect(() => {
    const element = ref.current!;
    const measure = () =>
      setSize(([w, h]) =>
        w === element.clientWidth && h === element.clientHeight
          ? [w, h]
          : [element.clientWidth, element.clientHeight],
      );
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, [ref]);
  return size;
}
