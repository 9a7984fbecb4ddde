import { useState } from "preact/hooks";

import { Button } from "./Button";

interface Props<Value extends string> {
  label: string;
  action: string; // what the button says, which is there once another value is chosen
  current: Value;
  values: readonly (readonly [Value, string])[]; // with what is shown for each
  isBusy?: boolean;
  style?: string;
  onChoose: (value: Value) => void;
}

/** One of some values, which counts when the button is pressed: arrow keys only move among them. */
export function Chooser<Value extends string>({ label, action, current, values, isBusy = false, style, onChoose }: Props<Value>) {
  const [chosen, setChosen] = useState<Value | null>(null); // null: none yet
  const value = chosen ?? current;
  return (
    <span class="chooser">
      <select
        class={style}
        aria-label={label}
        value={value}
        disabled={isBusy}
        onChange={(event) => setChosen(values.find(([each]) => each === event.currentTarget.value)?.[0] ?? null)}
      >
        {values.map(([each, name]) => (
          <option key={each} value={each}>
            {name}
          </option>
        ))}
      </select>
      {value !== current && (
        <Button disabled={isBusy} onClick={() => onChoose(value)}>
          {action}
        </Button>
      )}
    </span>
  );
}
