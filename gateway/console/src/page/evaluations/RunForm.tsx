import { useQuery, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";
import { useLocation } from "wouter-preact";

import { answer, api, type Schemas } from "../../api/client";
import { everyTemplate } from "../../api/queries";
import { TextField } from "../../part/form/Field";
import { Form } from "../../part/form/Form";
import { SelectField } from "../../part/form/Select";
import { objectOf } from "./object";
import { evaluationsText } from "./text";

/** Start a run of a template. `templateId`: which is chosen at first. */
export function RunForm({ templateId = null }: { templateId?: string | null }) {
  const [template, setTemplate] = useState(templateId);
  const [name, setName] = useState("");
  const [params, setParams] = useState("{}");
  const known = useQuery(everyTemplate).data?.items ?? [];
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const words = evaluationsText.run;
  const send = async () =>
    answer(
      api.POST("/api/v1.0/eval-env/runs", {
        body: { template_id: template, name: name || null, params: objectOf(params, "params") },
      }),
    );
  const onDone = async (run: Schemas["EvalRun"]) => {
    await client.invalidateQueries({ queryKey: ["evaluations", "runs"] });
    navigate(`/evaluations/runs/${run.run_id}`);
  };
  return (
    <Form submit={words.submit} send={send} onDone={onDone} isIncomplete={template === null}>
      {(fault) => (
        <>
          <SelectField
            label={words.template}
            value={template}
            values={known.map((each) => [each.template_id, each.name] as const)}
            nothing={words.choose}
            fault={fault("template_id")}
            onChange={setTemplate}
          />
          <TextField label={words.name} value={name} onInput={setName} fault={fault("name")} />
          <TextField label={words.params} hint={words.paramsHint} value={params} onInput={setParams} rows={5} fault={fault("params")} />
        </>
      )}
    </Form>
  );
}
