import { useQuery } from "@tanstack/preact-query";
import { Link, useLocation, useSearchParams } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/Button";
import { Dialog } from "../../part/Dialog";
import { Empty } from "../../part/Empty";
import { Page } from "../../part/Page";
import { Pager, Table, type Column } from "../../part/Table";
import { Tabs } from "../../part/Tabs";
import { Time, Unknown } from "../../part/Time";
import { text } from "../../text";
import { ExperimentForm } from "./ExperimentForm";
import { experiments, type ExperimentStatus } from "./queries";
import { Delta, ExperimentState, STATUSES } from "./words";

const ROWS = 25;
const NAMES = text.experiments.columns;

const COLUMNS: readonly Column<Schemas["Experiment"]>[] = [
  { name: NAMES.name, cell: (row) => <Link href={`/experiments/${row.id}`}>{row.name}</Link> },
  { name: NAMES.status, cell: (row) => <ExperimentState status={row.status} /> },
  { name: NAMES.outcome, cell: (row) => row.outcome ?? <Unknown /> },
  { name: NAMES.delta, figure: true, cell: (row) => <Delta experiment={row} /> },
  { name: NAMES.project, cell: (row) => row.project_name ?? <Unknown /> },
  { name: NAMES.updated, cell: (row) => <Time at={row.updated_at} /> },
];

const FILTERS = [["", text.experiments.all], ...STATUSES.map((status) => [status, status] as const)] as const;

export default function Experiments() {
  const [address, setAddress] = useSearchParams();
  const [, navigate] = useLocation();
  const status: ExperimentStatus | null = STATUSES.find((each) => each === address.get("status")) ?? null;
  const offset = Number(address.get("offset") ?? 0) || 0;
  const filter = status ? { status } : {};
  return (
    <Page
      title={text.experiments.title}
      wide
      actions={
        <Button kind="main" onClick={() => setAddress({ ...filter, new: "1" })}>
          {text.experiments.add}
        </Button>
      }
    >
      <Tabs
        label={text.experiments.status}
        values={FILTERS}
        value={status ?? ""}
        onChange={(next) => setAddress(next ? { status: next } : {})}
      />
      <Answer query={useQuery(experiments(status, offset))}>
        {({ items, total }) =>
          total > 0 ? (
            <>
              <Table label={text.experiments.title} columns={COLUMNS} rows={items} rowKey={(row) => row.id} />
              <Pager offset={offset} size={ROWS} total={total} onMove={(next) => setAddress({ ...filter, offset: String(next) })} />
            </>
          ) : (
            <Empty>{status ? text.experiments.none : text.experiments.empty}</Empty>
          )
        }
      </Answer>
      {address.get("new") === "1" && (
        <Dialog title={text.experiments.add} onClose={() => setAddress(filter)}>
          <ExperimentForm onDone={(id) => navigate(`/experiments/${id}`)} />
        </Dialog>
      )}
    </Page>
  );
}
