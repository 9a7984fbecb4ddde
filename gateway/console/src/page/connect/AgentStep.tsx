import { useQuery, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { safeLink } from "../../api/format";
import { Answer } from "../../part/Answer";
import { Form } from "../../part/Form";
import { SelectField } from "../../part/Select";
import { State, type Tone } from "../../part/State";
import { text } from "../../text";
import { provisioning } from "./queries";
import { Step } from "./Step";

const words = text.connect.agent;
const POLL_MS = 2000;

const TONES: Readonly<Record<Schemas["ProvisionStatus"]["state"], Tone>> = {
  none: "off",
  in_progress: "running",
  awaiting_merge: "waits",
  active: "done",
  revoked: "off",
  failed: "failed",
};

const AGENTS = (["agent_one", "agent_two", "agent_three"] as const).map((each) => [each, words.agents[each]] as const);

function SetUp({ interest, isAgain }: { interest: string; isAgain: boolean }) {
  const [agent, setAgent] = useState<keyof typeof words.agents>("agent_one");
  const client = useQueryClient();
  const send = () =>
    answer(api.POST("/api/v1.0/interests/{interest_id}/provision", { params: { path: { interest_id: interest } }, body: { agent } }));
  const onDone = () => client.invalidateQueries({ queryKey: ["provisioning", interest] });
  return (
    <Form submit={isAgain ? words.repair : words.setUp} send={send} onDone={onDone}>
      {(fault) => (
        <SelectField
          label={words.which}
          value={agent}
          values={AGENTS}
          fault={fault("agent")}
          onChange={(chosen) => chosen && setAgent(chosen)}
        />
      )}
    </Form>
  );
}

function Standing({ interest, status }: { interest: Schemas["Interest"]; status: Schemas["ProvisionStatus"] }) {
  const request = safeLink(status.pr_url);
  return (
    <>
      <p>
        <strong>{interest.name}</strong> <State tone={TONES[status.state]}>{words.states[status.state]}</State>{" "}
        {request && (
          <a href={request} rel="noopener noreferrer" target="_blank">
            {words.request}
          </a>
        )}
      </p>
      {status.workflow_outdated && <p>{words.outdated}</p>}
      <SetUp interest={interest.id} isAgain={status.state !== "none"} />
    </>
  );
}

function AgentOf({ interest }: { interest: Schemas["Interest"] }) {
  const query = useQuery({
    ...provisioning(interest.id),
    refetchInterval: ({ state }) => (state.data?.state === "in_progress" ? POLL_MS : false),
  });
  return (
    <li>
      <Answer query={query}>{(status) => <Standing interest={interest} status={status} />}</Answer>
    </li>
  );
}

/** The agent of each interest of a repository. */
export function AgentStep({ interests, hasAgent }: { interests: readonly Schemas["Interest"][]; hasAgent: boolean }) {
  const missing = interests.length > 0 ? words.none : words.needsInterest;
  return (
    <Step number={5} title={words.title} tone={hasAgent ? "done" : "waits"} state={hasAgent ? words.there : missing}>
      {interests.length > 0 && (
        <ul class="plain">
          {interests.map((each) => (
            <AgentOf key={each.id} interest={each} />
          ))}
        </ul>
      )}
    </Step>
  );
}
