import { Link } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { RunLink } from "../../part/link/RunLink";
import { State, type Tone } from "../../part/State";
import { text } from "../../text";

type Finding = Schemas["Finding"];

const SEVERITY: Readonly<Record<Schemas["Severity"], Tone>> = { info: "off", warning: "waits", critical: "failed" };
const RUNS_SHOWN = 10;

/** The runs that a finding was computed from, as far as it names them. */
function runsOf(finding: Finding): (string | number)[] {
  const evidence: Record<string, unknown> = finding.evidence;
  const ids: unknown[] = Array.isArray(evidence.run_ids) ? evidence.run_ids : [evidence.run_id];
  return ids.filter((id) => typeof id === "string" || typeof id === "number");
}

function Evidence({ finding }: { finding: Finding }) {
  const ids = runsOf(finding);
  if (ids.length === 0)
    return finding.repo ? (
      <Link class="small" href={`/agents/${finding.repo}`}>
        {finding.repo}
      </Link>
    ) : (
      <span class="small quiet">{text.agents.evidenceOfPeriod}</span>
    );
  return (
    <span class="small quiet">
      {text.agents.evidence}{" "}
      {ids.slice(0, RUNS_SHOWN).map((id) => (
        <>
          <RunLink key={id} id={id} repo={finding.repo} />{" "}
        </>
      ))}
    </span>
  );
}

/** What stands out, and by which runs that is seen. */
export function Findings({ findings }: { findings: readonly Finding[] }) {
  return (
    <section class="group">
      <h2>{text.agents.findings}</h2>
      {findings.length === 0 && <p class="quiet">{text.agents.noFindings}</p>}
      <ul class="findings">
        {findings.map((finding) => (
          <li key={`${finding.kind} ${finding.text}`}>
            <State tone={SEVERITY[finding.severity]}>{finding.text}</State> <Evidence finding={finding} />
          </li>
        ))}
      </ul>
    </section>
  );
}
