import { TextField } from "../../part/form/Field";
import { numberOf } from "../../part/form/number";
import { SelectField } from "../../part/form/Select";
import { settingsText } from "./text";

const words = settingsText;
const DAYS = ["7", "30", "90", "365"] as const;

type Choice = "kept" | "never" | (typeof DAYS)[number] | "other";

export interface Expiry {
  choice: Choice;
  days: string; // of `other`
}

export const KEPT: Expiry = { choice: "kept", days: "" };
export const NEVER: Expiry = { choice: "never", days: "" };

/** The member of the body that says when a key ends; none: it stays as it is. */
export function expiryBody({ choice, days }: Expiry): { expires_in_days?: number | null } {
  if (choice === "kept") return {};
  if (choice === "never") return { expires_in_days: null };
  return { expires_in_days: numberOf(choice === "other" ? days : choice, "expires_in_days") };
}

interface Props {
  value: Expiry;
  kept?: string; // when it ends if that is not changed
  onChange: (value: Expiry) => void;
  fault: string | undefined;
}

/** When a key of a person ends. */
export function ExpiryFields({ value, kept, onChange, fault }: Props) {
  const isOther = value.choice === "other";
  const choices: readonly (readonly [Choice, string])[] = [
    ...(kept === undefined ? [] : [["kept", words.expiryKept(kept)] as const]),
    ...DAYS.map((days) => [days, words.expiryDays(days)] as const),
    ["other", words.expiryOther],
    ["never", words.expiryNever],
  ];
  return (
    <>
      <SelectField
        label={words.expiry}
        value={value.choice}
        values={choices}
        onChange={(choice) => choice && onChange({ ...value, choice })}
        fault={isOther ? undefined : fault}
      />
      {isOther && (
        <TextField
          label={words.days}
          type="number"
          value={value.days}
          onInput={(days) => onChange({ ...value, days })}
          required
          fault={fault}
        />
      )}
    </>
  );
}
