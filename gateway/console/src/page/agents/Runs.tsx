import { useQuery } from "@tanstack/preact-query";

import { dollars, spoken } from "../../api/format";
import { Answer } from "../../part/Answer";
import { useOffset } from "../../part/offset";
import { Pager } from "../../part/Pager";
import { RunLink } from "../../part/link/RunLink";
import { Table, type Column } from "../../part/Table";
import { Time, Unknown } from "../../part/Time";
import { runs } from "./queries";
import { agentsText } from "./text";
import { Outcome, type Run } from "./words";

const ROWS = 25;
const NAMES = agentsText.runsColumns;

const keyOf = (run: Run) => `${run.repo ?? ""} ${String(run.run_id)}`;

const COLUMNS: readonly Column<Run>[] = [
  { name: NAMES.run, cell: (row) => <RunLink id={row.run_id} repo={row.repo} label={agentsText.run.title(String(row.run_id))} /> },
  { name: NAMES.repo, cell: (row) => row.repo ?? <Unknown /> },
  { name: NAMES.status, cell: (row) => (row.status ? spoken(row.status) : <Unknown />) },
  { name: NAMES.outcome, cell: (row) => <Outcome kind={row.outcome_kind} /> },
  { name: NAMES.cost, figure: true, cell: (row) => (typeof row.spend_usd === "number" ? dollars(row.spend_usd) : <Unknown />) },
  { name: NAMES.started, cell: (row) => <Time at={row.started_at} /> },
];

/** All runs, or those of a repository, the newest first. */
export function Runs({ repo }: { repo?: string }) {
  const [offset, move] = useOffset("offset");
  const columns = repo ? COLUMNS.filter(({ name }) => name !== NAMES.repo) : COLUMNS;
  return (
    <section class="group">
      <h2>{agentsText.runs}</h2>
      <Answer query={useQuery(runs(repo, offset))}>
        {({ items, total }) =>
          total > 0 ? (
            <>
              <Table label={agentsText.runs} columns={columns} rows={items} rowKey={keyOf} />
              <Pager offset={offset} size={ROWS} total={total} onMove={move} />
            </>
          ) : (
            <p class="quiet">{agentsText.noRuns}</p>
          )
        }
      </Answer>
    </section>
  );
}
