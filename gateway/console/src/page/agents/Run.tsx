/** A run: what came of it, why, what it chose from, and which gates its work passed. */
import { useQuery } from "@tanstack/preact-query";
import { Link, useSearchParams } from "wouter-preact";

import { count, date, dollars, duration, spoken } from "../../api/format";
import { Answer } from "../../part/Answer";
import { Empty } from "../../part/Empty";
import { Fact, Facts } from "../../part/Facts";
import { Outside } from "../../part/link/Outside";
import { Page } from "../../part/Page";
import { RunLink } from "../../part/link/RunLink";
import { Time, Unknown } from "../../part/Time";
import { budgetsText } from "../budgets/text";
import { Questions } from "./Questions";
import { PaperLink, useTitles } from "./papers";
import { Selection } from "./Selection";
import { runsNamed } from "./queries";
import { agentsText } from "./text";
import { Analysis, Gates } from "./Work";
import { Outcome, type Run } from "./words";

const words = agentsText.run;

const repoOf = ({ repo, target_repo }: Run) => repo ?? target_repo ?? "";

/** What its status says beyond its outcome: of `pr_opened`, which is a pull request, `opened`. */
function statusOf({ status, outcome_kind: kind }: Run): string {
  const words = spoken(status ?? "");
  return words.startsWith(spoken(kind)) ? words.slice(spoken(kind).length).trim() : words;
}

function tokensOf({ input_tokens: input, output_tokens: output }: Run): string | null {
  return typeof input === "number" || typeof output === "number" ? count((input ?? 0) + (output ?? 0)) : null;
}

/** What it cost, and how that is known where the run did not tell it: by its tokens, and prices of a day. */
function costOf({ spend_usd: usd, spend_basis: basis, price_date: priced }: Run): string | null {
  if (typeof usd !== "number") return null;
  const known = basis && basis !== "reported" && budgetsText.facts[basis];
  return [dollars(usd), known, known && priced && words.priced(date(priced))].filter(Boolean).join(", ");
}

function About({ run }: { run: Run }) {
  const took = run.started_at && run.finished_at ? Date.parse(run.finished_at) - Date.parse(run.started_at) : null;
  const titles = useTitles([run.arxiv_id]);
  return (
    <Facts>
      <Fact name={words.outcome}>
        <Outcome kind={run.outcome_kind} /> <span class="quiet">{statusOf(run)}</span>
      </Fact>
      <Fact name={agentsText.columns.repo}>
        <Link href={`/agents/${repoOf(run)}`}>{repoOf(run)}</Link>
      </Fact>
      <Fact name={words.work}>
        <Outside address={run.artifact_url} />
      </Fact>
      <Fact name={words.paper}>
        <PaperLink id={run.arxiv_id} titles={titles} />
      </Fact>
      <Fact name={words.agent}>{[run.agent, run.model].filter(Boolean).join(", ") || <Unknown />}</Fact>
      <Fact name={words.cost}>{costOf(run) ?? <Unknown />}</Fact>
      <Fact name={words.tokens}>{tokensOf(run) ?? <Unknown />}</Fact>
      <Fact name={words.started}>
        <Time at={run.started_at} />
      </Fact>
      <Fact name={words.took}>{took === null ? <Unknown /> : duration(took)}</Fact>
    </Facts>
  );
}

function Content({ run }: { run: Run }) {
  return (
    <>
      <About run={run} />
      {run.outcome_kind !== "running" && (
        <>
          <Analysis run={run} />
          <Selection run={run} />
          <Gates run={run} />
        </>
      )}
      <Questions title={agentsText.questions.title} repo={repoOf(run)} run={run.run_id} />
    </>
  );
}

/** The runs of several repositories that have the same id. */
function Several({ runs }: { runs: readonly Run[] }) {
  return (
    <>
      <p>{words.several}</p>
      <ul>
        {runs.map((run) => (
          <li key={repoOf(run)}>
            <RunLink id={run.run_id} repo={repoOf(run)} label={repoOf(run)} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Missing() {
  return <Empty action={<Link href="/agents">{words.all}</Link>}>{words.missing}</Empty>;
}

/** The address may name its repository, too, and an id that is no segment of a path (RunLink). */
export default function RunPage({ id: segment }: { id: string }) {
  const [address] = useSearchParams();
  const repo = address.get("repo") ?? undefined;
  const id = address.get("run_id") ?? segment;
  return (
    <Page title={words.title(id)}>
      <Answer query={useQuery(runsNamed(id, repo))}>
        {({ items }) => {
          const [run] = items;
          if (!run) return <Missing />;
          return items.length === 1 ? <Content run={run} /> : <Several runs={items} />;
        }}
      </Answer>
    </Page>
  );
}
