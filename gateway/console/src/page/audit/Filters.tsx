import { useQuery } from "@tanstack/preact-query";

import { team } from "../../api/team";
import { Button } from "../../part/form/Button";
import { TextField } from "../../part/form/Field";
import { useScope } from "../../part/scope";
import { SelectField } from "../../part/form/Select";
import type { AuditFilter } from "./queries";
import { auditText } from "./text";

const words = auditText;

/** How the actions of a kind begin. */
const KINDS = Object.entries(words.kinds).map(([kind, name]) => [`${kind}.`, name] as const);

interface Props {
  filter: AuditFilter;
  onChange: (filter: AuditFilter) => void;
}

function Person({ filter, onChange }: Props) {
  const mayRead = useScope("team:read");
  const members = useQuery({ ...team, enabled: mayRead }).data?.members ?? [];
  return (
    <SelectField
      label={words.person}
      value={filter.person_id ?? null}
      values={members.map(({ person_id, email }) => [person_id, email] as const)}
      nothing={words.everybody}
      onChange={(person) => onChange({ ...filter, person_id: person ?? undefined })}
    />
  );
}

function Day({ filter, onChange, field, label }: Props & { field: "since" | "until"; label: string }) {
  return (
    <TextField
      label={label}
      type="date"
      value={filter[field] ?? ""}
      onInput={(day) => onChange({ ...filter, [field]: day || undefined })}
    />
  );
}

/** What is shown; filters combine. */
export function Filters({ filter, onChange }: Props) {
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  return (
    <div class="filters" role="search">
      <SelectField
        label={words.what}
        value={filter.action ?? null}
        values={KINDS}
        nothing={words.everything}
        onChange={(action) => onChange({ ...filter, action: action ?? undefined })}
      />
      <Person filter={filter} onChange={onChange} />
      <Day filter={filter} onChange={onChange} field="since" label={words.since} />
      <Day filter={filter} onChange={onChange} field="until" label={words.until} />
      {isFiltered && (
        <Button kind="quiet" onClick={() => onChange({ action: undefined, person_id: undefined, since: undefined, until: undefined })}>
          {words.clear}
        </Button>
      )}
    </div>
  );
}
