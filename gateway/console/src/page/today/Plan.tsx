import { useMutation } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api } from "../../api/client";
import { faultOf, Problem } from "../../api/problem";
import { Button } from "../../part/Button";
import { Dialog } from "../../part/Dialog";
import { Fault } from "../../part/Fault";
import { TextField } from "../../part/Field";
import { useNotice } from "../../part/Notice";
import { text } from "../../text";
import type { Recommendation } from "./Card";

/** Make an experiment of a paper. What is known of the paper is filled in. */
export function Plan({ paper, onClose }: { paper: Recommendation; onClose: () => void }) {
  const [name, setName] = useState(paper.title.slice(0, 200));
  const [hypothesis, setHypothesis] = useState(paper.suggested_experiment ?? "");
  const notice = useNotice();
  const creation = useMutation({
    mutationFn: () =>
      answer(
        api.POST("/api/v1.0/experiments", {
          body: { name, hypothesis: hypothesis || null, source_type: "arxiv_paper", source_ref: paper.resource_id },
        }),
      ),
    onSuccess: () => {
      notice({ text: text.plan.done });
      onClose();
    },
  });
  const problem = creation.error instanceof Problem ? creation.error : null;
  const submit = (event: Event) => {
    event.preventDefault();
    creation.mutate();
  };
  return (
    <Dialog title={text.plan.title} onClose={onClose}>
      <form onSubmit={submit}>
        <TextField label={text.plan.name} value={name} onInput={setName} required fault={faultOf(problem, "name")} />
        <TextField
          label={text.plan.hypothesis}
          value={hypothesis}
          onInput={setHypothesis}
          rows={6}
          fault={faultOf(problem, "hypothesis")}
        />
        {problem && problem.fields.length === 0 && <Fault error={problem} />}
        <footer class="actions">
          <Button kind="main" type="submit" disabled={creation.isPending}>
            {text.plan.submit}
          </Button>
          <Button onClick={onClose}>{text.cancel}</Button>
        </footer>
      </form>
    </Dialog>
  );
}
