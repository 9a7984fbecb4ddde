/** Experiments beside each other: what differs, and their figures. Nothing is tested across them. */
import { useQuery } from "@tanstack/preact-query";
import { Link, useSearchParams } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { anything, change, count, figure, spoken } from "../../api/format";
import { Answer } from "../../part/Answer";
import { Empty } from "../../part/Empty";
import { Page } from "../../part/Page";
import { State } from "../../part/State";
import { Table, type Column } from "../../part/Table";
import { Unknown } from "../../part/Time";
import { Download } from "../../part/Download";
import { Interval } from "./Interval";
import { comparison } from "./queries";
import { experimentsText } from "./text";

type Compared = Schemas["ComparedExperiments"];
type Field = Compared["fields"][number];
type Metric = Compared["metrics"][number];
type Value = Metric["values"][number];

const words = experimentsText.compare;

function Cell({ value }: { value: unknown }) {
  if (value === null || value === undefined) return <Unknown />;
  if (Array.isArray(value) && value.length === 0) return <Unknown />;
  return <>{anything(value)}</>;
}

function Fields({ label, fields, experiments }: { label: string; fields: readonly Field[]; experiments: Compared["experiments"] }) {
  if (fields.length === 0) return null;
  const columns: Column<Field>[] = [
    { name: words.field, cell: ({ field }) => spoken(field) },
    ...experiments.map(({ name }, index) => ({ name, cell: ({ values }: Field) => <Cell value={values[index]} /> })),
  ];
  return (
    <div class="even">
      <Table label={label} columns={columns} rows={fields} rowKey={({ field }) => field} />
    </div>
  );
}

/** Relative effects of one metric, which stand on one scale. */
function furthestOf(values: readonly Value[]): number {
  return Math.max(
    ...values.flatMap(({ relative, relative_low, relative_high }) =>
      [relative, relative_low, relative_high].map((each) => Math.abs(each ?? 0)),
    ),
  );
}

function Effect({ value, furthest }: { value: Value; furthest: number }) {
  const { relative, relative_low: low, relative_high: high } = value;
  if (relative === null) return <Unknown />;
  return (
    <>
      {change(relative)}{" "}
      {low !== null && high !== null && (
        <>
          <span class="quiet">{experimentsText.results.range(change(low), change(high))}</span>
          <Interval value={relative} low={low} high={high} furthest={furthest} />
        </>
      )}
    </>
  );
}

function Figures({ metric, experiments }: { metric: Metric; experiments: Compared["experiments"] }) {
  const furthest = furthestOf(metric.values);
  const columns: Column<Value>[] = [
    {
      name: experimentsText.columns.name,
      cell: ({ id }) => <Link href={`/experiments/${id}`}>{experiments.find((each) => each.id === id)?.name}</Link>,
    },
    { name: experimentsText.results.units, figure: true, cell: ({ n }) => (n === null ? <Unknown /> : count(n)) },
    { name: words.mean, figure: true, cell: ({ mean }) => (mean === null ? <Unknown /> : figure(mean)) },
    { name: words.effect, figure: true, cell: (value) => <Effect value={value} furthest={furthest} /> },
    { name: words.word, cell: ({ delta_confidence }) => (delta_confidence ? spoken(delta_confidence) : <Unknown />) },
  ];
  return (
    <section class="group">
      <h2>{metric.key}</h2>
      {metric.why_not && (
        <p>
          <State tone="waits">{metric.why_not}</State>
        </p>
      )}
      <Table label={metric.key} columns={columns} rows={metric.values} rowKey={({ id }) => id} />
    </section>
  );
}

function Content({ compared: { experiments, fields, metrics } }: { compared: Compared }) {
  const same = fields.filter(({ differs, values }) => !differs && values.some((value) => value !== null));
  return (
    <>
      <p class="quiet">{words.lead}</p>
      {metrics.map((metric) => (
        <Figures key={metric.key} metric={metric} experiments={experiments} />
      ))}
      <section class="group">
        <h2>{words.differs}</h2>
        <Fields label={words.differs} fields={fields.filter(({ differs }) => differs)} experiments={experiments} />
        {same.length > 0 && (
          <details>
            <summary class="small">{words.same(same.length)}</summary>
            <Fields label={words.same(same.length)} fields={same} experiments={experiments} />
          </details>
        )}
      </section>
    </>
  );
}

export default function Compare() {
  const [address] = useSearchParams();
  const ids = (address.get("ids") ?? "").split(",").filter(Boolean);
  const query = useQuery({ ...comparison(ids), enabled: ids.length > 1 });
  if (ids.length < 2)
    return (
      <Page title={words.title}>
        <Empty action={<Link href="/experiments">{experimentsText.title}</Link>}>{words.few}</Empty>
      </Page>
    );
  return (
    <Page
      title={words.title}
      wide
      actions={<Download path={`/api/v1.0/experiments/compare?ids=${encodeURIComponent(ids.join(","))}`} name="experiments.csv" />}
    >
      <Answer query={query}>{(compared) => <Content compared={compared} />}</Answer>
    </Page>
  );
}
