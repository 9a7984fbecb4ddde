import { useMutation } from "@tanstack/preact-query";
import type { ComponentChildren } from "preact";

import { faultOf, Problem } from "../../api/problem";
import { text } from "../../text";
import { Button } from "./Button";
import { Fault } from "../Fault";

interface Props<Result> {
  submit: string; // what the button says
  send: () => Promise<Result>;
  onDone: (result: Result) => unknown; // waited for, if it is a promise
  onCancel?: () => void;
  isMain?: boolean; // what the view is for, whose button is filled
  isIncomplete?: boolean; // nothing can be sent yet
  children: (fault: (field: string) => string | undefined) => ComponentChildren;
}

interface RestProps {
  error: unknown;
  shown: ReadonlySet<string>; // the fields that tell their faults themselves
}

/** What no field tells. It is drawn behind the fields, so all of them have asked for their faults. */
function Rest({ error, shown }: RestProps) {
  const fields = error instanceof Problem ? error.fields : [];
  const isTold = fields.length > 0 && fields.every(({ field }) => shown.has(field));
  return isTold ? null : <Fault error={error} />;
}

/** Fields that are sent together. `fault` is what the service says about a field; what it says of fields that are not shown, or of no
 * field, stands above the button. */
export function Form<Result>({ submit, send, onDone, onCancel, isMain = true, isIncomplete = false, children }: Props<Result>) {
  const sending = useMutation({ mutationFn: send, onSuccess: onDone });
  const problem = sending.error instanceof Problem ? sending.error : null;
  const shown = new Set<string>();
  const faultOfField = (field: string) => {
    shown.add(field);
    return faultOf(problem, field);
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    sending.mutate();
  };
  return (
    <form class="form" onSubmit={onSubmit}>
      {children(faultOfField)}
      {sending.error && <Rest error={sending.error} shown={shown} />}
      <div class="actions">
        <Button kind={isMain ? "main" : "plain"} type="submit" disabled={sending.isPending || isIncomplete}>
          {submit}
        </Button>
        {onCancel && <Button onClick={onCancel}>{text.cancel}</Button>}
      </div>
    </form>
  );
}
