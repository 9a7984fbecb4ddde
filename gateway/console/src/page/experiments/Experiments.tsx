import { useState } from "preact/hooks";
import { Link, useLocation, useSearchParams } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { Button } from "../../part/Button";
import { Dialog } from "../../part/Dialog";
import { Page } from "../../part/Page";
import type { Column } from "../../part/Table";
import { Tabs } from "../../part/Tabs";
import { text } from "../../text";
import { Download } from "./Download";
import { ExperimentForm } from "./ExperimentForm";
import { ExperimentList } from "./ExperimentList";
import { STATUSES } from "./words";

/** As many as stand beside each other on a page. */
const COMPARED_MAX = 4;

const FILTERS = [["", text.experiments.all], ...STATUSES.map((status) => [status, status] as const)] as const;

interface Choice {
  chosen: readonly string[];
  choose: (id: string, isChosen: boolean) => void;
}

function useChoice(): Choice {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  return { chosen, choose: (id, isChosen) => setChosen((was) => [...was.filter((each) => each !== id), ...(isChosen ? [id] : [])]) };
}

/** Which experiments to compare. */
function choiceColumn({ chosen, choose }: Choice): Column<Schemas["Experiment"]> {
  return {
    name: text.experiments.compare.action(0),
    cell: ({ id, name }) => (
      <input
        type="checkbox"
        aria-label={text.experiments.choose(name)}
        checked={chosen.includes(id)}
        disabled={!chosen.includes(id) && chosen.length >= COMPARED_MAX}
        onChange={(event) => choose(id, event.currentTarget.checked)}
      />
    ),
  };
}

export default function Experiments() {
  const choice = useChoice();
  const [address, setAddress] = useSearchParams();
  const [, navigate] = useLocation();
  const status = STATUSES.find((each) => each === address.get("status"));
  const filter = status ? { status } : {};
  return (
    <Page
      title={text.experiments.title}
      wide
      actions={
        <>
          <Link class="button" href="/experiments/projects">
            {text.projects.title}
          </Link>
          <Button disabled={choice.chosen.length < 2} onClick={() => navigate(`/compare?ids=${choice.chosen.join(",")}`)}>
            {text.experiments.compare.action(choice.chosen.length)}
          </Button>
          <Download path={`/api/v1.0/experiments${status ? `?status=${status}` : ""}`} name="experiments.csv" />
          <Button kind="main" onClick={() => setAddress({ ...filter, new: "1" })}>
            {text.experiments.add}
          </Button>
        </>
      }
    >
      <Tabs
        label={text.experiments.status}
        values={FILTERS}
        value={status ?? ""}
        onChange={(next) => setAddress(next ? { status: next } : {})}
      />
      <ExperimentList
        filter={{ status, project_id: undefined }}
        offset={Number(address.get("offset") ?? 0) || 0}
        empty={status ? text.experiments.none : text.experiments.empty}
        extra={choiceColumn(choice)}
        onMove={(next) => setAddress({ ...filter, offset: String(next) })}
      />
      {address.get("new") === "1" && (
        <Dialog title={text.experiments.add} onClose={() => setAddress(filter)}>
          <ExperimentForm onDone={(id) => navigate(`/experiments/${id}`)} />
        </Dialog>
      )}
    </Page>
  );
}
