import { count } from "../api/format";

interface Props<Value extends string> {
  label: string;
  values: readonly (readonly [Value, string])[];
  value: Value;
  counts?: Readonly<Partial<Record<Value, number>>>; // how many each shows, where that is known
  onChange: (value: Value) => void;
}

/** One of a few views of the same thing. */
export function Tabs<Value extends string>({ label, values, value, counts, onChange }: Props<Value>) {
  return (
    <div class="tabs" role="group" aria-label={label}>
      {values.map(([each, name]) => (
        <button key={each} class="tab" aria-pressed={each === value} onClick={() => onChange(each)}>
          {name}
          {counts?.[each] !== undefined && <span class="tab-count">{count(counts[each])}</span>}
        </button>
      ))}
    </div>
  );
}
