import { useQuery } from "@tanstack/preact-query";
import { Link } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { Answer } from "../../part/Answer";
import { Empty } from "../../part/Empty";
import { Pager, Table, type Column } from "../../part/Table";
import { Time, Unknown } from "../../part/Time";
import { text } from "../../text";
import { experiments, ROWS, type ExperimentFilter } from "./queries";
import { Delta, ExperimentState } from "./words";

type Experiment = Schemas["Experiment"];

const NAMES = text.experiments.columns;

/** The project that an experiment belongs to. */
export function ProjectOf({ experiment }: { experiment: Experiment }) {
  if (experiment.project_id === null) return <Unknown />;
  return <Link href={`/experiments/projects/${experiment.project_id}`}>{experiment.project_name}</Link>;
}

const COLUMNS: readonly Column<Experiment>[] = [
  { name: NAMES.name, cell: (row) => <Link href={`/experiments/${row.id}`}>{row.name}</Link> },
  { name: NAMES.status, cell: (row) => <ExperimentState status={row.status} /> },
  { name: NAMES.outcome, cell: (row) => row.outcome ?? <Unknown /> },
  { name: NAMES.delta, figure: true, cell: (row) => <Delta experiment={row} /> },
  { name: NAMES.project, cell: (row) => <ProjectOf experiment={row} /> },
  { name: NAMES.updated, cell: (row) => <Time at={row.updated_at} /> },
];

interface Props {
  filter: ExperimentFilter;
  offset: number;
  empty: string;
  extra?: Column<Experiment>; // behind the others
  onMove: (offset: number) => void;
}

/** The experiments that match, a page of them. */
export function ExperimentList({ filter, offset, empty, extra, onMove }: Props) {
  return (
    <Answer query={useQuery(experiments(filter, offset))}>
      {({ items, total }) =>
        total > 0 ? (
          <>
            <Table label={text.experiments.title} columns={extra ? [...COLUMNS, extra] : COLUMNS} rows={items} rowKey={(row) => row.id} />
            <Pager offset={offset} size={ROWS} total={total} onMove={onMove} />
          </>
        ) : (
          <Empty>{empty}</Empty>
        )
      }
    </Answer>
  );
}
