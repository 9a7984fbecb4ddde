import { Copy } from "./Copy";

/** A secret that was made, which is shown this once. */
export function Once({ lead, value }: { lead: string; value: string }) {
  return (
    <div class="dialog-text" role="status">
      <p>{lead}</p>
      <p class="made-key">
        <code>{value}</code>
        <Copy value={value} />
      </p>
    </div>
  );
}
