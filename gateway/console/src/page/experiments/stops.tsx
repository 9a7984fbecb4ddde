/** What the stops on the way of an experiment say, and where they lead. */
import type { ComponentChildren } from "preact";
import { Link } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { dollars, score } from "../../api/format";
import { Outside } from "../../part/link/Outside";
import { RunLink } from "../../part/link/RunLink";
import { text } from "../../text";

type Evidence = Schemas["Evidence"];
type Node = Schemas["EvidenceNode"];

const WORDS = text.experiments.way;

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

function Run({ node }: { node: Node }) {
  const cost = amount(node, "cost_usd");
  const [repo, id] = [said(node, "repo"), said(node, "run_id") ?? ""];
  return (
    <>
      <RunLink id={id} repo={repo} label={`${repo ?? ""} ${id}`} />, {said(node, "status") ?? WORDS.unknown}
      {cost !== null && `, ${dollars(cost)}`}
    </>
  );
}

function Recommendation({ node }: { node: Node }) {
  const interest = said(node, "interest_id");
  if (!interest) return <>{WORDS.deleted}</>;
  return (
    <>
      <Link href={`/interests/${interest}`}>{said(node, "interest_name")}</Link>, {score(amount(node, "score") ?? 0)}
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
            <PaperLink id={edge.to.replace("paper:", "")} title={titleOf(graph, edge.to)} />: {reason ?? gate}
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

function titleOf(graph: Evidence, id: string): string | null {
  const node = graph.nodes.find((each) => each.id === id);
  return node ? said(node, "title") : null;
}

function PaperLink({ id, title }: { id: string; title: string | null }) {
  return <Link href={`/papers/${encodeURIComponent(id)}`}>{title ?? id}</Link>;
}

type Words = (props: { node: Node; graph: Evidence }) => ComponentChildren;

/** What each stop says. */
export const STOPS: Readonly<Record<Node["kind"], Words>> = {
  paper: ({ node }) => <PaperLink id={said(node, "arxiv_id") ?? ""} title={said(node, "title")} />,
  recommendation: Recommendation,
  selection: Selection,
  run: Run,
  implementation: ({ node }) => <Outside address={node.url}>{said(node, "repo") ?? said(node, "branch") ?? WORDS.reported}</Outside>,
  pull_request: ({ node }) => <Opened node={node} />,
  issue: ({ node }) => <Opened node={node} />,
  experiment: ({ node }) => said(node, "name"),
  eval_build: ({ node }) => <Link href={`/evaluations/builds/${node.id}`}>{said(node, "status") ?? WORDS.unknown}</Link>,
  eval_run: ({ node }) => <Link href={`/evaluations/runs/${node.id}`}>{said(node, "status") ?? WORDS.unknown}</Link>,
  analysis: ({ node }) => said(node, "text"),
  decision: ({ node }) => [said(node, "outcome") ?? said(node, "status"), said(node, "decision")].filter(Boolean).join(": "),
};

function Opened({ node }: { node: Node }) {
  return (
    <>
      <Outside address={node.url}>{node.id.replace(/^https?:\/\/[^/]+\//, "")}</Outside>, {said(node, "stage") ?? WORDS.unknown}
    </>
  );
}
