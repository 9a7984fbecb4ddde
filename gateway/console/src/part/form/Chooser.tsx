import { useEffect, useRef, useState } from "preact/hooks";

import { Button } from "./Button";

interface Props<Value extends string> {
  label: string;
  action: string; // what the button says, which is there once another value is chosen
  current: Value;
  values: readonly (readonly [Value, string])[]; // with what is shown for each
  isBusy?: boolean;
  isAsking?: boolean; // whether it shall be so; nothing is chosen any more when that has been answered
  style?: string;
  onChoose: (value: Value) => void;
}

/** One of some values, which counts when the button is pressed: arrow keys only move among them. */
export function Chooser<Value extends string>({
  label,
  action,
  current,
  values,
  isBusy = false,
  isAsking = false,
  style,
  onChoose,
}: Props<Value>) {
  const [choice, setChoice] = useState<{ chosen: Value; before: Value } | null>(null); // null: none yet
  const list = useRef<HTMLSelectElement>(null);
  const value = choice?.before === current ? choice.chosen : current;
  useEffect(() => {
    const select = list.current;
    if (!isAsking) return;
    return () => {
      setChoice(null);
      select?.focus(); // in place of the button, which goes
    };
  }, [isAsking]);
  const choose = (written: string) => {
    const chosen = values.find(([each]) => each === written)?.[0];
    setChoice(chosen === undefined ? null : { chosen, before: current });
  };
  return (
    <span class="chooser">
      <select
        ref={list}
        class={style}
        aria-label={label}
        value={value}
        disabled={isBusy}
        onChange={(event) => choose(event.currentTarget.value)}
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
