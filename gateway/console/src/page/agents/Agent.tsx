/** The agent of a repository: how it is, what it did and what came of it. */
import { useQuery } from "@tanstack/preact-query";
import { Link } from "wouter-preact";

import { absolute, relative } from "../../api/format";
import { installations, interest } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Fact, Facts } from "../../part/Facts";
import { Outside } from "../../part/link/Outside";
import { Page } from "../../part/Page";
import { RunLink } from "../../part/link/RunLink";
import { Actions } from "./Actions";
import { Happened, Papers, type Activity } from "./Activity";
import { Daily } from "./Charts";
import { Findings } from "./Findings";
import { Kpis } from "./Kpis";
import { Questions } from "./Questions";
import { Runs } from "./Runs";
import { activity, fleetReport, newestRun } from "./queries";
import { agentsText } from "./text";
import { AgentState, Outcome, type Installation, type Report } from "./words";

const words = agentsText.of;

/** The newest run as the code host shows it, which is asked for while it goes on. */
function Newest({ repo }: { repo: string }) {
  return (
    <Answer query={useQuery(newestRun(repo))}>
      {({ run_id: id, status, outcome_kind: outcome, html_url: url, as_of: at }) => {
        if (id === null) return <span class="quiet">{words.noRun}</span>;
        return (
          <>
            <RunLink id={id} repo={repo} label={agentsText.run.title(String(id))} /> {outcome ? <Outcome kind={outcome} /> : status}{" "}
            {at && (
              <span class="quiet" title={absolute(new Date(at))}>
                {words.asOf(relative(new Date(at)))}
              </span>
            )}{" "}
            {url && <Outside address={url}>{words.atCodeHost}</Outside>}
          </>
        );
      }}
    </Answer>
  );
}

function InterestLink({ id }: { id: string }) {
  return <Link href={`/interests/${id}`}>{useQuery(interest(id)).data?.name ?? id}</Link>;
}

function About({ installation, report }: { installation: Installation; report: Report }) {
  return (
    <>
      <Fact name={agentsText.columns.agent}>
        {installation.agent} <AgentState installation={installation} agent={report.agents[0]} />
      </Fact>
      {installation.interest_id && (
        <Fact name={words.interest}>
          <InterestLink id={installation.interest_id} />
        </Fact>
      )}
    </>
  );
}

interface ContentProps {
  repo: string;
  installation: Installation | undefined;
  activity: Activity;
}

function Content({ repo, installation, activity: { events, directions } }: ContentProps) {
  return (
    <>
      <Answer query={useQuery(fleetReport(repo))}>
        {(report) => (
          <>
            <Facts>
              {installation && <About installation={installation} report={report} />}
              <Fact name={words.newest}>
                <Newest repo={repo} />
              </Fact>
            </Facts>
            <Kpis report={report} />
            <div class="charts">
              <Daily report={report} />
            </div>
            <Findings findings={report.findings} />
          </>
        )}
      </Answer>
      <Happened events={events} />
      <Papers directions={directions} />
      <Runs repo={repo} />
      <Questions title={words.ask} repo={repo} />
    </>
  );
}

export default function Agent({ repo }: { repo: string }) {
  const known = useQuery(installations).data?.items.filter((each) => each.repo.toLowerCase() === repo.toLowerCase()) ?? [];
  const installation = known.find(({ status }) => status === "active") ?? known[0];
  return (
    <Page title={repo} actions={installation?.status === "active" && <Actions installation={installation} />} wide>
      <Answer query={useQuery(activity(repo))}>{(data) => <Content repo={repo} installation={installation} activity={data} />}</Answer>
    </Page>
  );
}
