import { useQueryClient } from "@tanstack/preact-query";
import { useLocation } from "wouter-preact";

import { answer, api, ifMatch, type Schemas, type Versioned } from "../../api/client";
import { useEdit, type Edit } from "../../part/form/edit";
import { TextField } from "../../part/form/Field";
import { Form } from "../../part/form/Form";
import { text } from "../../text";
import { objectOf } from "./object";
import { evaluationsText } from "./text";

type Template = Versioned<Schemas["Template"]>;

/** From which a newcomer can start. */
const EXAMPLE = {
  image: "docker.io/library/python:3.12-slim",
  command: ["python", "-c", 'import json; print("accuracy 0.5")'],
  resources: { cpus: 1, memory_mb: 512, timeout_seconds: 600 },
  metrics: [{ name: "accuracy", goal: "maximize" }],
};

interface Values {
  name: string;
  description: string;
  repo: string;
  spec: string;
}

function initialOf(template: Template | undefined): Values {
  if (!template) return { name: "", description: "", repo: "", spec: JSON.stringify(EXAMPLE, null, 2) };
  const { name, description, repo, spec } = template;
  return { name, description: description ?? "", repo: repo ?? "", spec: JSON.stringify(spec, null, 2) };
}

function bodyOf({ name, description, repo, spec }: Values) {
  return { name, description: description || null, repo: repo || null, spec: objectOf(spec, "spec") };
}

async function save(template: Template | undefined, edit: Edit<Values, ReturnType<typeof bodyOf>>): Promise<Schemas["Template"]> {
  if (!template) return answer(api.POST("/api/v1.0/eval-env/templates", { body: bodyOf(edit.values) }));
  const params = { path: { template_id: template.template_id }, header: ifMatch(template) };
  return answer(api.PUT("/api/v1.0/eval-env/templates/{template_id}", { params, body: edit.difference() }));
}

interface Props {
  template?: Template; // that is changed; without: a new one
  onDone?: () => void;
}

export function TemplateForm({ template, onDone }: Props) {
  const edit = useEdit(initialOf(template), bodyOf);
  const { values, set } = edit;
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const words = evaluationsText.template;
  const reload = () => client.invalidateQueries({ queryKey: ["evaluations"] });
  const onSaved = async (saved: Schemas["Template"]) => {
    await reload();
    if (onDone) onDone();
    else navigate(`/evaluations/templates/${saved.template_id}`);
  };
  return (
    <Form submit={text.save} send={() => save(template, edit)} onDone={onSaved} edit={template && { ...edit, reload }}>
      {(fault) => (
        <>
          <TextField label={words.name} value={values.name} onInput={(name) => set({ name })} required fault={fault("name")} />
          <TextField
            label={words.description}
            value={values.description}
            onInput={(description) => set({ description })}
            rows={2}
            fault={fault("description")}
          />
          <TextField label={words.repo} hint={words.repoHint} value={values.repo} onInput={(repo) => set({ repo })} fault={fault("repo")} />
          <TextField
            label={words.spec}
            hint={words.specHint}
            value={values.spec}
            onInput={(spec) => set({ spec })}
            rows={14}
            fault={fault("spec")}
          />
        </>
      )}
    </Form>
  );
}
