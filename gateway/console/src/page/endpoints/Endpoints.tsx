import { useQuery } from "@tanstack/preact-query";
import { useState } from "preact/hooks";
import { Link, useSearchParams } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { endpoints } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/form/Button";
import { Dialog } from "../../part/Dialog";
import { Empty } from "../../part/Empty";
import { Once } from "../../part/form/Once";
import { useScope } from "../../part/scope";
import { Table, type Column } from "../../part/Table";
import { Time } from "../../part/Time";
import { settingsText } from "../settings/text";
import { EndpointForm } from "./EndpointForm";
import { endpointsText } from "./text";
import { EndpointState, eventsOf } from "./words";

type Endpoint = Schemas["Webhook"];

const WORDS = endpointsText;

const COLUMNS: readonly Column<Endpoint>[] = [
  { name: WORDS.columns.name, cell: (row) => <Link href={`/settings/endpoints/${row.id}`}>{row.name}</Link> },
  { name: WORDS.columns.kind, cell: (row) => WORDS.kinds[row.kind] },
  { name: WORDS.columns.state, cell: (row) => <EndpointState endpoint={row} /> },
  { name: WORDS.columns.events, cell: (row) => eventsOf(row) },
  { name: WORDS.columns.success, cell: (row) => <Time at={row.last_success_at} /> },
  { name: WORDS.columns.waiting, figure: true, cell: (row) => String(row.waiting) },
];

/** The form for a new one, and then its secret, if it has one. */
function NewEndpoint({ onClose }: { onClose: () => void }) {
  const [secret, setSecret] = useState<string | null>(null);
  const onSaved = (made: Schemas["WebhookWithSecret"]) => (made.secret ? setSecret(made.secret) : onClose());
  return (
    <Dialog title={WORDS.add} onClose={onClose}>
      {secret === null ? <EndpointForm onSaved={onSaved} /> : <Once lead={WORDS.secret} value={secret} />}
    </Dialog>
  );
}

/** Where the account hears what happens. */
export function Endpoints() {
  const [address, setAddress] = useSearchParams();
  const canWrite = useScope("webhooks:write");
  return (
    <section class="group">
      <header class="group-head">
        <h2>{settingsText.endpoints}</h2>
        {canWrite && <Button onClick={() => setAddress({ new: "endpoint" })}>{WORDS.add}</Button>}
      </header>
      <p class="read">{WORDS.lead}</p>
      <Answer query={useQuery(endpoints)}>
        {({ items }) =>
          items.length > 0 ? (
            <Table label={settingsText.endpoints} columns={COLUMNS} rows={items} rowKey={(row) => row.id} />
          ) : (
            <Empty>{WORDS.empty}</Empty>
          )
        }
      </Answer>
      {address.get("new") === "endpoint" && <NewEndpoint onClose={() => setAddress({})} />}
    </section>
  );
}
