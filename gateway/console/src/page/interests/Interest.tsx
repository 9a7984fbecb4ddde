import { useMutation, useQuery, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";
import { useLocation } from "wouter-preact";

import { safeLink } from "../../api/format";
import { answer, api, type Schemas } from "../../api/client";
import { interest } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/Button";
import { Confirm, Dialog } from "../../part/Dialog";
import { Fault } from "../../part/Fault";
import { useNotice } from "../../part/Notice";
import { Page } from "../../part/Page";
import { State, type Tone } from "../../part/State";
import { Table, type Column } from "../../part/Table";
import { text } from "../../text";
import { AgentSchedule } from "./AgentSchedule";
import { InterestForm } from "./InterestForm";
import { InterestState } from "./states";

type Detail = Schemas["InterestDetail"];
type Source = Detail["context_sources"][number];

const SOURCE_TONES: Readonly<Record<Source["status"], Tone>> = { pending: "running", read: "done", failed: "failed", refused: "off" };

function SourceLink({ source }: { source: Source }) {
  const address = safeLink(source.url);
  const name = source.title ?? source.url;
  return address ? (
    <a href={address} rel="noopener noreferrer" target="_blank">
      {name}
    </a>
  ) : (
    <>{name}</>
  );
}

const SOURCE_COLUMNS: readonly Column<Source>[] = [
  { name: "Source", cell: (row) => <SourceLink source={row} /> },
  { name: "Kind", cell: (row) => row.kind },
  { name: "State", cell: (row) => <State tone={SOURCE_TONES[row.status]}>{row.error ?? row.status}</State> },
];

function Facts({ detail }: { detail: Detail }) {
  return (
    <>
      <p class="read prose">{detail.context}</p>
      {detail.context_sources.length > 0 && (
        <section class="group">
          <h2>{text.interests.sources}</h2>
          <Table label={text.interests.sources} columns={SOURCE_COLUMNS} rows={detail.context_sources} rowKey={(row) => row.url} />
        </section>
      )}
      {detail.experiment_history !== "" && (
        <section class="group">
          <h2>{text.interests.history}</h2>
          <p class="read prose">{detail.experiment_history}</p>
        </section>
      )}
    </>
  );
}

/** What can be done with an interest. */
function useActions(detail: Detail) {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const path = { params: { path: { interest_id: detail.id } } };
  const renew = () => client.invalidateQueries({ queryKey: ["interests"] });
  return {
    toggle: useMutation({ mutationFn: () => answer(api.POST("/api/v1.0/interests/{interest_id}/toggle", path)), onSuccess: renew }),
    remove: useMutation({
      mutationFn: () => answer(api.DELETE("/api/v1.0/interests/{interest_id}", path)),
      onSuccess: async () => {
        navigate("/interests");
        client.removeQueries({ queryKey: ["interests", detail.id] });
        await renew();
      },
    }),
  };
}

type Open = "edit" | "remove" | null;

function Content({ detail }: { detail: Detail }) {
  const [open, setOpen] = useState<Open>(null);
  const { toggle, remove } = useActions(detail);
  const notice = useNotice();
  const error = toggle.error ?? remove.error;
  return (
    <Page
      title={detail.name}
      actions={
        <>
          <InterestState interest={detail} />
          <Button onClick={() => setOpen("edit")}>{text.interests.edit}</Button>
          <Button disabled={toggle.isPending} onClick={() => toggle.mutate()}>
            {detail.is_active ? text.interests.pause : text.interests.resume}
          </Button>
          <Button onClick={() => setOpen("remove")}>{text.interests.remove}</Button>
        </>
      }
    >
      {error && <Fault error={error} />}
      <Facts detail={detail} />
      <AgentSchedule interest={detail} />
      {open === "edit" && (
        <Dialog title={text.interests.edit} onClose={() => setOpen(null)}>
          <InterestForm
            id={detail.id}
            initial={{
              name: detail.name,
              context: detail.context,
              repository: detail.source_repo_url ?? "",
              daily: String(detail.daily_count),
            }}
            onDone={() => {
              setOpen(null);
              notice({ text: text.interests.states.building });
            }}
          />
        </Dialog>
      )}
      {open === "remove" && (
        <Confirm
          title={text.interests.removeTitle(detail.name)}
          action={text.interests.remove}
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate()}
          onClose={() => setOpen(null)}
        >
          {text.interests.removeText}
        </Confirm>
      )}
    </Page>
  );
}

export default function Interest({ id }: { id: string }) {
  return <Answer query={useQuery(interest(id))}>{(detail) => <Content detail={detail} />}</Answer>;
}
