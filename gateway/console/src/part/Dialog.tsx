import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

import { text } from "../text";
import { Button } from "./form/Button";

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  side?: boolean; // a drawer at the side, which leaves the list in sight
  leave?: string; // what the button says that closes it, where more than the dialog goes with it: nothing else closes it then
}

/** What a person fills in. */
const FIELDS = "form :is(input, select, textarea)";

/** A dialog above the page: the browser keeps the focus in it, and gives it back. */
export function Dialog({ title, onClose, children, side = false, leave }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const isGone = useRef(false); // the event of its own close() comes after the page has gone on
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    element?.querySelector<HTMLElement>(FIELDS)?.focus(); // in place of the button that closes it
    // Wherever the focus is. The event `cancel` could be prevented once, and Escape would close it when it is pressed again.
    if (leave) window.onkeydown = ({ key }) => key !== "Escape";
    return () => {
      if (leave) window.onkeydown = null;
      isGone.current = true;
      element?.close();
    };
  }, [leave]);
  return (
    <dialog
      ref={dialog}
      class={side ? "dialog drawer" : "dialog"}
      aria-labelledby={id}
      onClose={() => isGone.current || (leave ? dialog.current?.showModal() : onClose())} // also by a phone's gesture
    >
      <header class="dialog-head">
        <h2 id={id}>{title}</h2>
        <Button kind="quiet" onClick={onClose}>
          {leave ?? text.close}
        </Button>
      </header>
      {children}
    </dialog>
  );
}
