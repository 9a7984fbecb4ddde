import type { Schemas } from "../../api/client";
import { count } from "../../api/format";
import { State, type Tone } from "../../part/State";
import { Table, type Column } from "../../part/Table";
import { Time } from "../../part/Time";
import { operatorText } from "./text";

type Source = Schemas["SearchStats"]["sources"][number];

const TONES: Readonly<Record<Source["state"], Tone>> = { idle: "done", running: "running", waiting: "waits", failed: "failed" };
const NAMES = operatorText.harvestColumns;

function SourceState({ source }: { source: Source }) {
  if (source.late_since) return <State tone="waits">{operatorText.isLate}</State>;
  return <State tone={TONES[source.state]}>{source.error ?? source.state}</State>;
}

const COLUMNS: readonly Column<Source>[] = [
  { name: NAMES.source, cell: (row) => `${row.name} ${row.set}` },
  { name: NAMES.state, cell: (row) => <SourceState source={row} /> },
  { name: NAMES.last, cell: (row) => <Time at={row.last_finished_at} /> },
  { name: NAMES.added, figure: true, cell: (row) => count(row.added) },
  { name: NAMES.changed, figure: true, cell: (row) => count(row.changed) },
  { name: NAMES.newest, cell: (row) => <Time at={row.newest_published_at} /> },
  { name: NAMES.next, cell: (row) => <Time at={row.next_at} /> },
];

/** How papers arrive. */
export function Harvest({ sources }: { sources: readonly Source[] }) {
  return (
    <section class="group">
      <h2>{operatorText.harvest}</h2>
      {sources.length > 0 ? (
        <Table label={operatorText.harvest} columns={COLUMNS} rows={sources} rowKey={(row) => `${row.name} ${row.set}`} />
      ) : (
        <p class="quiet">{operatorText.noHarvest}</p>
      )}
    </section>
  );
}
