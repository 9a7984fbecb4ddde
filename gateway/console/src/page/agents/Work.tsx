/** Why a run ended as it did, which gates its work passed, and what it changed. */
import { useQuery } from "@tanstack/preact-query";

import { spoken } from "../../api/format";
import { Answer } from "../../part/Answer";
import { State, type Tone } from "../../part/State";
import { runAnalysis, runEvidence } from "./queries";
import { agentsText } from "./text";
import type { Run } from "./words";

const words = agentsText.run;

const GATES: Readonly<Record<"passed" | "stopped" | "unknown", Tone>> = { passed: "done", stopped: "failed", unknown: "off" };

/** By rules over its record. */
export function Analysis({ run }: { run: Run }) {
  return (
    <section class="group">
      <h2>{words.why}</h2>
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

/** The names in a member of what a run reported, which is free in its form. */
function namesIn(record: Record<string, unknown>, member: string): string[] {
  const value: unknown = record[member];
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

function Names({ names }: { names: readonly string[] }) {
  return (
    <ul class="evidence">
      {names.map((name) => (
        <li key={name} class="wrap">
          <code>{name}</code>
        </li>
      ))}
    </ul>
  );
}

function Files({ fidelity }: { fidelity: Record<string, unknown> }) {
  const touched = namesIn(fidelity, "files_touched");
  const dropped = namesIn(fidelity, "files_dropped_out_of_scope");
  return (
    <>
      {touched.length > 0 && (
        <section class="group">
          <h2>{words.files}</h2>
          <Names names={touched} />
        </section>
      )}
      {dropped.length > 0 && (
        <>
          <p>{words.dropped}</p>
          <Names names={dropped} />
        </>
      )}
    </>
  );
}

export function Gates({ run }: { run: Run }) {
  return (
    <section class="group">
      <h2>{words.gates}</h2>
      <Answer query={useQuery(runEvidence(run))}>
        {({ gates, fidelity }) => (
          <>
            {gates.length === 0 && <p class="quiet">{words.noGates}</p>}
            <ul>
              {gates.map((gate) => (
                <li key={gate.name}>
                  <State tone={GATES[gate.status]}>{spoken(gate.name)}</State> <span class="quiet">{gate.detail}</span>
                </li>
              ))}
            </ul>
            <Files fidelity={fidelity} />
          </>
        )}
      </Answer>
    </section>
  );
}
