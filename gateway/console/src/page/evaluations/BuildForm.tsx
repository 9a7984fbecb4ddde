import { useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";
import { useLocation } from "wouter-preact";

import { answer, api, type Schemas } from "../../api/client";
import { TextField } from "../../part/form/Field";
import { Form } from "../../part/form/Form";
import { evaluationsText } from "./text";

const FIELDS = [
  { name: "repo", rows: 0 },
  { name: "ref", rows: 0 },
  { name: "arxiv_id", rows: 0 },
  { name: "containerfile", rows: 8 },
] as const;

type Values = Record<(typeof FIELDS)[number]["name"], string>;

const NOTHING: Values = { repo: "", ref: "", arxiv_id: "", containerfile: "" };

/** Build an image: of a repository, of a paper, or of a container file. */
export function BuildForm() {
  const [values, setValues] = useState(NOTHING);
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const words = evaluationsText.build;
  const send = () => {
    const body = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
    return answer(api.POST("/api/v1.0/eval-env/builds", { body }));
  };
  const onDone = async (made: Schemas["Build"]) => {
    await client.invalidateQueries({ queryKey: ["evaluations", "builds"] });
    navigate(`/evaluations/builds/${made.build_id}`);
  };
  return (
    <Form submit={words.submit} send={send} onDone={onDone}>
      {(fault) =>
        FIELDS.map(({ name, rows }) => (
          <TextField
            key={name}
            label={words.fields[name]}
            value={values[name]}
            onInput={(value) => setValues((before) => ({ ...before, [name]: value }))}
            fault={fault(name)}
            {...(rows > 0 ? { rows } : {})}
          />
        ))
      }
    </Form>
  );
}
