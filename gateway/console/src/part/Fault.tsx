import { Problem } from "../api/problem";
import { text } from "../text";
import { Button } from "./form/Button";
import { Copy } from "./form/Copy";

function RequestId({ id }: { id: string }) {
  return (
    <span class="small quiet">
      {text.requestId} <code>{id}</code> <Copy value={id} />
    </span>
  );
}

/** What went wrong, where the action was. */
export function Fault({ error, retry = text.retry, onRetry }: { error: unknown; retry?: string; onRetry?: () => void }) {
  const problem = error instanceof Problem ? error : new Problem(0, String(error), "", null);
  return (
    <div class="fault" role="alert">
      <strong>{problem.title}</strong>
      {problem.fields.length === 0 && <p>{problem.scope ? text.lacksScope(problem.scope) : problem.detail}</p>}
      {problem.fields.length > 0 && (
        <ul>
          {problem.fields.map((fault) => (
            <li key={fault.field}>
              <code>{fault.field}</code> {fault.message}
            </li>
          ))}
        </ul>
      )}
      <p class="fault-end">
        {onRetry && <Button onClick={onRetry}>{retry}</Button>}
        {problem.requestId && <RequestId id={problem.requestId} />}
      </p>
    </div>
  );
}
