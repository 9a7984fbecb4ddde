/** Who changed what: the log of the account, newest first. The address says which part of it. */
import { useQuery } from "@tanstack/preact-query";
import { useSearchParams } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { anything, spoken } from "../../api/format";
import { Answer } from "../../part/Answer";
import { Download } from "../../part/Download";
import { Empty } from "../../part/Empty";
import { Page } from "../../part/Page";
import { Pager } from "../../part/Pager";
import { State } from "../../part/State";
import { Table, type Column } from "../../part/Table";
import { Time, Unknown } from "../../part/Time";
import { Filters } from "./Filters";
import { audit, pathOf, ROWS, type AuditFilter } from "./queries";
import { auditText } from "./text";

type Entry = Schemas["AuditEntry"];

const words = auditText;
const NAMES = words.columns;

const DAY = /^\d{4}-\d{2}-\d{2}$/;

function filterOf(address: URLSearchParams): AuditFilter {
  const day = (name: string) => {
    const value = address.get(name);
    return value !== null && DAY.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined;
  };
  return {
    action: address.get("action") ?? undefined,
    person_id: address.get("person") ?? undefined,
    since: day("since"),
    until: day("until"),
  };
}

function addressOf({ action, person_id, since, until }: AuditFilter): Record<string, string> {
  const named = { action, person: person_id, since, until };
  return Object.fromEntries(Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

function Actor({ entry: { actor } }: { entry: Entry }) {
  if (actor.kind === "person" && actor.email !== null) return <>{actor.email}</>;
  if (actor.kind === "key") return <>{words.byKey(actor.key_name ?? "", actor.email)}</>;
  return <>{words.actors[actor.kind]}</>;
}

const LISTED = 3; // of a list, such as the scopes of a key, before it is folded

function Value({ field, value }: { field: string; value: unknown }) {
  if (!Array.isArray(value) || value.length <= LISTED) return <>{anything(value)}</>;
  return (
    <details class="inline">
      <summary>{`${value.length} ${spoken(field)}`}</summary>
      {anything(value)}
    </details>
  );
}

/** What the target is called says the column beside it. */
const saysMore = ({ target, detail }: Entry) =>
  detail.changed.filter(({ field, from, to }) => from !== null || field !== "name" || to !== target.name);

function Changes({ entry }: { entry: Entry }) {
  const { reason } = entry.detail;
  if (reason) return <>{spoken(reason)}</>;
  const changed = saysMore(entry);
  if (changed.length === 0) return <Unknown />;
  return (
    <ul>
      {changed.map(({ field, from, to }) => (
        <li key={field} class="wrap">
          <span class="quiet">{spoken(field)}:</span>{" "}
          {from !== null && from !== undefined && (
            <>
              <Value field={field} value={from} /> →{" "}
            </>
          )}
          <Value field={field} value={to} />
        </li>
      ))}
    </ul>
  );
}

const COLUMNS: readonly Column<Entry>[] = [
  { name: NAMES.action, cell: (row) => spoken(row.action.replace(".", " ")) },
  { name: NAMES.target, cell: (row) => <span class="wrap">{row.target.name ?? spoken(row.target.kind)}</span> },
  { name: NAMES.changes, cell: (row) => <Changes entry={row} /> },
  {
    name: NAMES.actor,
    cell: (row) => (
      <span class="wrap">
        <Actor entry={row} />
      </span>
    ),
  },
  { name: NAMES.address, cell: (row) => row.ip ?? <Unknown /> },
  { name: NAMES.outcome, cell: (row) => <State tone={row.outcome === "done" ? "done" : "failed"}>{row.outcome}</State> },
  { name: NAMES.at, cell: (row) => <Time at={row.at} /> },
];

export default function Audit() {
  const [address, setAddress] = useSearchParams();
  const filter = filterOf(address);
  const shown = addressOf(filter);
  const offset = Number(address.get("offset") ?? 0) || 0;
  return (
    <Page
      title={words.title}
      wide
      actions={<Download path={pathOf(filter)} name="audit.ndjson" type="application/x-ndjson" label={words.download} />}
    >
      <Filters filter={filter} onChange={(next) => setAddress(addressOf(next))} />
      <Answer query={useQuery(audit(filter, offset))}>
        {({ items, total }) =>
          total > 0 ? (
            <>
              <Table label={words.title} columns={COLUMNS} rows={items} rowKey={(row) => row.id} />
              <Pager offset={offset} size={ROWS} total={total} onMove={(next) => setAddress({ ...shown, offset: String(next) })} />
            </>
          ) : (
            <Empty>{Object.keys(shown).length > 0 ? words.none : words.empty}</Empty>
          )
        }
      </Answer>
    </Page>
  );
}
