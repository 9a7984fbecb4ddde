import { useMutation, useQueryClient } from "@tanstack/preact-query";

import { answer, api, ifMatch, type Schemas, type Versioned } from "../../api/client";
import { Button } from "../../part/form/Button";
import { useEdit, type Edit } from "../../part/form/edit";
import { Fault } from "../../part/Fault";
import { TextField } from "../../part/form/Field";
import { Form } from "../../part/form/Form";
import { numberOf } from "../../part/form/number";
import { text } from "../../text";
import { interestsText } from "./text";

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

type Detail = Versioned<Schemas["Interest"]>;

const DAILY = 10; // of a new one

const initialOf = (detail: Detail | undefined) => ({
  name: detail?.name ?? "",
  context: detail?.context ?? "",
  source_repo_url: detail?.source_repo_url ?? "",
  daily_count: String(detail?.daily_count ?? DAILY),
});

/** Each under its name in the API, as it was typed. */
type Values = ReturnType<typeof initialOf>;

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
          {reading.isPending ? interestsText.proposing : interestsText.propose}
        </Button>
      </div>
      {reading.error && <Fault error={reading.error} />}
    </>
  );
}

const bodyOf = (values: Values) => ({
  ...values,
  source_repo_url: values.source_repo_url || null,
  daily_count: numberOf(values.daily_count, "daily_count"),
});

/** Name and context that are left out come from the repository. */
function newBodyOf({ name, context, ...rest }: ReturnType<typeof bodyOf>): Schemas["InterestCreate"] {
  return { ...rest, ...(name ? { name } : {}), ...(context ? { context } : {}) };
}

async function save(detail: Detail | undefined, edit: Edit<Values, ReturnType<typeof bodyOf>>): Promise<Schemas["InterestUpdated"]> {
  if (!detail) return answer(api.POST("/api/v1.0/interests", { body: newBodyOf(bodyOf(edit.values)) }));
  const params = { path: { interest_id: detail.id }, header: ifMatch(detail) };
  return answer(api.PUT("/api/v1.0/interests/{interest_id}", { params, body: edit.difference() }));
}

interface Props {
  detail?: Detail; // the interest to be changed; without: a new one
  onDone: (saved: Schemas["InterestUpdated"]) => void;
}

export function InterestForm({ detail, onDone }: Props) {
  const edit = useEdit(initialOf(detail), bodyOf);
  const { values, set } = edit;
  const needsText = detail !== undefined || !values.source_repo_url; // a new interest takes them from its repository
  const client = useQueryClient();
  const reload = () => Promise.all([["interests"], ["digest"]].map((queryKey) => client.invalidateQueries({ queryKey })));
  const onSaved = async (saved: Schemas["InterestUpdated"]) => {
    await reload();
    onDone(saved);
  };
  return (
    <Form
      submit={detail ? text.save : interestsText.submit}
      send={() => save(detail, edit)}
      onDone={onSaved}
      edit={detail && { ...edit, reload }}
    >
      {(fault) => (
        <>
          {!detail && (
            <p class="small">
              {interestsText.examples}:{" "}
              {EXAMPLES.map((example) => (
                <Button key={example.name} kind="quiet" onClick={() => set(example)}>
                  {example.name}
                </Button>
              ))}
            </p>
          )}
          <TextField
            label={interestsText.name}
            value={values.name}
            onInput={(name) => set({ name })}
            required={needsText}
            fault={fault("name")}
          />
          <TextField
            label={interestsText.context}
            hint={interestsText.contextHint}
            value={values.context}
            onInput={(context) => set({ context })}
            rows={6}
            required={needsText}
            fault={fault("context")}
          />
          <TextField
            label={interestsText.repository}
            hint={interestsText.repositoryHint}
            type="url"
            value={values.source_repo_url}
            onInput={(source_repo_url) => set({ source_repo_url })}
            fault={fault("source_repo_url")}
          />
          <Propose repository={values.source_repo_url} onPropose={({ name, context }) => set({ name, context })} />
          <TextField
            label={interestsText.daily}
            type="number"
            value={values.daily_count}
            onInput={(daily_count) => set({ daily_count })}
            fault={fault("daily_count")}
          />
        </>
      )}
    </Form>
  );
}
