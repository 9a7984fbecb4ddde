import { useQuery } from "@tanstack/preact-query";

import type { Schemas } from "../../api/client";
import { count, dollars } from "../../api/format";
import { funnel } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Chart } from "../../part/Chart";
import { Measures } from "../../part/Measures";
import type { Days } from "./period";
import { agentsText } from "./text";

type Report = Schemas["FleetReport"];

const DAY_MS = 86_400_000;
const WORDS = agentsText.charts;

/** The days of the period, in UTC: `2026-11-25`. */
function daysOf({ since, until }: Report["period"]): string[] {
  const days = Math.round((Date.parse(until) - Date.parse(since)) / DAY_MS) + 1;
  return Array.from({ length: days }, (_, index) => new Date(Date.parse(since) + index * DAY_MS).toISOString().slice(0, 10));
}

function stepsOf(report: Report, day: string) {
  return report.agents.flatMap(({ timeline }) => timeline.filter(({ since }) => since === day));
}

/** What all agents have cost that day; null: they ran, and none reported it. */
function costOf(report: Report, day: string): number | null {
  const ran = stepsOf(report, day).filter(({ runs }) => runs > 0);
  const known = ran.map(({ cost_usd }) => cost_usd).filter((cost) => cost !== null);
  if (ran.length > 0 && known.length === 0) return null;
  return known.reduce((sum, cost) => sum + cost, 0);
}

function mergedOf(report: Report, day: string): number {
  return stepsOf(report, day).reduce((sum, { merged }) => sum + merged, 0);
}

/** From papers to merged work. */
function Funnel({ report, papers }: { report: Report; papers: Schemas["RecommendationFunnel"] }) {
  const stages = [
    [WORDS.recommended, papers.recommended],
    [WORDS.liked, papers.liked],
    [WORDS.opened, report.kpis.pull_requests_opened],
    [WORDS.merged, report.kpis.pull_requests_merged],
  ] as const;
  return (
    <figure class="chart">
      <figcaption>{WORDS.funnel}</figcaption>
      <Measures
        label={WORDS.funnel}
        full={Math.max(...stages.map(([, value]) => value))}
        measures={stages.map(([name, value]) => ({ name, value, text: count(value) }))}
      />
    </figure>
  );
}

/** Cost and merged work of each day of the period, in UTC. */
export function Daily({ report }: { report: Report }) {
  const days = daysOf(report.period);
  return (
    <>
      <Chart title={WORDS.cost} points={days.map((day) => ({ name: day, value: costOf(report, day) }))} format={dollars} />
      <Chart title={WORDS.mergedDaily} points={days.map((day) => ({ name: day, value: mergedOf(report, day) }))} format={count} />
    </>
  );
}

/** The period in pictures. */
export function Charts({ report, days }: { report: Report; days: Days }) {
  const papers = useQuery(funnel(Number(days)));
  return (
    <div class="charts">
      <Daily report={report} />
      <Answer query={papers}>{(data) => <Funnel report={report} papers={data} />}</Answer>
    </div>
  );
}
