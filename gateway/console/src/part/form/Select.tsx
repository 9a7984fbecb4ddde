import { Field } from "./Field";

interface Props<Value extends string> {
  label: string;
  value: Value | null;
  values: readonly (readonly [Value, string])[]; // with what is shown for each
  nothing?: string; // what is shown for null; without it a value must be chosen
  hint?: string | undefined;
  fault?: string | undefined;
  onChange: (value: Value | null) => void;
}

/** One of some values. */
export function SelectField<Value extends string>({ label, value, values, nothing, hint, fault, onChange }: Props<Value>) {
  const choose = (chosen: string) => onChange(values.find(([each]) => each === chosen)?.[0] ?? null);
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(id, describedBy) => (
        <select id={id} aria-describedby={describedBy} value={value ?? ""} onChange={(event) => choose(event.currentTarget.value)}>
          {nothing !== undefined && <option value="">{nothing}</option>}
          {values.map(([each, name]) => (
            <option key={each} value={each}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
