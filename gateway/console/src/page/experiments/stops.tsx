/** What the stops on the way of an experiment say, and where they lead. */
import type { ComponentChildren } from "preact";
import { Link } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { dollars, score, spoken } from "../../api/format";
import { Outside } from "../../part/link/Outside";
import { RunLink } from "../../part/link/RunLink";
import { experimentsText } from "./text";

type Evidence = Schemas["Evidence"];
type Node = Schemas["EvidenceNode"];

const WORDS = experimentsText.way;

/** A member of `data`, which is free in its form. */
function said(node: Node, name: string): string | null {
  const data: Record<string, unknown> = node.data;
  const value = data[name];
  return typeof value === "string" || typeof value === "number" ? String(value) : null;
}

function amount(node: Node, name: string): number | null {
  const data: Record<string, unknown> = node.data;
  const value = data[name];
  return typeof value === "number" ? value : null;
}

/** What to call it. Evidence that was kept by an earlier version has no labels. */
const labelOf = (node: Node): string => node.label ?? node.id;

function Run({ node }: { node: Node }) {
  const cost = amount(node, "cost_usd");
  return (
    <>
      <RunLink id={said(node, "run_id") ?? ""} repo={said(node, "repo")} label={labelOf(node)} />,{" "}
      {spoken(said(node, "status") ?? WORDS.unknown)}
      {cost !== null && `, ${dollars(cost)}`}
    </>
  );
}

function Recommendation({ node }: { node: Node }) {
  const interest = said(node, "interest_id");
  if (!interest) return <>{WORDS.deleted}</>;
  return (
    <>
      {WORDS.recommendedFor} <Link href={`/interests/${interest}`}>{said(node, "interest_name")}</Link>, {score(amount(node, "score") ?? 0)}
    </>
  );
}

/** What a run passed over, and why. */
function Selection({ node, graph }: { node: Node; graph: Evidence }) {
  const passed = graph.edges
    .filter((edge) => edge.from === node.id && edge.kind === "considered")
    .map((edge) => ({ edge, ...reasonOf(edge) }));
  const rejected = passed.filter(({ isAccepted }) => !isAccepted);
  if (rejected.length === 0) return <>{WORDS.nothingPassed}</>;
  return (
    <details>
      <summary>{WORDS.passed(rejected.length + (amount(node, "more") ?? 0))}</summary>
      <ul>
        {rejected.map(({ edge, gate, reason }) => (
          <li key={edge.to}>
            <PaperLink id={edge.to.replace("paper:", "")} label={paperLabel(graph, edge.to)} />: {reason ?? gate}
          </li>
        ))}
      </ul>
    </details>
  );
}

function reasonOf(edge: Schemas["EvidenceEdge"]) {
  const data: Record<string, unknown> = edge.data ?? {};
  return {
    isAccepted: data.accepted === true,
    gate: typeof data.gate === "string" ? data.gate : WORDS.unknown,
    reason: typeof data.reason === "string" ? data.reason : null,
  };
}

function paperLabel(graph: Evidence, id: string): string {
  const node = graph.nodes.find((each) => each.id === id);
  return node ? labelOf(node) : id;
}

function PaperLink({ id, label }: { id: string; label: string }) {
  return <Link href={`/papers/${encodeURIComponent(id)}`}>{label}</Link>;
}

type Words = (props: { node: Node; graph: Evidence }) => ComponentChildren;

/** What each stop says. */
export const STOPS: Readonly<Record<Node["kind"], Words>> = {
  paper: ({ node }) => <PaperLink id={said(node, "arxiv_id") ?? ""} label={labelOf(node)} />,
  recommendation: Recommendation,
  selection: Selection,
  run: Run,
  implementation: ({ node }) => (
    <>
      <Outside address={node.url}>{labelOf(node)}</Outside>, {said(node, "pipeline_status") ?? WORDS.reported}
    </>
  ),
  pull_request: ({ node }) => <Opened node={node} />,
  issue: ({ node }) => <Opened node={node} />,
  experiment: ({ node }) => labelOf(node),
  eval_build: ({ node }) => <Evaluated node={node} page="builds" />,
  eval_run: ({ node }) => <Evaluated node={node} page="runs" />,
  analysis: ({ node }) => said(node, "text"),
  decision: ({ node }) => [said(node, "outcome") ?? said(node, "status"), said(node, "decision")].filter(Boolean).join(": "),
};

function Evaluated({ node, page }: { node: Node; page: string }) {
  return (
    <>
      <Link href={`/evaluations/${page}/${node.id}`}>{labelOf(node)}</Link>, {said(node, "status") ?? WORDS.unknown}
    </>
  );
}

/** A merge that was reverted stays one. */
function Opened({ node }: { node: Node }) {
  const isReverted = said(node, "reverted_at") !== null && said(node, "reapplied_at") === null;
  return (
    <>
      <Outside address={node.url}>{node.id.replace(/^https?:\/\/[^/]+\//, "")}</Outside>, {said(node, "stage") ?? WORDS.unknown}
      {isReverted && `, ${WORDS.reverted}`}
    </>
  );
}

/** By which rule the stop belongs to the way, where no record says that it does; null: one does. A dispatch is inferred of its run, all
 * else of what came later. */
export function ruleOf(node: Node, graph: Evidence): string | null {
  const edge = graph.edges.find(({ basis, kind, from, to }) => basis === "inferred" && (kind === "ran" ? to : from) === node.id);
  const data: Record<string, unknown> = edge?.data ?? {};
  return typeof data.rule === "string" ? data.rule : null;
}
