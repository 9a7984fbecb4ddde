import { useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { Dialog } from "../../part/Dialog";
import { TextField } from "../../part/form/Field";
import { Form } from "../../part/form/Form";
import { useNotice } from "../../part/Notice";
import type { Recommendation } from "./Card";
import { planText } from "./text";

const NAME_MAX = 500;

/** As many characters of a title as a name has; they are not cut into halves, as by slice(). */
const nameOf = (title: string) => Array.from(title).slice(0, NAME_MAX).join("");

/** Make an experiment of a paper. What is known of the paper is filled in. */
export function Plan({ paper, onClose }: { paper: Recommendation; onClose: () => void }) {
  const [name, setName] = useState(nameOf(paper.title));
  const [hypothesis, setHypothesis] = useState(paper.suggested_experiment ?? "");
  const client = useQueryClient();
  const notice = useNotice();
  const send = () =>
    answer(
      api.POST("/api/v1.0/experiments", {
        body: { name, hypothesis: hypothesis || null, source_type: paper.source_type, source_ref: paper.resource_id },
      }),
    );
  const onDone = async ({ id }: Schemas["Experiment"]) => {
    await client.invalidateQueries({ queryKey: ["experiments"] });
    notice({ text: planText.done, page: `/experiments/${id}` });
    onClose();
  };
  return (
    <Dialog title={planText.title} onClose={onClose}>
      <Form submit={planText.submit} send={send} onDone={onDone} onCancel={onClose}>
        {(fault) => (
          <>
            <TextField label={planText.name} value={name} onInput={setName} required fault={fault("name")} />
            <TextField label={planText.hypothesis} value={hypothesis} onInput={setHypothesis} rows={6} fault={fault("hypothesis")} />
          </>
        )}
      </Form>
    </Dialog>
  );
}
