import { useMutation, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { Button } from "../../part/form/Button";
import { Fault } from "../../part/Fault";
import { TextField } from "../../part/form/Field";
import { Form } from "../../part/form/Form";
import { text } from "../../text";

/** Contexts that a newcomer can start from. */
const EXAMPLES = [
  {
    name: "Efficient attention",
    context:
      "Attention for long sequences that needs less memory and time on GPUs: sparse and linear attention, kernels that are aware of " +
      "memory traffic, caches of keys and values. Not interested in applications to vision.",
  },
  {
    name: "Agents that write code",
    context:
      "Language models that change software repositories: planning, tools, tests as feedback, benchmarks on real issues, and how often " +
      "maintainers merge what they write.",
  },
  {
    name: "Retrieval",
    context:
      "Search over documents for language models: dense and sparse retrieval, ranking, chunking, evaluation without human judgments.",
  },
] as const;

export interface InterestText {
  name: string;
  context: string;
  repository: string;
  daily: string;
}

interface ProposeProps {
  repository: string;
  onPropose: (proposal: { name: string; context: string }) => void;
}

/** Words for an interest from what a repository says of itself. They are proposed: nothing is made of them here. */
function Propose({ repository, onPropose }: ProposeProps) {
  const reading = useMutation({
    mutationFn: () => answer(api.POST("/api/v1.0/interests/analyze-repo", { body: { repo_url: repository } })),
    onSuccess: onPropose,
  });
  return (
    <>
      <div class="actions">
        <Button disabled={repository === "" || reading.isPending} onClick={() => reading.mutate()}>
          {reading.isPending ? text.interests.proposing : text.interests.propose}
        </Button>
      </div>
      {reading.error && <Fault error={reading.error} />}
    </>
  );
}

const NOTHING: InterestText = { name: "", context: "", repository: "", daily: "10" };

function bodyOf(values: InterestText): Schemas["InterestCreate"] {
  return {
    daily_count: Number(values.daily),
    ...(values.name ? { name: values.name } : {}),
    ...(values.context ? { context: values.context } : {}),
    ...(values.repository ? { source_repo_url: values.repository } : {}),
  };
}

interface Props {
  id?: string; // of the interest to be changed; without: a new one
  initial?: InterestText;
  onDone: (id: string) => void;
}

export function InterestForm({ id, initial = NOTHING, onDone }: Props) {
  const [values, setValues] = useState(initial);
  const set = (change: Partial<InterestText>) => setValues((before) => ({ ...before, ...change }));
  const needsText = id !== undefined || !values.repository; // a new interest takes them from its repository
  const client = useQueryClient();
  const send = async () => {
    const body = bodyOf(values);
    if (!id) return answer(api.POST("/api/v1.0/interests", { body }));
    return answer(api.PUT("/api/v1.0/interests/{interest_id}", { params: { path: { interest_id: id } }, body }));
  };
  const onSaved = async (saved: Schemas["Interest"]) => {
    await Promise.all([["interests"], ["digest"]].map((queryKey) => client.invalidateQueries({ queryKey })));
    onDone(saved.id);
  };
  return (
    <Form submit={id ? text.save : text.interests.submit} send={send} onDone={onSaved}>
      {(fault) => (
        <>
          {!id && (
            <p class="small">
              {text.interests.examples}:{" "}
              {EXAMPLES.map((example) => (
                <Button key={example.name} kind="quiet" onClick={() => set(example)}>
                  {example.name}
                </Button>
              ))}
            </p>
          )}
          <TextField
            label={text.interests.name}
            value={values.name}
            onInput={(name) => set({ name })}
            required={needsText}
            fault={fault("name")}
          />
          <TextField
            label={text.interests.context}
            hint={text.interests.contextHint}
            value={values.context}
            onInput={(context) => set({ context })}
            rows={6}
            required={needsText}
            fault={fault("context")}
          />
          <TextField
            label={text.interests.repository}
            hint={text.interests.repositoryHint}
            type="url"
            value={values.repository}
            onInput={(repository) => set({ repository })}
            fault={fault("source_repo_url")}
          />
          <Propose repository={values.repository} onPropose={({ name, context }) => set({ name, context })} />
          <TextField
            label={text.interests.daily}
            type="number"
            value={values.daily}
            onInput={(daily) => set({ daily })}
            fault={fault("daily_count")}
          />
        </>
      )}
    </Form>
  );
}
