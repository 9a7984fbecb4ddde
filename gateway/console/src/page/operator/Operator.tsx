/** How the service itself does: its asynchronous work, what it has given up, how papers arrive. */
import { useQuery } from "@tanstack/preact-query";

import { searchStats, taskSummary } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Page } from "../../part/Page";
import { text } from "../../text";
import { Harvest } from "./Harvest";
import { LeftOut } from "./LeftOut";
import { Services } from "./Services";
import { Tasks } from "./Tasks";

export default function Operator() {
  return (
    <Page title={text.operator.title} wide>
      <Answer query={useQuery(taskSummary)}>
        {({ data, leftOut }) => (
          <>
            <LeftOut services={leftOut} />
            <Services services={data.services} />
          </>
        )}
      </Answer>
      <Tasks />
      <Answer query={useQuery(searchStats)}>{(stats) => <Harvest sources={stats.sources} />}</Answer>
    </Page>
  );
}
