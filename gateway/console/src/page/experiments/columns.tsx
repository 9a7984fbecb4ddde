/** The columns of the list of experiments: some are shown, which the browser remembers. */
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { Menu } from "../../part/fold/Menu";
import type { Column } from "../../part/Table";
import { Time, Unknown } from "../../part/Time";
import { experimentsText } from "./text";
import { Delta, ExperimentState } from "./words";

type Experiment = Schemas["Experiment"];

const NAMES = experimentsText.columns;
const KEPT = "expops.experiments.columns";

/** The project that an experiment belongs to. */
export function ProjectOf({ experiment }: { experiment: Experiment }) {
  if (experiment.project_id === null) return <Unknown />;
  return <Link href={`/experiments/projects/${experiment.project_id}`}>{experiment.project_name}</Link>;
}

function Tags({ tags }: { tags: readonly string[] }) {
  if (tags.length === 0) return <Unknown />;
  return (
    <>
      {tags.map((tag) => (
        <>
          <Link key={tag} href={`/experiments?tag=${encodeURIComponent(tag)}`}>
            {tag}
          </Link>{" "}
        </>
      ))}
    </>
  );
}

/** The first is always there; it names the row. */
const COLUMNS: readonly Column<Experiment>[] = [
  { name: NAMES.name, cell: (row) => <Link href={`/experiments/${row.id}`}>{row.name}</Link> },
  { name: NAMES.status, cell: (row) => <ExperimentState status={row.status} /> },
  { name: NAMES.outcome, cell: (row) => row.outcome ?? <Unknown /> },
  { name: NAMES.delta, figure: true, cell: (row) => <Delta experiment={row} /> },
  { name: NAMES.metric, cell: (row) => row.target_metric ?? <Unknown /> },
  { name: NAMES.tags, cell: (row) => <Tags tags={row.tags} /> },
  { name: NAMES.project, cell: (row) => <ProjectOf experiment={row} /> },
  { name: NAMES.created, cell: (row) => <Time at={row.created_at} /> },
  { name: NAMES.updated, cell: (row) => <Time at={row.updated_at} /> },
];

const OPTIONAL = COLUMNS.slice(1).map(({ name }) => name);
const FIRST = [NAMES.status, NAMES.outcome, NAMES.delta, NAMES.tags, NAMES.project, NAMES.updated];

function kept(): readonly string[] {
  const names = localStorage.getItem(KEPT);
  return names === null ? FIRST : names.split("\n");
}

interface ColumnChoice {
  columns: readonly Column<Experiment>[];
  isShown: (name: string) => boolean;
  show: (name: string, isShown: boolean) => void;
}

export function useColumns(): ColumnChoice {
  const [names, setNames] = useState(kept);
  const isShown = (name: string) => names.includes(name);
  const show = (name: string, isShown: boolean) => {
    const next = [...names.filter((each) => each !== name), ...(isShown ? [name] : [])];
    localStorage.setItem(KEPT, next.join("\n"));
    setNames(next);
  };
  return { columns: COLUMNS.filter(({ name }, index) => index === 0 || isShown(name)), isShown, show };
}

/** Chooses the columns. */
export function ColumnMenu({ isShown, show }: ColumnChoice) {
  return (
    <Menu name={experimentsText.shownColumns}>
      {OPTIONAL.map((name) => (
        <label key={name} class="check">
          <input type="checkbox" checked={isShown(name)} onChange={(event) => show(name, event.currentTarget.checked)} /> {name}
        </label>
      ))}
    </Menu>
  );
}
