import { useQuery } from "@tanstack/preact-query";
import { Link } from "wouter-preact";

import { count, dollars, percent } from "../../api/format";
import type { Schemas } from "../../api/client";
import { fleetReport, installations } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Empty } from "../../part/Empty";
import { Page } from "../../part/Page";
import { State, type Tone } from "../../part/State";
import { Unknown } from "../../part/Time";
import { text } from "../../text";
import { Charts } from "./Charts";
import { Installations } from "./Installations";
import { Runs } from "./Runs";

type Report = Schemas["FleetReport"];
type Severity = Schemas["Severity"];

const SEVERITY: Readonly<Record<Severity, Tone>> = { info: "off", warning: "waits", critical: "failed" };

type Kpi = readonly [string, (kpis: Report["kpis"]) => string | null];

const KPIS: readonly Kpi[] = [
  [text.agents.kpis.runs, (kpis) => count(kpis.runs)],
  [text.agents.kpis.opened, (kpis) => count(kpis.pull_requests_opened)],
  [text.agents.kpis.merged, (kpis) => count(kpis.pull_requests_merged)],
  [text.agents.kpis.cost, (kpis) => (kpis.cost_usd === null ? null : dollars(kpis.cost_usd))],
  [text.agents.kpis.perMerged, (kpis) => (kpis.cost_per_merged_pull_request === null ? null : dollars(kpis.cost_per_merged_pull_request))],
  [text.agents.kpis.failures, (kpis) => (kpis.failure_rate === null ? null : percent(kpis.failure_rate))],
];

function Kpis({ report }: { report: Report }) {
  return (
    <dl class="kpis">
      {KPIS.map(([name, value]) => (
        <div key={name}>
          <dd class="figure">{value(report.kpis) ?? <Unknown />}</dd>
          <dt>{name}</dt>
        </div>
      ))}
    </dl>
  );
}

function Findings({ report }: { report: Report }) {
  return (
    <section class="group">
      <h2>{text.agents.findings}</h2>
      {report.findings.length === 0 && <p class="quiet">{text.agents.noFindings}</p>}
      <ul class="findings">
        {report.findings.map((finding) => (
          <li key={`${finding.kind} ${finding.repo ?? ""}`}>
            <State tone={SEVERITY[finding.severity]}>{finding.text}</State>
          </li>
        ))}
      </ul>
    </section>
  );
}

function day(time: string): string {
  return time.slice(0, 10);
}

function Content({ report }: { report: Report }) {
  return (
    <>
      <p class="lead">{report.headline}</p>
      <p class="small quiet">{text.agents.period(day(report.period.since), day(report.period.until))}</p>
      <Kpis report={report} />
      <Charts report={report} />
      <Findings report={report} />
    </>
  );
}

export default function Agents() {
  const report = useQuery(fleetReport);
  return (
    <Page title={text.agents.title} actions={<Link href="/agents/budgets">{text.budgets.title}</Link>} wide>
      <Answer query={report}>{(data) => <Content report={data} />}</Answer>
      <Answer query={useQuery(installations)}>
        {({ items }) =>
          items.length > 0 ? (
            <Installations installations={items} agents={report.data?.agents ?? []} />
          ) : (
            <Empty
              action={
                <Link class="button" href="/interests">
                  {text.agents.emptyAction}
                </Link>
              }
            >
              {text.agents.empty}
            </Empty>
          )
        }
      </Answer>
      <Runs />
    </Page>
  );
}
