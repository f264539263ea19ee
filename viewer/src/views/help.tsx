// SPDX-License-Identifier: MIT
// Help: the shortcuts and licences, in a dialog of the browser's own.

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { shortcuts } from "../ui/keys";

function licences(): string {
  return document.getElementById("windlass-notice")?.textContent ?? "";
}

export function Help(props: { open: boolean; onClose(): void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (props.open && !dialog.current!.open) dialog.current!.showModal();
    if (!props.open && dialog.current!.open) dialog.current!.close();
  }, [props.open]);
  return (
    <dialog ref={dialog} aria-labelledby="help-title" onClose={props.onClose}>
      <h2 id="help-title">Keys</h2>
      <dl>
        {shortcuts.map(([keys, text]) => (
          <div key={keys}>
            <dt>{keys}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <details>
        <summary>Licences of what this page contains</summary>
        <pre tabIndex={0}>{licences()}</pre>
      </details>
      <button type="button" onClick={props.onClose}>
        Close
      </button>
    </dialog>
  );
}
