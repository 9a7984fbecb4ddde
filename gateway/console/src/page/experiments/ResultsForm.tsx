import { useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { Field } from "../../part/form/Field";
import { Form } from "../../part/form/Form";
import { useNotice } from "../../part/Notice";
import { readResults } from "./resultsFile";
import { experimentsText } from "./text";

type Detail = Schemas["ExperimentDetail"];

const words = experimentsText.results.file;

/** Read the file and post its rows. Returns the columns that were left out. */
async function post(detail: Detail, file: File): Promise<string[]> {
  const metrics = detail.ab_test_config?.metrics?.map(({ key }) => key) ?? [];
  const { rows, leftOut } = readResults(await file.arrayBuffer(), metrics);
  const params = { path: { experiment_id: detail.id } };
  await answer(api.POST("/api/v1.0/experiments/{experiment_id}/results", { params, body: { rows, apply: true } }));
  return leftOut;
}

interface Props {
  detail: Detail;
  onDone: () => void;
}

/** Results of an evaluation from a file of CSV. */
export function ResultsForm({ detail, onDone }: Props) {
  const [file, setFile] = useState<File | null>(null);
  const client = useQueryClient();
  const notice = useNotice();
  const onPosted = async (leftOut: string[]) => {
    await client.invalidateQueries({ queryKey: ["experiments"] });
    notice({ text: leftOut.length > 0 ? words.leftOut(leftOut) : words.added });
    onDone();
  };
  return (
    <Form
      submit={words.submit}
      send={() => (file ? post(detail, file) : Promise.resolve([]))}
      onDone={onPosted}
      onCancel={onDone}
      isIncomplete={!file}
    >
      {() => (
        <Field label={words.label} hint={words.hint}>
          {(id, describedBy) => (
            <input
              id={id}
              type="file"
              accept=".csv,text/csv"
              aria-describedby={describedBy}
              onChange={(event) => setFile(event.currentTarget.files?.[0] ?? null)}
            />
          )}
        </Field>
      )}
    </Form>
  );
}
