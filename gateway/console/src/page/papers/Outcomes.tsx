/** What became of a paper in this account. */
import { useQuery } from "@tanstack/preact-query";
import { Link } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { dollars, score, spoken } from "../../api/format";
import { Answer, MissingParts } from "../../part/Answer";
import { Outside } from "../../part/link/Outside";
import { RunLink } from "../../part/link/RunLink";
import { State, type Tone } from "../../part/State";
import { Table, type Column } from "../../part/Table";
import { Time, Unknown } from "../../part/Time";
import { outcomes } from "./queries";
import { papersText } from "./text";

type Outcomes = Schemas["PaperOutcomes"];
type Verdict = Schemas["Verdict"];

const WORDS = papersText.outcomes;

const TONES: Readonly<Record<Verdict, Tone>> = { worked: "done", failed: "failed", mixed: "waits", pending: "running", untried: "off" };

function VerdictState({ verdict }: { verdict: Verdict | null }) {
  if (verdict === null) return <State tone="off">{WORDS.unknown}</State>;
  return <State tone={TONES[verdict]}>{WORDS.verdicts[verdict]}</State>;
}

const EXPERIMENTS: readonly Column<Outcomes["experiments"][number]>[] = [
  { name: WORDS.experiment, cell: (row) => <Link href={`/experiments/${row.experiment_id}`}>{row.name}</Link> },
  { name: WORDS.verdict, cell: (row) => <VerdictState verdict={row.verdict} /> },
  { name: WORDS.decision, cell: (row) => row.decision ?? <Unknown /> },
  { name: WORDS.decided, cell: (row) => <Time at={row.decided_at} /> },
];

const PULL_REQUESTS: readonly Column<Outcomes["pull_requests"][number]>[] = [
  { name: WORDS.pullRequest, cell: (row) => <Outside address={row.url} /> },
  { name: WORDS.stage, cell: (row) => (row.reverted_at && !row.reapplied_at ? WORDS.reverted(row.stage) : row.stage) },
  { name: WORDS.verdict, cell: (row) => (row.verdict ? <VerdictState verdict={row.verdict} /> : WORDS.ofExperiment) },
  { name: WORDS.closed, cell: (row) => <Time at={row.closed_at} /> },
];

const RUNS: readonly Column<Outcomes["runs"][number]>[] = [
  { name: WORDS.run, cell: (row) => <RunLink id={row.run_id} repo={row.repo} /> },
  { name: WORDS.repo, cell: (row) => row.repo },
  { name: WORDS.status, cell: (row) => (row.status ? spoken(row.status) : <Unknown />) },
  { name: WORDS.cost, figure: true, cell: (row) => (row.cost_usd === null ? <Unknown /> : dollars(row.cost_usd)) },
  { name: WORDS.when, cell: (row) => <Time at={row.at} /> },
];

const REJECTED: readonly Column<Outcomes["rejected"][number]>[] = [
  { name: WORDS.repo, cell: (row) => row.repo },
  { name: WORDS.gate, cell: (row) => row.gate },
  { name: WORDS.reason, cell: (row) => row.reason ?? <Unknown /> },
  { name: WORDS.when, cell: (row) => <Time at={row.at} /> },
];

const RECOMMENDED: readonly Column<Outcomes["recommended"][number]>[] = [
  { name: WORDS.interest, cell: (row) => <Link href={`/interests/${row.interest_id}`}>{row.interest_name}</Link> },
  { name: WORDS.score, figure: true, cell: (row) => score(row.score) },
  { name: WORDS.rated, cell: (row) => row.signals.map(({ signal }) => signal).join(", ") || <Unknown /> },
  { name: WORDS.when, cell: (row) => <Time at={row.at} /> },
];

/** A table of what there is; nothing where there is nothing. */
function List<Row>({
  title,
  columns,
  rows,
  keyOf,
}: {
  title: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
}) {
  if (rows.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <Table label={title} columns={columns} rows={rows} rowKey={keyOf} />
    </>
  );
}

function Content({ answer }: { answer: Outcomes }) {
  return (
    <>
      <p>
        <VerdictState verdict={answer.verdict} />
        {answer.cost_usd !== null && <span class="quiet"> {WORDS.spent(dollars(answer.cost_usd), answer.runs_with_cost ?? 0)}</span>}
      </p>
      {answer.evaluations.runs > 0 && <p class="quiet">{WORDS.evaluations(answer.evaluations.runs, answer.evaluations.failed)}</p>}
      <List title={WORDS.experiments} columns={EXPERIMENTS} rows={answer.experiments} keyOf={(row) => row.experiment_id} />
      <List title={WORDS.pullRequests} columns={PULL_REQUESTS} rows={answer.pull_requests} keyOf={(row) => row.url} />
      <List title={WORDS.runs} columns={RUNS} rows={answer.runs} keyOf={(row) => row.run} />
      <List title={WORDS.rejected} columns={REJECTED} rows={answer.rejected} keyOf={(row) => row.run} />
      <List title={WORDS.recommended} columns={RECOMMENDED} rows={answer.recommended} keyOf={(row) => row.recommendation_id} />
      {answer.truncated && <p class="small quiet">{WORDS.truncated}</p>}
      <MissingParts missing={answer.missing} hidden={answer.hidden} />
    </>
  );
}

export function Outcomes({ id }: { id: string }) {
  return (
    <section class="group">
      <h2>{WORDS.title}</h2>
      <Answer query={useQuery(outcomes(id))}>{(answer) => <Content answer={answer} />}</Answer>
    </section>
  );
}
