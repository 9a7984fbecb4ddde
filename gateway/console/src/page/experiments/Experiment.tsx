import { useMutation, useQuery, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";
import { useLocation } from "wouter-preact";

import { answer, api, type Schemas, type Versioned } from "../../api/client";
import { anything, spoken } from "../../api/format";
import { Button } from "../../part/form/Button";
import { Detail as DetailPage } from "../../part/Detail";
import { copy } from "../../part/form/clipboard";
import { Confirm } from "../../part/form/Confirm";
import { Dialog } from "../../part/Dialog";
import { Fact, Facts } from "../../part/Facts";
import { Fault } from "../../part/Fault";
import { useNotice } from "../../part/Notice";
import { Outside } from "../../part/link/Outside";
import { Page } from "../../part/Page";
import { May } from "../../part/scope";
import { Time, Unknown } from "../../part/Time";
import { text } from "../../text";
import { ExperimentForm } from "./ExperimentForm";
import { ProjectOf } from "./columns";
import { Implementation } from "./Implementation";
import { Results } from "./Results";
import { experimentsText } from "./text";
import { Ticket } from "./Ticket";
import { Way } from "./Way";
import { experiment } from "./queries";
import { Delta, ExperimentState, isDecided } from "./words";

type Detail = Versioned<Schemas["ExperimentDetail"]>;

function About({ detail }: { detail: Detail }) {
  const words = experimentsText;
  return (
    <Facts>
      <Fact name={words.hypothesis}>{detail.hypothesis ?? <Unknown />}</Fact>
      <Fact name={words.decision}>{detail.decision ?? <Unknown />}</Fact>
      <Fact name={words.outcome}>{detail.outcome ?? <Unknown />}</Fact>
      <Fact name={words.metric}>{detail.target_metric ?? <Unknown />}</Fact>
      <Fact name={words.columns.delta}>
        <Delta experiment={detail} />
      </Fact>
      <Fact name={words.pullRequest}>
        <Outside address={detail.pr_url} />
      </Fact>
      <Fact name={words.ticket.title}>
        <Ticket detail={detail} />
      </Fact>
      <Fact name={words.columns.project}>
        <ProjectOf experiment={detail} />
      </Fact>
    </Facts>
  );
}

/** Fields that say nothing to a person. */
const UNREAD = ["analysis_id"];

function History({ detail }: { detail: Detail }) {
  return (
    <section class="group">
      <h2>{experimentsText.history}</h2>
      <ol class="timeline">
        {detail.history
          .filter((entry) => !UNREAD.includes(entry.field))
          .map((entry) => (
            <li key={`${entry.at} ${entry.field}`}>
              <span class="quiet">
                <Time at={entry.at} /> ·
              </span>{" "}
              {experimentsText.changed(spoken(entry.field))}: <span class="quiet">{anything(entry.from)}</span> → {anything(entry.to)}
            </li>
          ))}
        <li>
          <span class="quiet">
            <Time at={detail.created_at} /> ·
          </span>{" "}
          {experimentsText.created}
        </li>
      </ol>
    </section>
  );
}

function CopyContext({ id }: { id: string }) {
  const notice = useNotice();
  const copying = useMutation({
    mutationFn: () =>
      answer(api.GET("/api/v1.0/implement/experiments/{experiment_id}/context", { params: { path: { experiment_id: id } } })),
    onSuccess: async (context) => {
      notice({ text: (await copy(context.formatted)) ? text.copied : text.notCopied });
    },
  });
  return (
    <>
      <Button onClick={() => copying.mutate()}>{experimentsText.copyContext}</Button>
      {copying.error && <Fault error={copying.error} />}
    </>
  );
}

function Removal({ detail, onClose }: { detail: Detail; onClose: () => void }) {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const onDone = async () => {
    navigate("/experiments");
    client.removeQueries({ queryKey: ["experiments", detail.id] });
    await client.invalidateQueries({ queryKey: ["experiments"] });
  };
  return (
    <Confirm
      title={experimentsText.removeTitle(detail.name)}
      action={experimentsText.remove}
      send={() => answer(api.DELETE("/api/v1.0/experiments/{experiment_id}", { params: { path: { experiment_id: detail.id } } }))}
      onDone={onDone}
      onClose={onClose}
    >
      <p>{experimentsText.removeText}</p>
    </Confirm>
  );
}

function Content({ detail }: { detail: Detail }) {
  const [open, setOpen] = useState<"edit" | "remove" | null>(null);
  return (
    <Page
      title={detail.name}
      actions={
        <>
          <ExperimentState status={detail.status} />
          <May scope="implement:read">
            <CopyContext id={detail.id} />
          </May>
          <May scope="experiments:write">
            <Button onClick={() => setOpen("edit")}>{experimentsText.edit}</Button>
            <Button onClick={() => setOpen("remove")}>{experimentsText.remove}</Button>
          </May>
        </>
      }
    >
      <About detail={detail} />
      <Results detail={detail} />
      <Way id={detail.id} isDecided={isDecided(detail)} />
      <Implementation detail={detail} />
      <History detail={detail} />
      {open === "edit" && (
        <Dialog title={experimentsText.edit} onClose={() => setOpen(null)}>
          <ExperimentForm detail={detail} onDone={() => setOpen(null)} />
        </Dialog>
      )}
      {open === "remove" && <Removal detail={detail} onClose={() => setOpen(null)} />}
    </Page>
  );
}

export default function Experiment({ id }: { id: string }) {
  return (
    <DetailPage kind={text.kinds.experiment} query={useQuery(experiment(id))}>
      {(detail) => <Content detail={detail} />}
    </DetailPage>
  );
}
