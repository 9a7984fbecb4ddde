/** The agent of an interest: where it stands, how its set-up goes on, and its start. */
import { useQuery, useQueryClient } from "@tanstack/preact-query";
import { useEffect, useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { Answer } from "../../part/Answer";
import { Folded } from "../../part/fold/Folded";
import { TextField } from "../../part/form/Field";
import { Form } from "../../part/form/Form";
import { Outside } from "../../part/link/Outside";
import { useScope } from "../../part/scope";
import { SelectField } from "../../part/form/Select";
import { State, type Tone } from "../../part/State";
import { Steps } from "../../part/Steps";
import { CliToken } from "./CliToken";
import { provisioning, provisionTask } from "./queries";
import { connectText } from "./text";

type Interest = Schemas["Interest"];
type Status = Schemas["ProvisionStatus"];

const words = connectText.agent;

const TONES: Readonly<Record<Status["state"], Tone>> = {
  none: "off",
  in_progress: "running",
  awaiting_merge: "waits",
  active: "done",
  revoked: "off",
  failed: "failed",
};

const AGENTS = (["agent_one", "agent_two", "agent_three"] as const).map((each) => [each, words.agents[each]] as const);

const SHOWN: readonly Status["state"][] = ["in_progress", "failed"]; // of these the steps say more than the state

const SETTLED: readonly Status["state"][] = ["in_progress", "awaiting_merge", "active"]; // of these nothing has to be set up

/** The steps of the newest task, while it runs and when it has failed. */
function Progress({ interest, task }: { interest: string; task: string }) {
  const client = useQueryClient();
  const query = useQuery(provisionTask(interest, task));
  const hasEnded = typeof query.data?.finished_at === "string";
  useEffect(() => {
    if (hasEnded) void client.invalidateQueries({ queryKey: ["provisioning", interest], exact: true });
  }, [client, interest, hasEnded]);
  return (
    <Answer query={query}>
      {({ steps, error, progress }) => (
        <div aria-live="polite">
          <progress max={100} value={progress} aria-label={words.states.in_progress} />
          <Steps steps={steps} names={words.steps} />
          {error && <p class="warm">{error}</p>}
        </div>
      )}
    </Answer>
  );
}

/** Sets it up at first, and again as it was: whoever wants another agent or repository says so. */
function SetUp({ interest, status }: { interest: Interest; status: Status }) {
  const isAgain = status.state !== "none";
  const [agent, setAgent] = useState(AGENTS.find(([name]) => name === status.agent)?.[0] ?? "agent_one");
  const [repo, setRepo] = useState(status.repo ?? "");
  const [merges, setMerges] = useState(false);
  const client = useQueryClient();
  const params = { path: { interest_id: interest.id } };
  const asksRepo = interest.source_repo_url === null;
  const body = { agent, auto_merge: merges, ...(asksRepo && repo ? { repo } : {}) };
  return (
    <Form
      submit={isAgain ? words.repair : words.setUp}
      send={() => answer(api.POST("/api/v1.0/interests/{interest_id}/provision", { params, body }))}
      onDone={() => client.invalidateQueries({ queryKey: ["provisioning", interest.id] })}
      isMain={!isAgain}
    >
      {(fault) => (
        <>
          <SelectField
            label={words.which}
            value={agent}
            values={AGENTS}
            fault={fault("agent")}
            onChange={(chosen) => chosen && setAgent(chosen)}
          />
          {asksRepo && <TextField label={words.repo} value={repo} onInput={setRepo} fault={fault("repo")} />}
          <label class="check">
            <input type="checkbox" checked={merges} onChange={(event) => setMerges(event.currentTarget.checked)} /> {words.merge}
          </label>
        </>
      )}
    </Form>
  );
}

function Standing({ interest, status }: { interest: Interest; status: Status }) {
  const mayProvision = useScope("provisioning:write");
  return (
    <>
      <p>
        {status.repo && <strong>{status.repo}</strong>} <State tone={TONES[status.state]}>{words.states[status.state]}</State>{" "}
        {status.pr_url && <Outside address={status.pr_url}>{words.request}</Outside>}
      </p>
      {status.workflow_outdated && <p>{words.outdated}</p>}
      {status.task_id && SHOWN.includes(status.state) && <Progress interest={interest.id} task={status.task_id} />}
      {mayProvision && (
        <Folded name={words.repair} isFolded={SETTLED.includes(status.state)}>
          <SetUp interest={interest} status={status} />
        </Folded>
      )}
      {mayProvision && status.provisioned && <CliToken interest={interest.id} />}
    </>
  );
}

export function AgentSetup({ interest }: { interest: Interest }) {
  return <Answer query={useQuery(provisioning(interest.id))}>{(status) => <Standing interest={interest} status={status} />}</Answer>;
}
