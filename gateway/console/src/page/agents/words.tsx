/** How the state of an agent and the outcome of a run are shown. */
import type { Schemas } from "../../api/client";
import { spoken } from "../../api/format";
import { State, type Tone } from "../../part/State";

export type Run = Schemas["Run"];
export type Report = Schemas["FleetReport"];
export type AgentRow = Report["agents"][number];
export type Installation = Schemas["Installation"];

const AGENTS: Readonly<Record<AgentRow["state"], Tone>> = {
  active: "done",
  running: "running",
  failing: "failed",
  idle: "off",
  revoked: "off",
};

export function AgentState({ installation, agent }: { installation: Installation; agent: AgentRow | undefined }) {
  const state = installation.status === "revoked" ? "revoked" : (agent?.state ?? "idle");
  return <State tone={AGENTS[state]}>{state}</State>;
}

const OUTCOMES: Readonly<Record<Schemas["OutcomeKind"], Tone>> = {
  pull_request: "done",
  issue: "done",
  branch: "done",
  skipped: "off",
  failed: "failed",
  running: "running",
  other: "off",
};

export function Outcome({ kind }: { kind: Schemas["OutcomeKind"] }) {
  return <State tone={OUTCOMES[kind]}>{spoken(kind)}</State>;
}

/** The sum of what is known of its costs; null: nothing is known. */
export function costOf({ timeline }: AgentRow): number | null {
  const known = timeline.map(({ cost_usd: cost }) => cost).filter((cost) => cost !== null);
  return known.length === 0 ? null : known.reduce((sum, cost) => sum + cost, 0);
}
