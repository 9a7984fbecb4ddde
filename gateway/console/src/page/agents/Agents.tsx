import { useQuery } from "@tanstack/preact-query";
import { Link } from "wouter-preact";

import { installations } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Empty } from "../../part/Empty";
import { Page } from "../../part/Page";
import { useScope } from "../../part/scope";
import { text } from "../../text";
import { Charts } from "./Charts";
import { Findings } from "./Findings";
import { Installations } from "./Installations";
import { Kpis } from "./Kpis";
import { Refresh } from "./Refresh";
import { Runs } from "./Runs";
import { fleetReport } from "./queries";
import type { Report } from "./words";

function Content({ report }: { report: Report }) {
  return (
    <>
      <p class="lead">{report.headline}</p>
      <Kpis report={report} />
      <Charts report={report} />
      <Findings findings={report.findings} />
    </>
  );
}

function NoAgent() {
  return (
    <Empty
      action={
        <Link class="button" href="/connect">
          {text.agents.emptyAction}
        </Link>
      }
    >
      {text.agents.empty}
    </Empty>
  );
}

export default function Agents() {
  const report = useQuery(fleetReport());
  const agents = useQuery(installations);
  const mayRefresh = useScope("fleet:write");
  const isNew = agents.data?.total === 0 && report.data?.kpis.runs === 0;
  return (
    <Page title={text.agents.title} actions={<Link href="/agents/budgets">{text.budgets.title}</Link>} wide>
      {!isNew && <Answer query={report}>{(data) => <Content report={data} />}</Answer>}
      <Answer query={agents}>
        {({ items }) =>
          items.length > 0 ? (
            <>
              <Installations installations={items} report={report.data} />
              {mayRefresh && <Refresh />}
            </>
          ) : (
            <NoAgent />
          )
        }
      </Answer>
      {!isNew && <Runs />}
    </Page>
  );
}
