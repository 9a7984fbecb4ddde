import { Link } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { count, duration, hour } from "../../api/format";
import { Chart, type Point } from "../../part/Chart";
import { State } from "../../part/State";
import { Table, type Column } from "../../part/Table";
import { text } from "../../text";
import { addressOf } from "./filter";
import { operatorText } from "./text";

type Summary = Schemas["TaskSummary"];
type Hour = Summary["hours"][number];

const HOURS = 24;
const HOUR_MS = 3_600_000;
const LATE_MS = 60_000; // that a task waits longer than this is worth a look
const NAMES = operatorText.columns;

function ServiceState({ service }: { service: Summary }) {
  if (service.dead > 0 || (service.dead_events ?? 0) > 0) return <State tone="failed">{operatorText.hasDead}</State>;
  if (service.late_ms > LATE_MS) return <State tone="waits">{operatorText.isLate}</State>;
  return <State tone="done">{operatorText.isFine}</State>;
}

/** How many were given up, which leads to them. */
function Dead({ service, type, number }: { service: Summary["service"]; type: "task" | "event"; number: number }) {
  if (number === 0) return <>{count(number)}</>;
  const filter = addressOf({ type, status: "failed", service, kind: undefined, error: undefined, account_id: undefined });
  return <Link href={`/operator?${new URLSearchParams(filter).toString()}`}>{count(number)}</Link>;
}

const COLUMNS: readonly Column<Summary>[] = [
  { name: NAMES.service, cell: (row) => row.service },
  { name: NAMES.state, cell: (row) => <ServiceState service={row} /> },
  { name: NAMES.queued, figure: true, cell: (row) => count(row.queued) },
  { name: NAMES.running, figure: true, cell: (row) => count(row.running) },
  { name: NAMES.dead, figure: true, cell: (row) => <Dead service={row.service} type="task" number={row.dead} /> },
  {
    name: NAMES.deadEvents,
    figure: true,
    cell: (row) => (row.dead_events === null ? text.unknown : <Dead service={row.service} type="event" number={row.dead_events} />),
  },
  { name: NAMES.late, figure: true, cell: (row) => duration(row.late_ms) },
];

/** The last day, hour by hour: what `pick` finds in an hour of each service, as `merge` puts it together. */
function byHour(services: readonly Summary[], pick: (hour: Hour) => number, merge: (values: readonly number[]) => number): Point[] {
  const now = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  return Array.from({ length: HOURS }, (_, index) => {
    const at = new Date(now - (HOURS - 1 - index) * HOUR_MS);
    const values = services.flatMap(({ hours }) => hours.filter((each) => Date.parse(each.at) === at.getTime()).map(pick));
    return { name: hour(at), value: merge(values) };
  });
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const longest = (values: readonly number[]) => Math.max(0, ...values);

/** The asynchronous work of each service, and of all in the last day. */
export function Services({ services }: { services: readonly Summary[] }) {
  return (
    <section class="group">
      <Table label={operatorText.services} columns={COLUMNS} rows={services} rowKey={(row) => row.service} />
      <div class="charts charts-small">
        <Chart title={operatorText.ended} points={byHour(services, (each) => each.completed + each.failed, sum)} format={count} />
        <Chart title={operatorText.failed} points={byHour(services, (each) => each.failed, sum)} format={count} />
        <Chart title={operatorText.waited} points={byHour(services, (each) => each.waited_ms, longest)} format={duration} />
      </div>
    </section>
  );
}
