import { text } from "../text";
import { Button } from "./Button";

/** A secret that was made, which is shown this once. */
export function Once({ lead, value }: { lead: string; value: string }) {
  return (
    <div class="dialog-text" role="status">
      <p>{lead}</p>
      <p class="made-key">
        <code>{value}</code>
        <Button onClick={() => void navigator.clipboard.writeText(value)}>{text.copy}</Button>
      </p>
    </div>
  );
}
