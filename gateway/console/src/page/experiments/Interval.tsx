interface Props {
  value: number;
  low: number;
  high: number;
  furthest: number; // from zero of all that are compared: half the width
}

const HALF = 100;
const HEIGHT = 14;
const DOT = 3;

/** A value and its interval beside zero, which is the middle. What it says stands beside it as text. */
export function Interval({ value, low, high, furthest }: Props) {
  const at = (figure: number) => (furthest > 0 ? (figure / furthest) * HALF : 0);
  return (
    <svg class="interval" viewBox={`${-HALF - DOT} 0 ${2 * (HALF + DOT)} ${HEIGHT}`} aria-hidden="true">
      <line class="interval-zero" x1={0} x2={0} y1={0} y2={HEIGHT} />
      <line class="interval-range" x1={at(low)} x2={at(high)} y1={HEIGHT / 2} y2={HEIGHT / 2} />
      <circle class="interval-value" cx={at(value)} cy={HEIGHT / 2} r={DOT} />
    </svg>
  );
}
