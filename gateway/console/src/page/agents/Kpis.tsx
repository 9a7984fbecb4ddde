import { count, dollars, percent } from "../../api/format";
import { Unknown } from "../../part/Time";
import { agentsText } from "./text";
import type { Report } from "./words";

type Kpi = readonly [string, (kpis: Report["kpis"]) => string | null];

const NAMES = agentsText.kpis;
const usd = (value: number | null) => (value === null ? null : dollars(value));

const KPIS: readonly Kpi[] = [
  [NAMES.runs, (kpis) => count(kpis.runs)],
  [NAMES.opened, (kpis) => count(kpis.pull_requests_opened)],
  [NAMES.merged, (kpis) => count(kpis.pull_requests_merged)],
  [NAMES.cost, (kpis) => usd(kpis.cost_usd)],
  [NAMES.perMerged, (kpis) => usd(kpis.cost_per_merged_pull_request)],
  [NAMES.failures, (kpis) => (kpis.failure_rate === null ? null : percent(kpis.failure_rate))],
];

const day = (time: string) => time.slice(0, 10);

/** The figures of a report, and its period. */
export function Kpis({ report: { period, kpis } }: { report: Report }) {
  return (
    <>
      <p class="small quiet">{agentsText.period(day(period.since), day(period.until))}</p>
      <dl class="kpis">
        {KPIS.map(([name, value]) => (
          <div key={name}>
            <dd class="figure">{value(kpis) ?? <Unknown />}</dd>
            <dt>{name}</dt>
          </div>
        ))}
      </dl>
    </>
  );
}
