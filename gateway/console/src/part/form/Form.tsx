import { useMutation } from "@tanstack/preact-query";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";

import { faultOf, Problem } from "../../api/problem";
import { text } from "../../text";
import { Button } from "./Button";
import { OUTDATED, type Edit } from "./edit";
import { Fault } from "../Fault";

/** Of a form that changes a thing which exists. */
interface Editing extends Pick<Edit<unknown, unknown>, "isChanged" | "meanwhile"> {
  reload: () => Promise<unknown>; // reads the thing again
}

interface Props<Result> {
  submit: string; // what the button says
  send: () => Promise<Result>;
  onDone: (result: Result) => unknown; // waited for, if it is a promise
  onCancel?: () => void;
  isMain?: boolean; // what the view is for, whose button is filled
  isIncomplete?: boolean; // nothing can be sent yet
  edit?: Editing | undefined; // absent: it makes a new thing
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

/** Somebody else has changed the thing since it was read. */
function Outdated({ problem, reload, onDone }: { problem: Problem; reload: () => Promise<unknown>; onDone: () => void }) {
  const reading = useMutation({ mutationFn: reload, onSuccess: onDone });
  const { title, lead } = text.outdated;
  const told = new Problem(OUTDATED, title, lead, problem.requestId);
  return <Fault error={reading.error ?? told} retry={text.outdated.reload} onRetry={() => reading.mutate()} />;
}

/** Fields that are sent together, as they are once what was typed is drawn: a program, such as a password manager, fills and submits at
 * once. `fault` is what the service says about a field; what it says of fields that are not shown, or of no
 * field, stands above the button. */
export function Form<Result>({ submit, send, onDone, onCancel, isMain = true, isIncomplete = false, edit, children }: Props<Result>) {
  const latest = useRef(send);
  latest.current = send;
  const sending = useMutation({ mutationFn: () => latest.current(), onSuccess: onDone });
  const problem = sending.error instanceof Problem ? sending.error : null;
  const shown = new Set<string>();
  const faultOfField = (field: string) => {
    shown.add(field);
    return faultOf(problem, field) ?? edit?.meanwhile.get(field);
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    queueMicrotask(() => sending.mutate()); // after the drawing, which what was typed has put before it
  };
  return (
    <form class="form" onSubmit={onSubmit}>
      {children(faultOfField)}
      {edit && problem?.status === OUTDATED ? (
        <Outdated problem={problem} reload={edit.reload} onDone={() => sending.reset()} />
      ) : (
        sending.error && <Rest error={sending.error} shown={shown} />
      )}
      <div class="actions">
        <Button kind={isMain ? "main" : "plain"} type="submit" disabled={sending.isPending || isIncomplete || edit?.isChanged === false}>
          {submit}
        </Button>
        {onCancel && <Button onClick={onCancel}>{text.cancel}</Button>}
      </div>
    </form>
  );
}
