import { useQuery } from "@tanstack/preact-query";
import { Link } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { evalRuns } from "../../api/queries";
import type { Column } from "../../part/Table";
import { Time } from "../../part/Time";
import { List } from "./List";
import { useListAddress } from "./address";
import { RunForm } from "./RunForm";
import { evaluationsText } from "./text";
import { metricsText, RUN_STATUSES, WorkState } from "./words";

const NAMES = evaluationsText.columns;

export const RUN_COLUMNS: readonly Column<Schemas["EvalRunItem"]>[] = [
  { name: NAMES.run, cell: (row) => <Link href={`/evaluations/runs/${row.run_id}`}>{row.name ?? row.run_id.slice(-12)}</Link> },
  { name: NAMES.status, cell: (row) => <WorkState status={row.status} /> },
  { name: NAMES.metrics, cell: (row) => metricsText(row.metrics) },
  { name: NAMES.error, cell: (row) => row.error?.message ?? "" },
  { name: NAMES.created, cell: (row) => <Time at={row.created_at} /> },
];

export function Runs() {
  const address = useListAddress("runs", RUN_STATUSES);
  return (
    <List
      label={evaluationsText.runs}
      address={address}
      statuses={RUN_STATUSES}
      query={useQuery(evalRuns({ status: address.status, template_id: undefined }, 25, address.offset))}
      columns={RUN_COLUMNS}
      rowKey={(row) => row.run_id}
      empty={evaluationsText.noRuns}
      add={evaluationsText.newRun}
      form={<RunForm />}
    />
  );
}
