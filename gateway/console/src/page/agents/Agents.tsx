import { useQuery } from "@tanstack/preact-query";
import { Link } from "wouter-preact";

import { installations } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Empty } from "../../part/Empty";
import { Page } from "../../part/Page";
import { useScope } from "../../part/scope";
import { Tabs } from "../../part/Tabs";
import { budgetsText } from "../budgets/text";
import { todayText } from "../today/text";
import { Charts } from "./Charts";
import { Findings } from "./Findings";
import { Installations } from "./Installations";
import { Kpis } from "./Kpis";
import { Refresh } from "./Refresh";
import { Runs } from "./Runs";
import { firstOf, PERIODS, usePeriod, type Days } from "./period";
import { fleetReport } from "./queries";
import { agentsText } from "./text";
import type { Report } from "./words";

const TABS = PERIODS.map((days) => [days, agentsText.periods(days)] as const);

function Content({ report, days }: { report: Report; days: Days }) {
  return (
    <>
      <p class="lead">{report.headline}</p>
      <Kpis report={report} />
      <Charts report={report} days={days} />
      <Findings findings={report.findings} />
    </>
  );
}

function NoAgent() {
  return (
    <Empty
      action={
        <Link class="button" href="/connect">
          {agentsText.emptyAction}
        </Link>
      }
    >
      {agentsText.empty}
    </Empty>
  );
}

export default function Agents() {
  const [days, setDays] = usePeriod();
  const report = useQuery(fleetReport(undefined, firstOf(days)));
  const agents = useQuery(installations);
  const mayRefresh = useScope("fleet:write");
  const isNew = days === PERIODS[0] && agents.data?.total === 0 && report.data?.kpis.runs === 0;
  return (
    <Page
      title={agentsText.title}
      actions={
        <>
          {!isNew && <Tabs label={todayText.period} values={TABS} value={days} onChange={setDays} />}
          <Link class="button" href="/agents/budgets">
            {budgetsText.title}
          </Link>
        </>
      }
      wide
    >
      {!isNew && <Answer query={report}>{(data) => <Content report={data} days={days} />}</Answer>}
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
