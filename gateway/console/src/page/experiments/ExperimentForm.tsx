import { useQuery, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { TextField } from "../../part/form/Field";
import { Form } from "../../part/form/Form";
import { SelectField } from "../../part/form/Select";
import { text } from "../../text";
import { projects } from "./queries";
import { OUTCOMES, STATUSES } from "./words";

type Detail = Schemas["ExperimentDetail"];

const named = <Value extends string>(values: readonly Value[]) => values.map((each) => [each, each] as const);

function initialOf(detail: Detail | undefined, projectId: string | undefined) {
  return {
    name: detail?.name ?? "",
    status: detail?.status ?? ("draft" as const),
    outcome: detail?.outcome ?? null,
    hypothesis: detail?.hypothesis ?? "",
    decision: detail?.decision ?? "",
    metric: detail?.target_metric ?? "",
    tags: (detail?.tags ?? []).join(" "),
    project: detail?.project_id ?? projectId ?? null,
  };
}

type Values = ReturnType<typeof initialOf>;

function bodyOf(values: Values): Schemas["ExperimentCreate"] {
  return {
    name: values.name,
    status: values.status,
    outcome: values.outcome,
    hypothesis: values.hypothesis || null,
    decision: values.decision || null,
    target_metric: values.metric || null,
    tags: values.tags.split(/\s+/).filter(Boolean),
    project_id: values.project,
  };
}

function save(detail: Detail | undefined, values: Values) {
  const body = bodyOf(values);
  if (!detail) return answer(api.POST("/api/v1.0/experiments", { body }));
  return answer(api.PUT("/api/v1.0/experiments/{experiment_id}", { params: { path: { experiment_id: detail.id } }, body }));
}

interface FieldProps {
  value: string | null;
  onChange: (id: string | null) => void;
  fault: string | undefined;
}

const PROJECTS_TO_CHOOSE = 100; // the newest

/** Absent where there is nothing to choose from. */
function ProjectField({ value, onChange, fault }: FieldProps) {
  const { data } = useQuery(projects(PROJECTS_TO_CHOOSE, 0));
  if (!data || data.total === 0) return null;
  const words = text.experiments;
  const values = data.items.map(({ id, name }) => [id, name] as const);
  return (
    <SelectField label={words.columns.project} value={value} values={values} nothing={words.noProject} onChange={onChange} fault={fault} />
  );
}

interface Props {
  detail?: Detail; // the experiment to be changed; without: a new one
  projectId?: string; // of a new one
  onDone: (id: string) => void;
}

export function ExperimentForm({ detail, projectId, onDone }: Props) {
  const [values, setValues] = useState<Values>(initialOf(detail, projectId));
  const set = (change: Partial<Values>) => setValues((before) => ({ ...before, ...change }));
  const client = useQueryClient();
  const words = text.experiments;
  const onSaved = async (saved: Detail) => {
    await client.invalidateQueries({ queryKey: ["experiments"] });
    onDone(saved.id);
  };
  return (
    <Form submit={text.save} send={() => save(detail, values)} onDone={onSaved}>
      {(fault) => (
        <>
          <TextField label={words.name} value={values.name} onInput={(name) => set({ name })} required fault={fault("name")} />
          <SelectField
            label={words.status}
            value={values.status}
            values={named(STATUSES)}
            onChange={(status) => set({ status: status ?? "draft" })}
          />
          <SelectField
            label={words.outcome}
            value={values.outcome}
            values={named(OUTCOMES)}
            nothing={words.nothing}
            onChange={(outcome) => set({ outcome })}
          />
          <TextField
            label={words.hypothesis}
            value={values.hypothesis}
            onInput={(hypothesis) => set({ hypothesis })}
            rows={4}
            fault={fault("hypothesis")}
          />
          <TextField
            label={words.decision}
            value={values.decision}
            onInput={(decision) => set({ decision })}
            rows={3}
            fault={fault("decision")}
          />
          <TextField label={words.metric} value={values.metric} onInput={(metric) => set({ metric })} fault={fault("target_metric")} />
          <TextField label={words.tags} value={values.tags} onInput={(tags) => set({ tags })} fault={fault("tags")} />
          <ProjectField value={values.project} onChange={(project) => set({ project })} fault={fault("project_id")} />
        </>
      )}
    </Form>
  );
}
