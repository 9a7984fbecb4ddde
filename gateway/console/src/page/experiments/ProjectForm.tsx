import { useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { TextField } from "../../part/form/Field";
import { Form } from "../../part/form/Form";
import { text } from "../../text";

type Project = Schemas["Project"];

function save(project: Project | undefined, name: string, description: string) {
  const body = { name, description: description || null };
  if (!project) return answer(api.POST("/api/v1.0/projects", { body }));
  return answer(api.PUT("/api/v1.0/projects/{project_id}", { params: { path: { project_id: project.id } }, body }));
}

interface Props {
  project?: Project; // that is changed; without: a new one
  onDone: (id: string) => void;
}

export function ProjectForm({ project, onDone }: Props) {
  const [name, setName] = useState(project?.name ?? "");
  const [description, setDescription] = useState(project?.description ?? "");
  const client = useQueryClient();
  const onSaved = async (saved: Project) => {
    await client.invalidateQueries({ queryKey: ["experiments"] });
    onDone(saved.id);
  };
  return (
    <Form submit={text.save} send={() => save(project, name, description)} onDone={onSaved}>
      {(fault) => (
        <>
          <TextField label={text.projects.name} value={name} onInput={setName} required fault={fault("name")} />
          <TextField label={text.projects.description} value={description} onInput={setDescription} rows={3} fault={fault("description")} />
        </>
      )}
    </Form>
  );
}
