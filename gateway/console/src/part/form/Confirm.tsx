import { useMutation } from "@tanstack/preact-query";
import type { ComponentChildren } from "preact";

import { text } from "../../text";
import { Button } from "./Button";
import { Dialog } from "../Dialog";
import { Fault } from "../Fault";

interface Props<Result> {
  title: string;
  action: string;
  isReady?: boolean; // it can be done
  send: () => Promise<Result>;
  onDone?: (result: Result) => unknown; // waited for, if it is a promise
  onClose: () => void;
  children: ComponentChildren;
}

/** Asks before something is lost or spent, naming it, and does it. Closes when that is done; a refusal is shown. */
export function Confirm<Result>({ title, action, isReady = true, send, onDone, onClose, children }: Props<Result>) {
  const sending = useMutation({
    mutationFn: send,
    onSuccess: async (result) => {
      await onDone?.(result);
      onClose();
    },
  });
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="dialog-text">
        {children}
        {sending.error && <Fault error={sending.error} />}
      </div>
      <footer class="actions">
        <Button kind="danger" disabled={sending.isPending || !isReady} onClick={() => sending.mutate()}>
          {action}
        </Button>
        <Button onClick={onClose}>{text.cancel}</Button>
      </footer>
    </Dialog>
  );
}
