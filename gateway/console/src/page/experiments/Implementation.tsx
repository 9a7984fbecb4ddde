/** An agent implements the experiment: where that stands, and its start. */
import { useQuery, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { safeLink } from "../../api/format";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/form/Button";
import { Confirm } from "../../part/form/Confirm";
import { useScope } from "../../part/scope";
import { State, type Tone } from "../../part/State";
import { Steps } from "../../part/Steps";
import { implementation, isImplementing } from "./queries";
import { Reference } from "./Reference";
import { experimentsText } from "./text";

type Status = Schemas["PipelineStatus"];
type Detail = Schemas["ExperimentDetail"];

const words = experimentsText.implementation;

const TONES: Readonly<Record<Status["pipeline_status"], Tone>> = {
  idle: "off",
  queued: "waits",
  assembling_context: "running",
  dispatching: "running",
  running: "running",
  pr_opened: "done",
  completed: "done",
  failed: "failed",
  cancelled: "off",
};

function Content({ status }: { status: Status }) {
  const run = safeLink(status.run_url);
  return (
    <>
      <p>
        <State tone={TONES[status.pipeline_status]}>{words.states[status.pipeline_status]}</State>{" "}
        {run && (
          <a href={run} rel="noopener noreferrer" target="_blank">
            {words.run}
          </a>
        )}
      </p>
      {status.error && <p class="warm">{status.error}</p>}
      {status.summary && <p>{status.summary}</p>}
      <Steps steps={status.steps} names={words.steps} />
    </>
  );
}

function Start({ detail, repo, onClose }: { detail: Detail; repo: string; onClose: () => void }) {
  const client = useQueryClient();
  return (
    <Confirm
      title={words.startTitle(detail.name)}
      action={words.start}
      send={() =>
        answer(api.POST("/api/v1.0/implement/experiments/{experiment_id}/run", { params: { path: { experiment_id: detail.id } } }))
      }
      onDone={() => client.invalidateQueries({ queryKey: implementation(detail.id).queryKey })}
      onClose={onClose}
    >
      <p>{words.startText(repo)}</p>
    </Confirm>
  );
}

export function Implementation({ detail }: { detail: Detail }) {
  const [isStarting, setIsStarting] = useState(false);
  const status = useQuery(implementation(detail.id));
  const repo = detail.launch_context?.target_repo;
  const mayStart = useScope("implement:write");
  const canStart = mayStart && repo && !detail.pr_url && status.data && !isImplementing(status.data);
  return (
    <section class="group">
      <h2>{words.title}</h2>
      <Answer query={status}>{(data) => <Content status={data} />}</Answer>
      {canStart && (
        <div class="actions">
          <Button onClick={() => setIsStarting(true)}>{words.start}</Button>
        </div>
      )}
      {!repo && <p class="small quiet">{words.needs}</p>}
      {detail.launch_context && <Reference id={detail.id} />}
      {isStarting && repo && <Start detail={detail} repo={repo} onClose={() => setIsStarting(false)} />}
    </section>
  );
}
