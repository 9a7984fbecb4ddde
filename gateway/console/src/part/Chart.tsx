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

function Bars({ points, highest }: { points: readonly Point[]; highest: number }) {
  return (
    <svg class="chart-bars" viewBox={`0 0 ${Math.max(points.length, WIDTH_MIN)} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {points.map((point, index) => {
        const height = ((point.value ?? 0) / highest) * HEIGHT;
        return <rect key={point.name} x={index + 0.1} width={0.8} y={HEIGHT - height} height={height} />;
      })}
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

/** Figures over time as bars, from zero; the same as a table, behind a button. */
export function Chart({ title, points, format }: Props) {
  const [only] = points;
  if (only && points.length === 1) return <Single title={title} point={only} format={format} />;
  const highest = Math.max(...points.map((point) => point.value ?? 0), 0);
  if (highest === 0)
    return (
      <p class="chart">
        {title} <span class="quiet">{text.chart.nothing}</span>
      </p>
    );
  const first = points[0];
  const last = points.at(-1);
  return (
    <figure class="chart">
      <figcaption>
        {title} <span class="figure quiet">{text.chart.highest(format(highest))}</span>
      </figcaption>
      <Bars points={points} highest={highest} />
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
