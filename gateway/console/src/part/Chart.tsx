import { text } from "../text";
import { Table } from "./Table";
import { Unknown } from "./Time";

export interface Point {
  name: string; // of the day or hour, as it is shown
  value: number | null; // null: not known
}

interface Props {
  title: string;
  points: readonly Point[];
  format: (value: number) => string;
}

const HEIGHT = 40; // of the drawing, whose width is one for each point
const WIDTH_MIN = 7; // few points are not drawn as walls

interface Scale {
  lowest: number; // zero or below
  highest: number; // zero or above
}

/** A bar from zero: up or down. */
function bar(value: number, { lowest, highest }: Scale): { y: number; height: number } {
  const unit = HEIGHT / (highest - lowest || 1);
  return { y: (highest - Math.max(value, 0)) * unit, height: Math.abs(value) * unit };
}

function Bars({ points, scale }: { points: readonly Point[]; scale: Scale }) {
  const width = Math.max(points.length, WIDTH_MIN);
  const isBelow = scale.lowest < 0;
  const { y: zero } = bar(0, scale);
  return (
    <svg
      class={isBelow ? "chart-bars chart-below" : "chart-bars"}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {isBelow && <line class="chart-zero" x2={width} y1={zero} y2={zero} />}
      {points.map(({ name, value }, index) => value !== null && <rect key={name} x={index + 0.1} width={0.8} {...bar(value, scale)} />)}
    </svg>
  );
}

/** A picture of one figure would say nothing. */
function Single({ title, point: { name, value }, format }: Pick<Props, "title" | "format"> & { point: Point }) {
  return (
    <p class="chart">
      <span>
        {title} <strong class="figure">{value === null ? <Unknown /> : format(value)}</strong>
      </span>
      <span class="small quiet">{name}</span>
    </p>
  );
}

/** The highest, and the lowest where there are some below zero. */
function scaleText(known: readonly number[], format: Props["format"]): string {
  const [lowest, highest] = [Math.min(...known), Math.max(...known)];
  return lowest < 0 ? text.chart.between(format(lowest), format(highest)) : text.chart.highest(format(highest));
}

/** Figures over time as bars, from zero; the same as a table, behind a button. */
export function Chart({ title, points, format }: Props) {
  const [only] = points;
  if (only && points.length === 1) return <Single title={title} point={only} format={format} />;
  const known = points.map(({ value }) => value).filter((value) => value !== null);
  if (known.length === 0)
    return (
      <p class="chart">
        {title} <span class="quiet">{text.chart.nothing}</span>
      </p>
    );
  const scale = { lowest: Math.min(...known, 0), highest: Math.max(...known, 0) };
  const first = points[0];
  const last = points.at(-1);
  return (
    <figure class="chart">
      <figcaption>
        {title} <span class="figure quiet">{scaleText(known, format)}</span>
      </figcaption>
      <Bars points={points} scale={scale} />
      <p class="chart-ends small quiet" aria-hidden="true">
        <span>{first?.name}</span>
        {points.length >= WIDTH_MIN && <span>{last?.name}</span>}
      </p>
      <details>
        <summary class="small">{text.chart.table}</summary>
        <Table
          label={title}
          rows={points}
          rowKey={(row) => row.name}
          columns={[
            { name: text.chart.when, cell: (row) => row.name },
            { name: title, figure: true, cell: (row) => (row.value === null ? <Unknown /> : format(row.value)) },
          ]}
        />
      </details>
    </figure>
  );
}
