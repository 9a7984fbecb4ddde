/** What the agent of a repository did. */
import type { Schemas } from "../../api/client";
import { count, spoken } from "../../api/format";
import { Few } from "../../part/fold/Few";
import { Outside } from "../../part/link/Outside";
import { Table, type Column } from "../../part/Table";
import { Time } from "../../part/Time";
import { PaperLink, useTitles, type Titles } from "./papers";
import { agentsText } from "./text";

const words = agentsText.of;
const HAPPENINGS_SHOWN = 25;
const PAPERS_SHOWN = 10;

interface Direction {
  arxiv_id: string;
  runs: number;
  outcomes: readonly Schemas["OutcomeKind"][];
  last_run_at: string;
}

export interface Activity {
  events: readonly Schemas["Happening"][];
  directions: readonly Direction[];
}

/** The newest of what happened. */
export function Happened({ events }: Pick<Activity, "events">) {
  return (
    <section class="group">
      <h2>{words.happened}</h2>
      {events.length === 0 && <p class="quiet">{words.nothing}</p>}
      <ol class="timeline">
        {events.slice(0, HAPPENINGS_SHOWN).map((event) => (
          <li key={`${event.at} ${event.kind} ${event.text}`}>
            <span class="quiet">
              <Time at={event.at} /> ·
            </span>{" "}
            <Outside address={event.url}>{event.text}</Outside>
          </li>
        ))}
      </ol>
    </section>
  );
}

const columnsOf = (titles: Titles): readonly Column<Direction>[] => [
  { name: words.paperColumns.paper, cell: (row) => <PaperLink id={row.arxiv_id} titles={titles} /> },
  { name: words.paperColumns.runs, figure: true, cell: (row) => count(row.runs) },
  { name: words.paperColumns.outcomes, cell: (row) => [...new Set(row.outcomes)].map(spoken).join(", ") },
  { name: words.paperColumns.last, cell: (row) => <Time at={row.last_run_at} /> },
];

/** The papers that its newest runs were about. */
export function Papers({ directions }: Pick<Activity, "directions">) {
  const titles = useTitles(directions.map(({ arxiv_id }) => arxiv_id));
  if (directions.length === 0) return null;
  return (
    <section class="group">
      <h2>{words.papers}</h2>
      <Few rows={directions} shown={PAPERS_SHOWN}>
        {(rows) => <Table label={words.papers} columns={columnsOf(titles)} rows={rows} rowKey={(row) => row.arxiv_id} />}
      </Few>
    </section>
  );
}
