import { useMutation, useQuery, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";
import { useLocation } from "wouter-preact";

import { safeLink } from "../../api/format";
import { answer, api, type Schemas, type Versioned } from "../../api/client";
import { interest } from "../../api/queries";
import { Button } from "../../part/form/Button";
import { Confirm } from "../../part/form/Confirm";
import { Detail as DetailPage } from "../../part/Detail";
import { Dialog } from "../../part/Dialog";
import { Fault } from "../../part/Fault";
import { useNotice } from "../../part/Notice";
import { Page } from "../../part/Page";
import { May } from "../../part/scope";
import { State, type Tone } from "../../part/State";
import { Table, type Column } from "../../part/Table";
import { text } from "../../text";
import { AgentSetup } from "../connect/AgentSetup";
import { AgentSchedule } from "./AgentSchedule";
import { InterestForm } from "./InterestForm";
import { Model } from "./Model";
import { Quality } from "./Quality";
import { InterestState } from "./states";
import { interestsText } from "./text";
import { TryOut } from "./TryOut";

type Detail = Versioned<Schemas["InterestDetail"]>;
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

const SOURCE_NAMES = interestsText.sourceColumns;

const SOURCE_COLUMNS: readonly Column<Source>[] = [
  { name: SOURCE_NAMES.source, cell: (row) => <SourceLink source={row} /> },
  { name: SOURCE_NAMES.kind, cell: (row) => row.kind },
  { name: SOURCE_NAMES.state, cell: (row) => <State tone={SOURCE_TONES[row.status]}>{row.error ?? row.status}</State> },
];

function Facts({ detail }: { detail: Detail }) {
  return (
    <>
      <p class="read prose">{detail.context}</p>
      {detail.context_sources.length > 0 && (
        <section class="group">
          <h2>{interestsText.sources}</h2>
          <Table label={interestsText.sources} columns={SOURCE_COLUMNS} rows={detail.context_sources} rowKey={(row) => row.url} />
        </section>
      )}
      {detail.experiment_history !== "" && (
        <section class="group">
          <h2>{interestsText.history}</h2>
          <p class="read prose">{detail.experiment_history}</p>
        </section>
      )}
    </>
  );
}

/** Does what it says, whatever somebody else has done since. */
function Toggle({ detail }: { detail: Detail }) {
  const client = useQueryClient();
  const params = { path: { interest_id: detail.id } };
  const toggle = useMutation({
    mutationFn: () => answer(api.PUT("/api/v1.0/interests/{interest_id}", { params, body: { is_active: !detail.is_active } })),
    onSuccess: () => client.invalidateQueries({ queryKey: ["interests"] }),
  });
  return (
    <>
      <Button disabled={toggle.isPending} onClick={() => toggle.mutate()}>
        {detail.is_active ? interestsText.pause : interestsText.resume}
      </Button>
      {toggle.error && <Fault error={toggle.error} />}
    </>
  );
}

function Removal({ detail, onClose }: { detail: Detail; onClose: () => void }) {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const onDone = async () => {
    navigate("/interests");
    client.removeQueries({ queryKey: ["interests", detail.id] });
    await client.invalidateQueries({ queryKey: ["interests"] });
  };
  return (
    <Confirm
      title={interestsText.removeTitle(detail.name)}
      action={interestsText.remove}
      send={() => answer(api.DELETE("/api/v1.0/interests/{interest_id}", { params: { path: { interest_id: detail.id } } }))}
      onDone={onDone}
      onClose={onClose}
    >
      <p>{interestsText.removeText}</p>
    </Confirm>
  );
}

type Open = "edit" | "remove" | null;

function Content({ detail }: { detail: Detail }) {
  const [open, setOpen] = useState<Open>(null);
  const notice = useNotice();
  return (
    <Page
      title={detail.name}
      actions={
        <>
          <InterestState interest={detail} />
          <May scope="interests:write">
            <Button onClick={() => setOpen("edit")}>{interestsText.edit}</Button>
            <Toggle detail={detail} />
            <Button onClick={() => setOpen("remove")}>{interestsText.remove}</Button>
          </May>
        </>
      }
    >
      <Facts detail={detail} />
      <Model interest={detail} />
      <Quality id={detail.id} />
      <TryOut historyId={detail.experiment_history_id} />
      <section class="group">
        <h2>{interestsText.setUp}</h2>
        <AgentSetup interest={detail} />
      </section>
      <AgentSchedule interest={detail} />
      {open === "edit" && (
        <Dialog title={interestsText.edit} onClose={() => setOpen(null)}>
          <InterestForm
            detail={detail}
            onDone={({ pool_invalidated }) => {
              setOpen(null);
              if (pool_invalidated !== undefined) notice({ text: interestsText.states.building });
            }}
          />
        </Dialog>
      )}
      {open === "remove" && <Removal detail={detail} onClose={() => setOpen(null)} />}
    </Page>
  );
}

export default function Interest({ id }: { id: string }) {
  return (
    <DetailPage kind={text.kinds.interest} query={useQuery(interest(id))}>
      {(detail) => <Content detail={detail} />}
    </DetailPage>
  );
}
