/** The experiments that an agent can implement. */
import { useQuery } from "@tanstack/preact-query";
import { useSearchParams } from "wouter-preact";

import { Page } from "../../part/Page";
import { useColumns } from "./columns";
import { ExperimentList } from "./ExperimentList";
import { actionable } from "./queries";
import { experimentsText } from "./text";

const words = experimentsText.actionable;

export default function Actionable() {
  const [address, setAddress] = useSearchParams();
  const offset = Number(address.get("offset") ?? 0) || 0;
  const { columns } = useColumns();
  return (
    <Page title={words.title} wide>
      <p class="lead">{words.lead}</p>
      <ExperimentList
        query={useQuery(actionable(offset))}
        offset={offset}
        columns={columns}
        empty={words.none}
        onMove={(next) => setAddress({ offset: String(next) })}
      />
    </Page>
  );
}
