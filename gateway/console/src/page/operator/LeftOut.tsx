import { State } from "../../part/State";
import { operatorText } from "./text";

/** Services that did not answer, so that what is shown lacks theirs. */
export function LeftOut({ services }: { services: readonly string[] }) {
  if (services.length === 0) return null;
  return (
    <p role="status">
      <State tone="failed">{operatorText.leftOut(services.join(", "))}</State>
    </p>
  );
}
