import { useQuery } from "@tanstack/preact-query";
import { useSearchParams } from "wouter-preact";

import { dollars, safeLink } from "../../api/format";
import type { Schemas } from "../../api/client";
import { runs } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Pager, Table, type Column } from "../../part/Table";
import { Time, Unknown } from "../../part/Time";
import { text } from "../../text";

type Run = Schemas["Run"];

const ROWS = 25;
const NAMES = text.agents.runsColumns;

function RunName({ run }: { run: Run }) {
  const address = safeLink(run.artifact_url);
  if (!address) return <span class="figure">{String(run.run_id)}</span>;
  return (
    <a class="figure" href={address} rel="noopener noreferrer" target="_blank">
      {String(run.run_id)}
    </a>
  );
}

const COLUMNS: readonly Column<Run>[] = [
  { name: NAMES.run, cell: (row) => <RunName run={row} /> },
  { name: NAMES.repo, cell: (row) => row.repo ?? <Unknown /> },
  { name: NAMES.status, cell: (row) => row.status ?? <Unknown /> },
  { name: NAMES.outcome, cell: (row) => row.outcome_kind },
  { name: NAMES.cost, figure: true, cell: (row) => (typeof row.cost_usd === "number" ? dollars(row.cost_usd) : <Unknown />) },
  { name: NAMES.started, cell: (row) => <Time at={row.started_at} /> },
];

export function Runs() {
  const [address, setAddress] = useSearchParams();
  const offset = Number(address.get("offset") ?? 0) || 0;
  return (
    <section class="group">
      <h2>{text.agents.runs}</h2>
      <Answer query={useQuery(runs(offset))}>
        {({ items, total }) =>
          total > 0 ? (
            <>
              <Table label={text.agents.runs} columns={COLUMNS} rows={items} rowKey={(row) => `${row.repo ?? ""} ${String(row.run_id)}`} />
              <Pager offset={offset} size={ROWS} total={total} onMove={(next) => setAddress({ offset: String(next) })} />
            </>
          ) : (
            <p class="quiet">{text.agents.noRuns}</p>
          )
        }
      </Answer>
    </section>
  );
}
