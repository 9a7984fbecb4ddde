/** The way of an experiment from its paper to its decision, as a line whose stops lead to their pages. */
import { useQuery } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import type { Schemas } from "../../api/client";
import { Answer, MissingParts } from "../../part/Answer";
import { Button } from "../../part/form/Button";
import { Time } from "../../part/Time";
import { Download } from "../../part/Download";
import { evidence } from "./queries";
import { ruleOf, STOPS } from "./stops";
import { experimentsText } from "./text";

type Evidence = Schemas["Evidence"];
type Node = Schemas["EvidenceNode"];
type Kind = Node["kind"];

const WORDS = experimentsText.way;

/** From the paper to the decision. */
const ORDER: readonly Kind[] = [
  "paper",
  "recommendation",
  "selection",
  "run",
  "implementation",
  "pull_request",
  "issue",
  "eval_build",
  "eval_run",
  "analysis",
  "decision",
];

const SHOWN = 3; // of a kind

const RULES: Readonly<Partial<Record<string, string>>> = WORDS.rules;

function Stop({ node, graph }: { node: Node; graph: Evidence }) {
  const Content = STOPS[node.kind];
  const rule = ruleOf(node, graph);
  return (
    <li>
      <span class="quiet">
        {WORDS.kinds[node.kind]} {node.at && <Time at={node.at} />} ·
      </span>{" "}
      <Content node={node} graph={graph} />
      {rule !== null && <span class="quiet"> {WORDS.inferred(RULES[rule] ?? rule)}</span>}
    </li>
  );
}

/** The papers that the experiment is about; others were only considered. */
function isOnTheWay(node: Node, graph: Evidence): boolean {
  return node.kind !== "paper" || graph.edges.some((edge) => edge.from === graph.root && edge.to === node.id);
}

function Line({ graph }: { graph: Evidence }) {
  return (
    <ol class="timeline" aria-label={WORDS.title}>
      {ORDER.map((kind) => {
        const nodes = graph.nodes.filter((node) => node.kind === kind && isOnTheWay(node, graph));
        return [
          ...nodes.slice(0, SHOWN).map((node) => <Stop key={node.id} node={node} graph={graph} />),
          nodes.length > SHOWN && (
            <li key={kind} class="quiet">
              {WORDS.more(nodes.length - SHOWN, WORDS.kinds[kind])}
            </li>
          ),
        ];
      })}
    </ol>
  );
}

type At = "decision" | undefined;

/** What is shown, as files. */
function Files({ id, at }: { id: string; at: At }) {
  const path = `/api/v1.0/experiments/${id}/evidence?${at ? `at=${at}&` : ""}format=`;
  return (
    <>
      <Download path={`${path}markdown`} name={`evidence-${id}.md`} type="text/markdown" label={WORDS.page} />
      <Download path={`${path}prov`} name={`evidence-${id}.json`} type="application/json" label={WORDS.provenance} />
    </>
  );
}

/** Whether it is shown as it is now, or as it was kept. */
function Moment({ at, choose }: { at: At; choose: (at: At) => void }) {
  return (
    <Button pressed={at !== undefined} onClick={() => choose(at ? undefined : "decision")}>
      {WORDS.atDecision}
    </Button>
  );
}

export function Way({ id, isDecided }: { id: string; isDecided: boolean }) {
  const [at, choose] = useState<At>(undefined);
  return (
    <section class="group">
      <h2>{WORDS.title}</h2>
      <div class="actions">
        {isDecided && <Moment at={at} choose={choose} />}
        <Files id={id} at={at} />
      </div>
      <Answer query={useQuery(evidence(id, at))}>
        {(graph) => (
          <>
            {graph.snapshot && (
              <p class="small quiet">
                {WORDS.kept} <Time at={graph.snapshot.at} />
              </p>
            )}
            <p>{graph.summary.sentences.join(" ")}</p>
            <Line graph={graph} />
            {graph.truncated && <p class="small quiet">{WORDS.truncated}</p>}
            <MissingParts missing={graph.missing} hidden={graph.hidden} />
          </>
        )}
      </Answer>
    </section>
  );
}
