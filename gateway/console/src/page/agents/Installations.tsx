import { useQuery } from "@tanstack/preact-query";
import { Link } from "wouter-preact";

import { dollars, spoken } from "../../api/format";
import { useOffset } from "../../part/offset";
import { Outside } from "../../part/link/Outside";
import { Pager } from "../../part/Pager";
import { Table, type Column } from "../../part/Table";
import { Time, Unknown } from "../../part/Time";
import { text } from "../../text";
import { Actions } from "./Actions";
import { waitingPulls } from "./queries";
import { agentsText } from "./text";
import { AgentState, costOf, type AgentRow, type Installation, type Report } from "./words";

const ROWS = 25;
const NAMES = agentsText.columns;
const NEXT = agentsText.next;

function Cost({ agent }: { agent: AgentRow | undefined }) {
  const cost = agent ? costOf(agent) : null;
  return cost === null ? <Unknown /> : <>{dollars(cost)}</>;
}

function LastOutcome({ agent }: { agent: AgentRow | undefined }) {
  return agent?.last_outcome ? <>{spoken(agent.last_outcome)}</> : <Unknown />;
}

interface NextProps {
  installation: Installation;
  agent: AgentRow | undefined;
}

/** What a person can do next about an agent. */
function Next({ installation, agent }: NextProps) {
  const waiting = useQuery(waitingPulls).data?.items.find(({ repo }) => repo === installation.repo);
  if (installation.status === "revoked") return <Link href="/connect">{NEXT.revoked}</Link>;
  if (agent?.state === "failing") return <Link href={`/agents/${installation.repo}`}>{NEXT.failing}</Link>;
  if (waiting) return <Outside address={waiting.href}>{NEXT.review}</Outside>;
  return agent?.state === "running" ? <span class="quiet">{NEXT.running}</span> : <Unknown />;
}

function columnsOf(report: Report | undefined): readonly Column<Installation>[] {
  const agentOf = (row: Installation) => report?.agents.find((agent) => agent.repo === row.repo);
  return [
    { name: NAMES.repo, cell: (row) => <Link href={`/agents/${row.repo}`}>{row.repo}</Link> },
    { name: NAMES.agent, cell: (row) => row.agent },
    { name: NAMES.state, cell: (row) => <AgentState installation={row} agent={agentOf(row)} /> },
    { name: NAMES.outcome, cell: (row) => <LastOutcome agent={agentOf(row)} /> },
    { name: NAMES.last, cell: (row) => <Time at={row.last_run_at} /> },
    { name: NAMES.cost, figure: true, cell: (row) => <Cost agent={agentOf(row)} /> },
    { name: NAMES.next, cell: (row) => <Next installation={row} agent={agentOf(row)} /> },
    { name: text.actions, cell: (row) => row.status === "active" && <Actions installation={row} /> },
  ];
}

/** One row for each agent in a repository: how it is, what it cost in the period, and what can be done. */
export function Installations({ installations, report }: { installations: readonly Installation[]; report: Report | undefined }) {
  const [first, move] = useOffset("agents");
  return (
    <section class="group">
      <h2>{agentsText.each}</h2>
      <Table
        label={agentsText.title}
        rows={installations.slice(first, first + ROWS)}
        rowKey={(row) => row.id}
        columns={columnsOf(report)}
      />
      <Pager offset={first} size={ROWS} total={installations.length} onMove={move} />
    </section>
  );
}
