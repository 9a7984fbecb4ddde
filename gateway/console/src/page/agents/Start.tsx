import { useQuery, useQueryClient } from "@tanstack/preact-query";

import { answer, api } from "../../api/client";
import { dollars } from "../../api/format";
import { Answer } from "../../part/Answer";
import { Confirm } from "../../part/form/Confirm";
import { useNotice } from "../../part/Notice";
import { activity, fleetReport } from "./queries";
import { agentsText } from "./text";
import type { Installation } from "./words";

const words = agentsText;

/** With which model it runs, as far as its newest runs say, and what that costs. */
function Expected({ installation: { repo, agent } }: { installation: Installation }) {
  const report = useQuery(fleetReport(repo));
  const model = useQuery(activity(repo)).data?.runs.find((run) => run.model)?.model;
  return (
    <Answer query={report}>
      {({ kpis: { cost_per_dispatched_run: usd } }) => (
        <>
          <p>{words.startAgent(agent, model ?? words.itsModel)}</p>
          <p>{usd === null ? words.noMeanCost : words.meanCost(dollars(usd))}</p>
        </>
      )}
    </Answer>
  );
}

/** Asks before a run is started, since it costs. */
export function Start({ installation, onClose }: { installation: Installation; onClose: () => void }) {
  const client = useQueryClient();
  const notice = useNotice();
  const onDone = ({ model_key_missing: hasNoKey }: { model_key_missing: boolean | null }) => {
    notice(hasNoKey ? { text: words.startedWithoutKey, page: "/connect" } : { text: words.started });
    return client.invalidateQueries({ queryKey: ["fleet"] });
  };
  return (
    <Confirm
      title={words.startTitle(installation.repo)}
      action={words.start}
      send={() => answer(api.POST("/api/v1.0/fleet/trigger", { body: { repo: installation.repo } }))}
      onDone={onDone}
      onClose={onClose}
    >
      <Expected installation={installation} />
      <p>{words.startText}</p>
    </Confirm>
  );
}
