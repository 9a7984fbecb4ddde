import { useQuery } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import type { Schemas } from "../../api/client";
import { endpoint } from "../../api/queries";
import { Detail as DetailPage } from "../../part/Detail";
import { Fact, Facts } from "../../part/Facts";
import { Page } from "../../part/Page";
import { useScope } from "../../part/scope";
import { Time } from "../../part/Time";
import { text } from "../../text";
import { Actions } from "./Actions";
import { Deliveries } from "./Deliveries";
import { Dialogs, type Open } from "./Dialogs";
import { endpointsText } from "./text";
import { EndpointState, eventsOf } from "./words";

const WORDS = endpointsText.facts;

type Detail = Schemas["Webhook"];

/** Where it is, and what it gets. */
function WhatFacts({ detail }: { detail: Detail }) {
  const { confirmation } = detail;
  return (
    <>
      <Fact name={WORDS.kind}>{endpointsText.kinds[detail.kind]}</Fact>
      <Fact name={WORDS.address}>{detail.email ?? detail.url}</Fact>
      <Fact name={WORDS.events}>{eventsOf(detail)}</Fact>
      {detail.repos && <Fact name={WORDS.repos}>{detail.repos.join(" ")}</Fact>}
      {detail.digest && (
        <Fact name={WORDS.digest}>
          <Time at={detail.digest.next_at} />
        </Fact>
      )}
      {confirmation && (
        <Fact name={WORDS.confirmation}>
          <Time at={confirmation.sent_at ?? confirmation.requested_at} />
          {confirmation.error && ` ${WORDS.notSent(confirmation.error)}`}
        </Fact>
      )}
      {detail.kind === "webhook" && detail.secret_hint && <Fact name={WORDS.secret}>{WORDS.ends(detail.secret_hint)}</Fact>}
      {detail.old_secret_expires_at && (
        <Fact name={WORDS.old}>
          <Time at={detail.old_secret_expires_at} />
        </Fact>
      )}
    </>
  );
}

/** How it does. */
function HowFacts({ detail }: { detail: Detail }) {
  return (
    <>
      <Fact name={WORDS.success}>
        <Time at={detail.last_success_at} />
      </Fact>
      {detail.failing_since && (
        <Fact name={WORDS.failing}>
          <Time at={detail.failing_since} /> ({WORDS.failures(String(detail.consecutive_failures))})
        </Fact>
      )}
      <Fact name={WORDS.waiting}>
        {detail.waiting}
        {detail.dropped > 0 && ` (${WORDS.dropped(String(detail.dropped))})`}
      </Fact>
    </>
  );
}

function Content({ detail }: { detail: Detail }) {
  const [open, setOpen] = useState<Open>(null);
  const canWrite = useScope("webhooks:write");
  return (
    <Page title={detail.name} wide actions={canWrite && <Actions endpoint={detail} onOpen={setOpen} />}>
      <p>
        <EndpointState endpoint={detail} />
      </p>
      <Facts>
        <WhatFacts detail={detail} />
        <HowFacts detail={detail} />
      </Facts>
      <Deliveries id={detail.id} />
      <Dialogs endpoint={detail} open={open} onClose={() => setOpen(null)} />
    </Page>
  );
}

/** An endpoint of messages, and its log. */
export default function Endpoint({ id }: { id: string }) {
  return (
    <DetailPage kind={text.kinds.endpoint} query={useQuery(endpoint(id))}>
      {(detail) => <Content detail={detail} />}
    </DetailPage>
  );
}
