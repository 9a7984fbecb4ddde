import { useQuery, useQueryClient } from "@tanstack/preact-query";

import { answer, api, ifMatch, type Schemas, type Versioned } from "../../api/client";
import { useEdit, type Edit } from "../../part/form/edit";
import { TextField } from "../../part/form/Field";
import { Form } from "../../part/form/Form";
import { SelectField } from "../../part/form/Select";
import { text } from "../../text";
import { projects } from "./queries";
import { experimentsText } from "./text";
import { OUTCOMES, STATUSES } from "./words";

type Detail = Versioned<Schemas["ExperimentDetail"]>;

const named = <Value extends string>(values: readonly Value[]) => values.map((each) => [each, each] as const);

function initialOf(detail: Detail | undefined, projectId?: string) {
  return {
    name: detail?.name ?? "",
    status: detail?.status ?? ("draft" as const),
    outcome: detail?.outcome ?? null,
    hypothesis: detail?.hypothesis ?? "",
    decision: detail?.decision ?? "",
    target_metric: detail?.target_metric ?? "",
    tags: (detail?.tags ?? []).join("\n"),
    project_id: detail?.project_id ?? projectId ?? null,
  };
}

/** Each under its name in the API, as far as it can be typed. */
type Values = ReturnType<typeof initialOf>;

function bodyOf(values: Values): Schemas["ExperimentCreate"] {
  return {
    ...values,
    hypothesis: values.hypothesis || null,
    decision: values.decision || null,
    target_metric: values.target_metric || null,
    tags: values.tags
      .split("\n")
      .map((tag) => tag.trim())
      .filter(Boolean),
  };
}

function save(detail: Detail | undefined, edit: Edit<Values, Schemas["ExperimentCreate"]>): Promise<Schemas["ExperimentDetail"]> {
  if (!detail) return answer(api.POST("/api/v1.0/experiments", { body: bodyOf(edit.values) }));
  const params = { path: { experiment_id: detail.id }, header: ifMatch(detail) };
  return answer(api.PUT("/api/v1.0/experiments/{experiment_id}", { params, body: edit.difference() }));
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
  const words = experimentsText;
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
  const edit = useEdit(initialOf(detail, projectId), bodyOf);
  const { values, set } = edit;
  const client = useQueryClient();
  const words = experimentsText;
  const reload = () => client.invalidateQueries({ queryKey: ["experiments"] });
  const onSaved = async (saved: Schemas["ExperimentDetail"]) => {
    await reload();
    onDone(saved.id);
  };
  return (
    <Form submit={text.save} send={() => save(detail, edit)} onDone={onSaved} edit={detail && { ...edit, reload }}>
      {(fault) => (
        <>
          <TextField label={words.name} value={values.name} onInput={(name) => set({ name })} required fault={fault("name")} />
          <SelectField
            label={words.status}
            value={values.status}
            values={named(STATUSES)}
            onChange={(status) => set({ status: status ?? "draft" })}
            fault={fault("status")}
          />
          <SelectField
            label={words.outcome}
            value={values.outcome}
            values={named(OUTCOMES)}
            nothing={words.nothing}
            onChange={(outcome) => set({ outcome })}
            fault={fault("outcome")}
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
          <TextField
            label={words.metric}
            value={values.target_metric}
            onInput={(target_metric) => set({ target_metric })}
            fault={fault("target_metric")}
          />
          <TextField label={words.tags} value={values.tags} onInput={(tags) => set({ tags })} rows={2} fault={fault("tags")} />
          <ProjectField value={values.project_id} onChange={(project_id) => set({ project_id })} fault={fault("project_id")} />
        </>
      )}
    </Form>
  );
}
