import { useQuery } from "@tanstack/preact-query";
import { useState } from "preact/hooks";
import { Link, useLocation, useSearchParams } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { Button } from "../../part/form/Button";
import { Dialog } from "../../part/Dialog";
import { Page } from "../../part/Page";
import { May } from "../../part/scope";
import type { Column } from "../../part/Table";
import { ColumnMenu, useColumns } from "./columns";
import { Download } from "../../part/Download";
import { ExperimentForm } from "./ExperimentForm";
import { ExperimentList } from "./ExperimentList";
import { addressOf, filterOf, isFiltered, pathOf } from "./filter";
import { Filters } from "./Filters";
import { experiments } from "./queries";
import { experimentsText, projectsText } from "./text";

/** As many as stand beside each other on a page. */
const COMPARED_MAX = 4;

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
    name: experimentsText.compare.action(0),
    cell: ({ id, name }) => (
      <input
        type="checkbox"
        aria-label={experimentsText.choose(name)}
        checked={chosen.includes(id)}
        disabled={!chosen.includes(id) && chosen.length >= COMPARED_MAX}
        onChange={(event) => choose(id, event.currentTarget.checked)}
      />
    ),
  };
}

export default function Experiments() {
  const choice = useChoice();
  const shown = useColumns();
  const [address, setAddress] = useSearchParams();
  const [, navigate] = useLocation();
  const filter = filterOf(address);
  const inAddress = addressOf(filter);
  const offset = Number(address.get("offset") ?? 0) || 0;
  const query = useQuery(experiments(filter, offset));
  return (
    <Page
      title={experimentsText.title}
      wide
      actions={
        <>
          <Link class="button" href="/experiments/projects">
            {projectsText.title}
          </Link>
          <Button disabled={choice.chosen.length < 2} onClick={() => navigate(`/compare?ids=${choice.chosen.join(",")}`)}>
            {experimentsText.compare.action(choice.chosen.length)}
          </Button>
          <Link class="button" href="/experiments/actionable">
            {experimentsText.actionable.title}
          </Link>
          <ColumnMenu {...shown} />
          <Download path={pathOf(filter)} name="experiments.csv" />
          <May scope="experiments:write">
            <Button kind="main" onClick={() => setAddress({ ...inAddress, new: "1" })}>
              {experimentsText.add}
            </Button>
          </May>
        </>
      }
    >
      <Filters filter={filter} onChange={(next) => setAddress(addressOf(next))} />
      <ExperimentList
        query={query}
        offset={offset}
        columns={[...shown.columns, choiceColumn(choice)]}
        empty={isFiltered(filter) ? experimentsText.none : experimentsText.empty}
        onMove={(next) => setAddress({ ...inAddress, offset: String(next) })}
      />
      {address.get("new") === "1" && (
        <May scope="experiments:write">
          <Dialog title={experimentsText.add} onClose={() => setAddress(inAddress)}>
            <ExperimentForm onDone={(id) => navigate(`/experiments/${id}`)} />
          </Dialog>
        </May>
      )}
    </Page>
  );
}
