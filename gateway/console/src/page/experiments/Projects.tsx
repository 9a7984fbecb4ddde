/** The projects that experiments are grouped by. */
import { useQuery } from "@tanstack/preact-query";
import { Link, useLocation, useSearchParams } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/form/Button";
import { Dialog } from "../../part/Dialog";
import { Empty } from "../../part/Empty";
import { Page } from "../../part/Page";
import { Pager } from "../../part/Pager";
import { useScope } from "../../part/scope";
import { Table, type Column } from "../../part/Table";
import { Time, Unknown } from "../../part/Time";
import { ProjectForm } from "./ProjectForm";
import { projects, ROWS } from "./queries";
import { projectsText } from "./text";

const WORDS = projectsText;

const COLUMNS: readonly Column<Schemas["Project"]>[] = [
  { name: WORDS.columns.name, cell: (row) => <Link href={`/experiments/projects/${row.id}`}>{row.name}</Link> },
  { name: WORDS.columns.description, cell: (row) => row.description ?? <Unknown /> },
  { name: WORDS.columns.experiments, figure: true, cell: (row) => String(row.experiments_count) },
  { name: WORDS.columns.updated, cell: (row) => <Time at={row.updated_at} /> },
];

export default function Projects() {
  const [address, setAddress] = useSearchParams();
  const [, navigate] = useLocation();
  const canWrite = useScope("experiments:write");
  const offset = Number(address.get("offset") ?? 0) || 0;
  return (
    <Page
      title={WORDS.title}
      wide
      actions={
        canWrite && (
          <Button kind="main" onClick={() => setAddress({ new: "1" })}>
            {WORDS.add}
          </Button>
        )
      }
    >
      <Answer query={useQuery(projects(ROWS, offset))}>
        {({ items, total }) =>
          total > 0 ? (
            <>
              <Table label={WORDS.title} columns={COLUMNS} rows={items} rowKey={(row) => row.id} />
              <Pager offset={offset} size={ROWS} total={total} onMove={(next) => setAddress({ offset: String(next) })} />
            </>
          ) : (
            <Empty>{WORDS.empty}</Empty>
          )
        }
      </Answer>
      {address.get("new") === "1" && (
        <Dialog title={WORDS.add} onClose={() => setAddress({})}>
          <ProjectForm onDone={(id) => navigate(`/experiments/projects/${id}`)} />
        </Dialog>
      )}
    </Page>
  );
}
