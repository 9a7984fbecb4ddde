import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface Props {
  label: string;
  hint?: string | undefined;
  fault?: string | undefined;
  children: (id: string, describedBy: string | undefined) => ComponentChildren;
}

/** A field of a form with its label, its hint and what is wrong with it. */
export function Field({ label, hint, fault, children }: Props) {
  const id = useId();
  const described = [hint ? `${id}-hint` : "", fault ? `${id}-fault` : ""].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(id, described || undefined)}
      {hint && (
        <p id={`${id}-hint`} class="small quiet">
          {hint}
        </p>
      )}
      {fault && (
        <p id={`${id}-fault`} class="field-fault" role="alert">
          {fault}
        </p>
      )}
    </div>
  );
}

interface TextProps {
  label: string;
  value: string;
  onInput: (value: string) => void;
  hint?: string;
  fault?: string | undefined;
  rows?: number; // more than one line
  type?: "text" | "date" | "number" | "password" | "search" | "time" | "url";
  step?: "any"; // of a number: it may have a fraction
  required?: boolean;
  autocomplete?: string;
}

export function TextField(props: TextProps) {
  const { label, value, onInput, hint, fault, rows, type = "text", step, required = false, autocomplete = "off" } = props;
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(id, describedBy) =>
        rows ? (
          <textarea
            id={id}
            rows={rows}
            value={value}
            required={required}
            aria-describedby={describedBy}
            aria-invalid={fault !== undefined}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        ) : (
          <input
            id={id}
            type={type}
            step={step}
            value={value}
            required={required}
            autocomplete={autocomplete}
            aria-describedby={describedBy}
            aria-invalid={fault !== undefined}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        )
      }
    </Field>
  );
}
