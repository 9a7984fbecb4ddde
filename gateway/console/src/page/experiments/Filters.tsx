import { useQueries, useQuery } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { Button } from "../../part/form/Button";
import { Tabs } from "../../part/Tabs";
import { isFiltered } from "./filter";
import { experimentCount, projects, type ExperimentFilter } from "./queries";
import { experimentsText } from "./text";
import { STATUSES } from "./words";

const words = experimentsText;
const STATES = [["", words.all], ...STATUSES.map((status) => [status, status] as const)] as const;
const PROJECTS_TO_CHOOSE = 100; // the newest

interface Props {
  filter: ExperimentFilter;
  onChange: (filter: ExperimentFilter) => void;
}

function Project({ filter, onChange }: Props) {
  const { data } = useQuery(projects(PROJECTS_TO_CHOOSE, 0));
  if (!data || data.total === 0) return null;
  return (
    <select
      class="short"
      aria-label={words.columns.project}
      value={filter.project_id ?? ""}
      onChange={(event) => onChange({ ...filter, project_id: event.currentTarget.value || undefined })}
    >
      <option value="">{words.everyProject}</option>
      {data.items.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}

function Tag({ filter, onChange }: Props) {
  const [tag, setTag] = useState(filter.tag ?? "");
  const submit = (event: Event) => {
    event.preventDefault();
    onChange({ ...filter, tag: tag.trim() || undefined });
  };
  return (
    <form role="search" onSubmit={submit}>
      <input
        class="short"
        type="search"
        aria-label={words.tag}
        placeholder={words.tag}
        value={tag}
        onInput={(event) => setTag(event.currentTarget.value)}
      />
    </form>
  );
}

/** How many experiments each status has of those that the rest of the filter finds. */
function useCounts(filter: ExperimentFilter): Partial<Record<(typeof STATES)[number][0], number>> {
  const found = useQueries({ queries: STATES.map(([status]) => experimentCount({ ...filter, status: status || undefined })) });
  return Object.fromEntries(STATES.flatMap(([status], index) => (found[index]?.data === undefined ? [] : [[status, found[index].data]])));
}

/** What is shown, by status, project and tag; they combine. */
export function Filters({ filter, onChange }: Props) {
  return (
    <>
      <Tabs
        label={words.status}
        values={STATES}
        value={filter.status ?? ""}
        counts={useCounts(filter)}
        onChange={(status) => onChange({ ...filter, status: status || undefined })}
      />
      <div class="actions">
        <Project filter={filter} onChange={onChange} />
        <Tag key={filter.tag} filter={filter} onChange={onChange} />
        {isFiltered(filter) && (
          <Button kind="quiet" onClick={() => onChange({ status: undefined, project_id: undefined, tag: undefined })}>
            {words.clear}
          </Button>
        )}
      </div>
    </>
  );
}
