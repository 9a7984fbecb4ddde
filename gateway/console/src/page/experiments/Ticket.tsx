import { useMutation, useQuery } from "@tanstack/preact-query";

import { answer, api, type Schemas } from "../../api/client";
import { safeLink } from "../../api/format";
import { Button } from "../../part/form/Button";
import { Fault } from "../../part/Fault";
import { useNotice } from "../../part/Notice";
import { May } from "../../part/scope";
import { Unknown } from "../../part/Time";
import { ticket } from "./queries";
import { experimentsText } from "./text";

type Detail = Schemas["ExperimentDetail"];

const TRACKERS = ["tracker_a", "tracker_b"];

/** Post the decision to the ticket, once there is one. */
function PostDecision({ detail }: { detail: Detail }) {
  const notice = useNotice();
  const words = experimentsText.ticket;
  const posting = useMutation({
    mutationFn: () =>
      answer(api.POST("/api/v1.0/experiments/{experiment_id}/ticket-comment", { params: { path: { experiment_id: detail.id } } })),
    onSuccess: ({ created }) => notice({ text: created ? words.posted : words.postedBefore }),
  });
  if (!detail.outcome && !detail.decision) return null;
  return (
    <>
      <Button kind="quiet" disabled={posting.isPending} onClick={() => posting.mutate()}>
        {words.post}
      </Button>
      {posting.error && <Fault error={posting.error} />}
    </>
  );
}

/** The ticket with its title and state, where it is at a tracker. */
function AtTracker({ detail, id }: { detail: Detail; id: string }) {
  const { data, error } = useQuery(ticket(detail.id));
  const address = safeLink(data?.url ?? detail.ticket_url);
  const name = data?.title ? `${id}: ${data.title}` : id;
  return (
    <>
      {address ? (
        <a href={address} rel="noopener noreferrer" target="_blank">
          {name}
        </a>
      ) : (
        name
      )}{" "}
      {data?.state && <span class="quiet">{data.state}</span>} {data?.fault && <span class="quiet">{data.fault}</span>}
      {error && <Fault error={error} />}
      <May scope="experiments:write">
        <PostDecision detail={detail} />
      </May>
    </>
  );
}

export function Ticket({ detail }: { detail: Detail }) {
  const { external_ticket_id: id, ticket_source: source } = detail;
  if (!id) return <Unknown />;
  return source && TRACKERS.includes(source) ? <AtTracker detail={detail} id={id} /> : <>{id}</>;
}
