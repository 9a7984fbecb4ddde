import type { Schemas } from "../../api/client";
import { inboxText } from "./text";

export type Kind = Schemas["InboxItem"]["kind"];

const NAMES: Readonly<Record<Kind, string>> = inboxText.kinds;

export const nameOf = (kind: Kind) => NAMES[kind];

export function isKind(value: string | null): value is Kind {
  return value !== null && value in NAMES;
}

interface Props {
  value: Kind | undefined;
  onChange: (kind: Kind | undefined) => void;
}

/** Items of one kind, or all. */
export function KindFilter({ value, onChange }: Props) {
  const choose = (name: string) => onChange(isKind(name) ? name : undefined);
  return (
    <p>
      <select class="short" aria-label={inboxText.kind} value={value ?? ""} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">{inboxText.anyKind}</option>
        {Object.entries(NAMES).map(([kind, name]) => (
          <option key={kind} value={kind}>
            {name}
          </option>
        ))}
      </select>
    </p>
  );
}
