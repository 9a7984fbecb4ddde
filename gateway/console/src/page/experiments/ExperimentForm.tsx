import { useMutation, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { faultOf, Problem } from "../../api/problem";
import { Button } from "../../part/Button";
import { Fault } from "../../part/Fault";
import { Field, TextField } from "../../part/Field";
import { text } from "../../text";
import { OUTCOMES, STATUSES } from "./words";

type Detail = Schemas["ExperimentDetail"];

interface Choice<Value extends string> {
  label: string;
  value: Value | null;
  values: readonly Value[];
  onChange: (value: Value | null) => void;
  isOptional?: boolean;
}

function SelectField<Value extends string>({ label, value, values, onChange, isOptional = false }: Choice<Value>) {
  return (
    <Field label={label}>
      {(id) => (
        <select
          id={id}
          value={value ?? ""}
          onChange={(event) => onChange(values.find((each) => each === event.currentTarget.value) ?? null)}
        >
          {isOptional && <option value="">{text.experiments.nothing}</option>}
          {values.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function initialOf(detail: Detail | undefined) {
  return {
    name: detail?.name ?? "",
    status: detail?.status ?? ("draft" as const),
    outcome: detail?.outcome ?? null,
    hypothesis: detail?.hypothesis ?? "",
    decision: detail?.decision ?? "",
    metric: detail?.target_metric ?? "",
    tags: (detail?.tags ?? []).join(" "),
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
  };
}

function useSaving(detail: Detail | undefined, values: Values, onDone: (id: string) => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      const body = bodyOf(values);
      if (!detail) return answer(api.POST("/api/v1.0/experiments", { body }));
      return answer(api.PUT("/api/v1.0/experiments/{experiment_id}", { params: { path: { experiment_id: detail.id } }, body }));
    },
    onSuccess: async (saved) => {
      await client.invalidateQueries({ queryKey: ["experiments"] });
      onDone(saved.id);
    },
  });
}

interface Props {
  detail?: Detail; // the experiment to be changed; without: a new one
  onDone: (id: string) => void;
}

export function ExperimentForm({ detail, onDone }: Props) {
  const [values, setValues] = useState<Values>(initialOf(detail));
  const set = (change: Partial<Values>) => setValues((before) => ({ ...before, ...change }));
  const saving = useSaving(detail, values, onDone);
  const problem = saving.error instanceof Problem ? saving.error : null;
  const fault = (field: string) => faultOf(problem, field);
  const words = text.experiments;
  const submit = (event: Event) => {
    event.preventDefault();
    saving.mutate();
  };
  return (
    <form class="form" onSubmit={submit}>
      <TextField label={words.name} value={values.name} onInput={(name) => set({ name })} required fault={fault("name")} />
      <SelectField
        label={words.status}
        value={values.status}
        values={STATUSES}
        onChange={(status) => set({ status: status ?? "draft" })}
      />
      <SelectField label={words.outcome} value={values.outcome} values={OUTCOMES} isOptional onChange={(outcome) => set({ outcome })} />
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
      {problem && problem.fields.length === 0 && <Fault error={problem} />}
      <div class="actions">
        <Button kind="main" type="submit" disabled={saving.isPending}>
          {text.save}
        </Button>
      </div>
    </form>
  );
}
