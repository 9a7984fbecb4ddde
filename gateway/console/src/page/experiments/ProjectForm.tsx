import { useQueryClient } from "@tanstack/preact-query";

import { answer, api, ifMatch, type Schemas, type Versioned } from "../../api/client";
import { useEdit, type Edit } from "../../part/form/edit";
import { TextField } from "../../part/form/Field";
import { Form } from "../../part/form/Form";
import { text } from "../../text";
import { projectsText } from "./text";

type Project = Versioned<Schemas["Project"]>;

const initialOf = (project: Project | undefined) => ({ name: project?.name ?? "", description: project?.description ?? "" });

type Values = ReturnType<typeof initialOf>;

const bodyOf = ({ name, description }: Values) => ({ name, description: description || null });

function save(project: Project | undefined, edit: Edit<Values, ReturnType<typeof bodyOf>>) {
  if (!project) return answer(api.POST("/api/v1.0/projects", { body: bodyOf(edit.values) }));
  const params = { path: { project_id: project.id }, header: ifMatch(project) };
  return answer(api.PUT("/api/v1.0/projects/{project_id}", { params, body: edit.difference() }));
}

interface Props {
  project?: Project; // that is changed; without: a new one
  onDone: (id: string) => void;
}

export function ProjectForm({ project, onDone }: Props) {
  const edit = useEdit(initialOf(project), bodyOf);
  const { values, set } = edit;
  const client = useQueryClient();
  const reload = () => client.invalidateQueries({ queryKey: ["experiments"] });
  const onSaved = async (saved: Schemas["Project"]) => {
    await reload();
    onDone(saved.id);
  };
  return (
    <Form submit={text.save} send={() => save(project, edit)} onDone={onSaved} edit={project && { ...edit, reload }}>
      {(fault) => (
        <>
          <TextField label={projectsText.name} value={values.name} onInput={(name) => set({ name })} required fault={fault("name")} />
          <TextField
            label={projectsText.description}
            value={values.description}
            onInput={(description) => set({ description })}
            rows={3}
            fault={fault("description")}
          />
        </>
      )}
    </Form>
  );
}
