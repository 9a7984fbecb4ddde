export type Sign = "better" | "worse" | "unclear";

interface Props {
  value: number;
  low: number;
  high: number;
  furthest: number; // from zero of all that are compared: half the width
  sign?: Sign;
}

const HALF = 100;
const HEIGHT = 20;
const MIDDLE = HEIGHT / 2;
const DOT = 4;
const CAP = 4; // half of the height of a bound

/** A value and its interval beside zero, which is the middle. What it says stands beside it as text. */
export function Interval({ value, low, high, furthest, sign = "unclear" }: Props) {
  const at = (figure: number) => (furthest > 0 ? (figure / furthest) * HALF : 0);
  return (
    <svg class={`interval interval-${sign}`} viewBox={`${-HALF - DOT} 0 ${2 * (HALF + DOT)} ${HEIGHT}`} aria-hidden="true">
      <line class="interval-scale" x1={-HALF} x2={HALF} y1={MIDDLE} y2={MIDDLE} />
      <line class="interval-zero" x1={0} x2={0} y1={0} y2={HEIGHT} />
      <line class="interval-range" x1={at(low)} x2={at(high)} y1={MIDDLE} y2={MIDDLE} />
      {[low, high].map((bound) => (
        <line key={bound} class="interval-range" x1={at(bound)} x2={at(bound)} y1={MIDDLE - CAP} y2={MIDDLE + CAP} />
      ))}
      <circle class="interval-value" cx={at(value)} cy={MIDDLE} r={DOT} />
    </svg>
  );
}
