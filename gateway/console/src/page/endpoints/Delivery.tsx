import { useMutation, useQuery, useQueryClient } from "@tanstack/preact-query";

import { answer, api, type Schemas } from "../../api/client";
import { duration } from "../../api/format";
import { delivery } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/form/Button";
import { Dialog } from "../../part/Dialog";
import { Fault } from "../../part/Fault";
import { useNotice } from "../../part/Notice";
import { Output } from "../../part/Output";
import { useScope } from "../../part/scope";
import { Table, type Column } from "../../part/Table";
import { Time, Unknown } from "../../part/Time";
import { endpointsText } from "./text";
import { DeliveryState } from "./words";

type Detail = Schemas["DeliveryWithAttempts"];
type Attempt = Detail["attempt_log"][number];

const WORDS = endpointsText;
const NAMES = WORDS.attemptColumns;

const COLUMNS: readonly Column<Attempt>[] = [
  { name: NAMES.at, cell: (row) => <Time at={row.at} /> },
  { name: NAMES.status, figure: true, cell: (row) => row.status ?? <Unknown /> },
  { name: NAMES.took, figure: true, cell: (row) => duration(row.duration_ms) },
  { name: NAMES.error, cell: (row) => row.error ?? "" },
  { name: NAMES.response, cell: (row) => row.response ?? "" },
];

function Replay({ endpoint, id }: { endpoint: string; id: string }) {
  const client = useQueryClient();
  const notice = useNotice();
  const params = { path: { webhook_id: endpoint, delivery_id: id } };
  const replaying = useMutation({
    mutationFn: () => answer(api.POST("/api/v1.0/webhooks/{webhook_id}/deliveries/{delivery_id}/replay", { params })),
    onSuccess: async () => {
      notice({ text: WORDS.replayed });
      await client.invalidateQueries({ queryKey: ["endpoints", endpoint] });
    },
  });
  return (
    <>
      {replaying.error && <Fault error={replaying.error} />}
      <Button disabled={replaying.isPending} onClick={() => replaying.mutate()}>
        {WORDS.replay}
      </Button>
    </>
  );
}

function Content({ endpoint, detail }: { endpoint: string; detail: Detail }) {
  const canWrite = useScope("webhooks:write");
  return (
    <div class="dialog-text">
      <p class="actions">
        <DeliveryState status={detail.status} /> {canWrite && <Replay endpoint={endpoint} id={detail.id} />}
      </p>
      <h3>{WORDS.attempts}</h3>
      {detail.attempt_log.length > 0 ? (
        <Table label={WORDS.attempts} columns={COLUMNS} rows={detail.attempt_log} rowKey={(row) => row.at} />
      ) : (
        <p class="quiet">{WORDS.noAttempts}</p>
      )}
      <h3>{WORDS.payload}</h3>
      <Output label={WORDS.payload}>{JSON.stringify(detail.payload, null, 2)}</Output>
    </div>
  );
}

/** What was sent, and what came of each attempt. */
export function Delivery({ endpoint, id, onClose }: { endpoint: string; id: string; onClose: () => void }) {
  const query = useQuery(delivery(endpoint, id));
  return (
    <Dialog title={query.data?.type ?? WORDS.deliveries} onClose={onClose} side>
      <Answer query={query}>{(detail) => <Content endpoint={endpoint} detail={detail} />}</Answer>
    </Dialog>
  );
}
