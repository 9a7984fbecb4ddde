import type { Schemas } from "../../api/client";
import { isAwaited } from "../../api/queries";

/** The interests that have no recommendations yet, and what they wait for. */
export function Awaited({ digest }: { digest: Schemas["Digest"] }) {
  return (
    <div role="status">
      {digest.interests.filter(isAwaited).map(({ id, name, message }) => (
        <p key={id} class="lead">
          {name}: {message}
        </p>
      ))}
    </div>
  );
}
