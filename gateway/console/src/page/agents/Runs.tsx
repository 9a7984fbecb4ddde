import { useQuery } from "@tanstack/preact-query";
import { useSearchParams } from "wouter-preact";

import { dollars } from "../../api/format";
import type { Schemas } from "../../api/client";
import { runs } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/Button";
import { Pager, Table, type Column } from "../../part/Table";
import { Time, Unknown } from "../../part/Time";
import { text } from "../../text";
import { RunDetail } from "./RunDetail";

type Run = Schemas["Run"];

const ROWS = 25;
const NAMES = text.agents.runsColumns;

const keyOf = (run: Run) => `${run.repo ?? ""} ${String(run.run_id)}`;

function columnsOf(onOpen: (run: Run) => void): readonly Column<Run>[] {
  return [
    {
      name: NAMES.run,
      cell: (row) => (
        <Button kind="quiet" label={text.agents.run.title(String(row.run_id))} onClick={() => onOpen(row)}>
          {String(row.run_id)}
        </Button>
      ),
    },
    { name: NAMES.repo, cell: (row) => row.repo ?? <Unknown /> },
    { name: NAMES.status, cell: (row) => row.status ?? <Unknown /> },
    { name: NAMES.outcome, cell: (row) => row.outcome_kind },
    { name: NAMES.cost, figure: true, cell: (row) => (typeof row.cost_usd === "number" ? dollars(row.cost_usd) : <Unknown />) },
    { name: NAMES.started, cell: (row) => <Time at={row.started_at} /> },
  ];
}

export function Runs() {
  const [address, setAddress] = useSearchParams();
  const offset = Number(address.get("offset") ?? 0) || 0;
  const ofPage = offset > 0 ? { offset: String(offset) } : {};
  const columns = columnsOf((run) => setAddress({ ...ofPage, run: keyOf(run) }));
  const opened = address.get("run");
  return (
    <section class="group">
      <h2>{text.agents.runs}</h2>
      <Answer query={useQuery(runs(offset))}>
        {({ items, total }) =>
          total > 0 ? (
            <>
              <Table label={text.agents.runs} columns={columns} rows={items} rowKey={keyOf} />
              {items
                .filter((run) => keyOf(run) === opened)
                .map((run) => (
                  <RunDetail key={opened} run={run} onClose={() => setAddress(ofPage)} />
                ))}
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
