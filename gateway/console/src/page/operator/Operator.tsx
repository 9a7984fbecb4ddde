/** How the service itself does: its asynchronous work, what it has given up, how papers arrive. */
import { useQuery } from "@tanstack/preact-query";

import { searchStats, taskSummary } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Empty } from "../../part/Empty";
import { Page } from "../../part/Page";
import { useScope } from "../../part/scope";
import { Harvest } from "./Harvest";
import { Index } from "./Index";
import { LeftOut } from "./LeftOut";
import { Services } from "./Services";
import { Tasks } from "./Tasks";
import { operatorText } from "./text";

function Overview() {
  const search = useQuery(searchStats);
  return (
    <>
      <Answer query={useQuery(taskSummary)}>
        {({ data, leftOut }) => (
          <>
            <LeftOut services={leftOut} />
            <Services services={data.services} />
          </>
        )}
      </Answer>
      <Answer query={search}>{(stats) => <Harvest sources={stats.sources} />}</Answer>
      <Tasks />
      {search.data && <Index stats={search.data} />}
    </>
  );
}

export default function Operator() {
  const isOperator = useScope("service:any_user");
  return (
    <Page title={operatorText.title} wide>
      {isOperator ? <Overview /> : <Empty>{operatorText.others}</Empty>}
    </Page>
  );
}
