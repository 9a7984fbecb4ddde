import { useQuery } from "@tanstack/preact-query";
import { Link } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { count, dollars, duration, safeLink } from "../../api/format";
import { runAnalysis, runEvidence } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Dialog } from "../../part/Dialog";
import { Fact, Facts } from "../../part/Facts";
import { State, type Tone } from "../../part/State";
import { Time, Unknown } from "../../part/Time";
import { text } from "../../text";
import { Questions } from "./Questions";

type Run = Schemas["Run"];
type Gate = "passed" | "stopped" | "unknown";

const words = text.agents.run;

const OUTCOMES: Readonly<Record<Schemas["OutcomeKind"], Tone>> = {
  pull_request: "done",
  issue: "done",
  branch: "done",
  skipped: "off",
  failed: "failed",
  running: "running",
  other: "off",
};

function Work({ run }: { run: Run }) {
  const address = safeLink(run.artifact_url);
  if (!address) return <Unknown />;
  return (
    <a href={address} rel="noopener noreferrer" target="_blank">
      {address.replace(/^https?:\/\/[^/]+\//, "")}
    </a>
  );
}

function tokensOf({ input_tokens: input, output_tokens: output }: Run): string | null {
  return typeof input === "number" || typeof output === "number" ? count((input ?? 0) + (output ?? 0)) : null;
}

function About({ run }: { run: Run }) {
  const took = run.started_at && run.finished_at ? Date.parse(run.finished_at) - Date.parse(run.started_at) : null;
  return (
    <Facts>
      <Fact name={words.outcome}>
        <State tone={OUTCOMES[run.outcome_kind]}>{run.outcome_kind}</State> <span class="quiet">{run.status}</span>
      </Fact>
      <Fact name={words.work}>
        <Work run={run} />
      </Fact>
      <Fact name={words.paper}>
        {run.arxiv_id ? <Link href={`/papers/${encodeURIComponent(run.arxiv_id)}`}>{run.arxiv_id}</Link> : <Unknown />}
      </Fact>
      <Fact name={words.agent}>{[run.agent, run.model].filter(Boolean).join(", ") || <Unknown />}</Fact>
      <Fact name={words.cost}>{typeof run.cost_usd === "number" ? dollars(run.cost_usd) : <Unknown />}</Fact>
      <Fact name={words.tokens}>{tokensOf(run) ?? <Unknown />}</Fact>
      <Fact name={words.started}>
        <Time at={run.started_at} />
      </Fact>
      <Fact name={words.took}>{took === null ? <Unknown /> : duration(took)}</Fact>
    </Facts>
  );
}

/** Why it ended as it did, by rules over its record. */
function Analysis({ run }: { run: Run }) {
  return (
    <section>
      <h3>{words.why}</h3>
      <Answer query={useQuery(runAnalysis(run))}>
        {(analysis) => (
          <>
            <p>{analysis.cause}</p>
            <ul class="evidence">
              {analysis.evidence.map((line) => (
                <li key={line} class="quiet wrap">
                  {line}
                </li>
              ))}
            </ul>
            {analysis.suggested_next_step && <p>{words.next(analysis.suggested_next_step)}</p>}
          </>
        )}
      </Answer>
    </section>
  );
}

const GATES: Readonly<Record<Gate, Tone>> = { passed: "done", stopped: "failed", unknown: "off" };

function Gates({ run }: { run: Run }) {
  return (
    <section>
      <h3>{words.gates}</h3>
      <Answer query={useQuery(runEvidence(run))}>
        {({ gates }) => (
          <>
            {gates.length === 0 && <p class="quiet">{words.noGates}</p>}
            <ul>
              {gates.map((gate) => (
                <li key={gate.name}>
                  <State tone={GATES[gate.status]}>{gate.name}</State> <span class="quiet">{gate.detail}</span>
                </li>
              ))}
            </ul>
          </>
        )}
      </Answer>
    </section>
  );
}

/** A run: what came of it, why, and which gates its work passed. */
export function RunDetail({ run, onClose }: { run: Run; onClose: () => void }) {
  return (
    <Dialog title={words.title(String(run.run_id))} side onClose={onClose}>
      <p class="dialog-lead">{run.repo ?? run.target_repo}</p>
      <About run={run} />
      {run.outcome_kind !== "running" && (
        <>
          <Analysis run={run} />
          <Gates run={run} />
        </>
      )}
      <Questions run={run} />
    </Dialog>
  );
}
