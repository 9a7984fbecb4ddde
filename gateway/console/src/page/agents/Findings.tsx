import { Link } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { Few } from "../../part/fold/Few";
import { Outside } from "../../part/link/Outside";
import { RunLink } from "../../part/link/RunLink";
import { State, type Tone } from "../../part/State";
import { agentsText } from "./text";

type Finding = Schemas["Finding"];

const SEVERITY: Readonly<Record<Schemas["Severity"], Tone>> = { info: "off", warning: "waits", critical: "failed" };
const RUNS_SHOWN = 10;
const FINDINGS_SHOWN = 8; // the gravest come first

/** The runs that a finding was computed from, as far as it names them. */
function runsOf(finding: Finding): (string | number)[] {
  const evidence: Record<string, unknown> = finding.evidence;
  const ids: unknown[] = Array.isArray(evidence.run_ids) ? evidence.run_ids : [evidence.run_id];
  return ids.filter((id) => typeof id === "string" || typeof id === "number");
}

/** What it is about at the code host, such as a pull request. */
function Work({ finding }: { finding: Finding }) {
  const evidence: Record<string, unknown> = finding.evidence;
  return typeof evidence.url === "string" ? <Outside address={evidence.url} /> : null;
}

function Evidence({ finding }: { finding: Finding }) {
  const ids = runsOf(finding);
  if (ids.length === 0)
    return finding.repo ? (
      <Link class="small" href={`/agents/${finding.repo}`}>
        {finding.repo}
      </Link>
    ) : (
      <span class="small quiet">{agentsText.evidenceOfPeriod}</span>
    );
  return (
    <span class="small quiet">
      {agentsText.evidence}{" "}
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
      <h2>{agentsText.findings}</h2>
      {findings.length === 0 && <p class="quiet">{agentsText.noFindings}</p>}
      <Few rows={findings} shown={FINDINGS_SHOWN}>
        {(rows) => (
          <ul class="findings">
            {rows.map((finding) => (
              <li key={JSON.stringify(finding)}>
                <State tone={SEVERITY[finding.severity]}>{finding.text}</State> <Work finding={finding} /> <Evidence finding={finding} />
              </li>
            ))}
          </ul>
        )}
      </Few>
    </section>
  );
}
