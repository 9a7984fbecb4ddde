import { useQuery, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";
import { useSearchParams } from "wouter-preact";

import { answer, api, type Schemas } from "../../api/client";
import { count } from "../../api/format";
import { deliveries } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/form/Button";
import { Confirm } from "../../part/form/Confirm";
import { Empty } from "../../part/Empty";
import { useNotice } from "../../part/Notice";
import { Pager } from "../../part/Pager";
import { useScope } from "../../part/scope";
import { Table, type Column } from "../../part/Table";
import { Tabs } from "../../part/Tabs";
import { Time } from "../../part/Time";
import { Delivery } from "./Delivery";
import { endpointsText } from "./text";
import { DELIVERY_STATUSES, DeliveryState } from "./words";

type Item = Schemas["Delivery"];

const WORDS = endpointsText;
const NAMES = WORDS.deliveryColumns;
const ROWS = 25;
const KEPT_MS = 30 * 86_400_000;
const FILTERS = [["", WORDS.all], ...DELIVERY_STATUSES.map((status) => [status, status] as const)] as const;

function columnsOf(onOpen: (id: string) => void): readonly Column<Item>[] {
  return [
    {
      name: NAMES.type,
      cell: (row) => (
        <Button kind="quiet" onClick={() => onOpen(row.id)}>
          {row.type}
        </Button>
      ),
    },
    { name: NAMES.status, cell: (row) => <DeliveryState status={row.status} /> },
    { name: NAMES.attempts, figure: true, cell: (row) => String(row.attempts) },
    { name: NAMES.answer, cell: (row) => row.last_error ?? row.last_status ?? "" },
    { name: NAMES.at, cell: (row) => <Time at={row.created_at} /> },
    { name: NAMES.next, cell: (row) => row.next_attempt_at && <Time at={row.next_attempt_at} /> },
  ];
}

function Recover({ id, onClose }: { id: string; onClose: () => void }) {
  const client = useQueryClient();
  const notice = useNotice();
  const params = { path: { webhook_id: id } };
  const send = () =>
    answer(api.POST("/api/v1.0/webhooks/{webhook_id}/recover", { params, body: { since: new Date(Date.now() - KEPT_MS).toISOString() } }));
  const onDone = async ({ queued }: { queued: number }) => {
    notice({ text: WORDS.recovered(count(queued)) });
    await client.invalidateQueries({ queryKey: ["endpoints", id] });
  };
  return (
    <Confirm title={WORDS.recoverTitle} action={WORDS.recover} send={send} onDone={onDone} onClose={onClose}>
      <p>{WORDS.recoverText}</p>
    </Confirm>
  );
}

/** The log of an endpoint. The address says which status and which page of it; `delivery` is the one that is open. */
export function Deliveries({ id }: { id: string }) {
  const [address, setAddress] = useSearchParams();
  const [isRecovering, setRecovering] = useState(false);
  const canWrite = useScope("webhooks:write");
  const status = DELIVERY_STATUSES.find((each) => each === address.get("status"));
  const offset = Number(address.get("offset") ?? 0) || 0;
  const shown: Readonly<Record<string, string>> = { ...(status ? { status } : {}), ...(offset ? { offset: String(offset) } : {}) };
  const open = address.get("delivery");
  return (
    <section class="group">
      <header class="group-head">
        <h2>{WORDS.deliveries}</h2>
        {canWrite && <Button onClick={() => setRecovering(true)}>{WORDS.recover}</Button>}
      </header>
      <Tabs label={WORDS.status} values={FILTERS} value={status ?? ""} onChange={(next) => setAddress(next ? { status: next } : {})} />
      <Answer query={useQuery(deliveries(id, status, offset))}>
        {({ items, total }) =>
          total > 0 ? (
            <>
              <Table
                label={WORDS.deliveries}
                columns={columnsOf((delivery) => setAddress({ ...shown, delivery }))}
                rows={items}
                rowKey={(row) => row.id}
              />
              <Pager
                offset={offset}
                size={ROWS}
                total={total}
                onMove={(next) => setAddress({ ...(status ? { status } : {}), offset: String(next) })}
              />
            </>
          ) : (
            <Empty>{status ? WORDS.noneOfStatus : WORDS.noDeliveries}</Empty>
          )
        }
      </Answer>
      {isRecovering && <Recover id={id} onClose={() => setRecovering(false)} />}
      {open && <Delivery endpoint={id} id={open} onClose={() => setAddress(shown)} />}
    </section>
  );
}
