import { useState } from "preact/hooks";

import type { TaskFilter } from "../../api/queries";
import { Button } from "../../part/form/Button";
import { SERVICES } from "./filter";
import { operatorText } from "./text";

type Words = Pick<TaskFilter, "service" | "kind" | "error" | "account_id">;

const FIELDS = [
  ["kind", operatorText.taskColumns.kind],
  ["error", operatorText.filterError],
  ["account_id", operatorText.filterAccount],
] as const;

interface Props {
  filter: TaskFilter;
  onChange: (words: Words) => void;
}

/** The words of the filter; they combine. */
export function FilterForm({ filter, onChange }: Props) {
  const [words, setWords] = useState<Words>(filter);
  const submit = (event: Event) => {
    event.preventDefault();
    onChange(words);
  };
  const chooseService = (name: string) => onChange({ ...words, service: SERVICES.find((each) => each === name) });
  return (
    <form class="search search-wide" role="search" onSubmit={submit}>
      <select
        aria-label={operatorText.taskColumns.service}
        value={words.service ?? ""}
        onChange={(event) => chooseService(event.currentTarget.value)}
      >
        <option value="">{operatorText.everyService}</option>
        {SERVICES.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
      {FIELDS.map(([name, label]) => (
        <input
          key={name}
          aria-label={label}
          placeholder={label}
          value={words[name] ?? ""}
          onInput={(event) => setWords({ ...words, [name]: event.currentTarget.value.trim() || undefined })}
        />
      ))}
      <Button type="submit">{operatorText.filter}</Button>
    </form>
  );
}
