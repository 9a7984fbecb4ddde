import { useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { Button } from "../../part/Button";
import { Confirm } from "../../part/Confirm";
import { useNotice } from "../../part/Notice";
import { State, type Tone } from "../../part/State";
import { Table } from "../../part/Table";
import { Time, Unknown } from "../../part/Time";
import { text } from "../../text";

type Installation = Schemas["Installation"];
type AgentRow = Schemas["FleetReport"]["agents"][number];

const TONES: Readonly<Record<AgentRow["state"], Tone>> = {
  active: "done",
  running: "running",
  failing: "failed",
  idle: "off",
  revoked: "off",
};

function AgentState({ installation, agent }: { installation: Installation; agent: AgentRow | undefined }) {
  const state = installation.status === "revoked" ? "revoked" : (agent?.state ?? "idle");
  return <State tone={TONES[state]}>{state}</State>;
}

function Start({ repo, onClose }: { repo: string; onClose: () => void }) {
  const notice = useNotice();
  return (
    <Confirm
      title={text.agents.startTitle(repo)}
      action={text.agents.start}
      send={() => answer(api.POST("/api/v1.0/fleet/trigger", { body: { repo } }))}
      onDone={() => notice({ text: text.agents.started })}
      onClose={onClose}
    >
      <p>{text.agents.startText}</p>
    </Confirm>
  );
}

function Revoke({ installation, onClose }: { installation: Installation; onClose: () => void }) {
  const client = useQueryClient();
  const path = { params: { path: { installation_id: installation.id } } };
  return (
    <Confirm
      title={text.agents.revokeTitle(installation.repo)}
      action={text.agents.revoke}
      send={() => answer(api.POST("/api/v1.0/fleet/installations/{installation_id}/revoke", path))}
      onDone={() => client.invalidateQueries({ queryKey: ["fleet"] })}
      onClose={onClose}
    >
      <p>{text.agents.revokeText}</p>
    </Confirm>
  );
}

interface Props {
  installations: readonly Installation[];
  agents: readonly AgentRow[];
}

type Open = { what: "start" | "revoke"; installation: Installation } | null;

/** One row for each agent in a repository: how it is, and what can be done. */
export function Installations({ installations, agents }: Props) {
  const [open, setOpen] = useState<Open>(null);
  const agentOf = (row: Installation) => agents.find((agent) => agent.repo === row.repo);
  const names = text.agents.columns;
  return (
    <section class="group">
      <Table
        label={text.agents.title}
        rows={installations}
        rowKey={(row) => row.id}
        columns={[
          { name: names.repo, cell: (row) => row.repo },
          { name: names.agent, cell: (row) => row.agent },
          { name: names.state, cell: (row) => <AgentState installation={row} agent={agentOf(row)} /> },
          { name: names.outcome, cell: (row) => agentOf(row)?.last_outcome ?? <Unknown /> },
          { name: names.last, cell: (row) => <Time at={row.last_run_at} /> },
          {
            name: "Actions",
            cell: (row) =>
              row.status === "active" && (
                <span class="actions">
                  <Button onClick={() => setOpen({ what: "start", installation: row })}>{text.agents.start}</Button>
                  <Button kind="quiet" onClick={() => setOpen({ what: "revoke", installation: row })}>
                    {text.agents.revoke}
                  </Button>
                </span>
              ),
          },
        ]}
      />
      {open?.what === "start" && <Start repo={open.installation.repo} onClose={() => setOpen(null)} />}
      {open?.what === "revoke" && <Revoke installation={open.installation} onClose={() => setOpen(null)} />}
    </section>
  );
}
