interface Measure {
  name: string;
  value: number; // 0 to `full`
  text: string; // what is written beside the bar
}

interface Props {
  label: string;
  full: number;
  measures: readonly Measure[];
}

/** Bars of numbers that are compared with one that all of them are parts of. */
export function Measures({ label, full, measures }: Props) {
  return (
    <dl class="bars" aria-label={label}>
      {measures.map(({ name, value, text }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <meter aria-label={name} min={0} max={full > 0 ? full : 1} value={value} />
            <span class="figure">{text}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}
