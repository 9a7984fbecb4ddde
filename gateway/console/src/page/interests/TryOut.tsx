/** Ranks papers and ideas by the model of an interest, which stays as it is. */
import { useMutation } from "@tanstack/preact-query";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";

import { answer, api, type Schemas } from "../../api/client";
import { score } from "../../api/format";
import { Button } from "../../part/form/Button";
import { Fault } from "../../part/Fault";
import { TextField } from "../../part/form/Field";
import { Table, type Column } from "../../part/Table";
import { interestsText } from "./text";

type Ranked = Schemas["CandidateScore"];

const words = interestsText.tryOut;
const BEST_SHOWN = 10; // of the pool
const ARXIV_ID = /^(\d{4}\.\d{4,5}|[a-z-]+(\.[A-Z]{2})?\/\d{7})(v\d+)?$/;

const COLUMNS: readonly Column<Ranked>[] = [
  {
    name: words.columns.paper,
    cell: ({ arxiv_id: id, title }) => (id ? <Link href={`/papers/${encodeURIComponent(id)}`}>{title}</Link> : title),
  },
  { name: words.columns.score, figure: true, cell: (row) => score(row.score) },
];

/** A line is the id of a paper, or the title of an idea. */
function bodyOf(lines: string) {
  const candidates = lines
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)
    .map((line) => (ARXIV_ID.test(line) ? line : { title: line }));
  return candidates.length > 0 ? { candidates } : { limit: BEST_SHOWN };
}

const keyOf = ({ arxiv_id: id, index }: Ranked) => id ?? String(index);

export function TryOut({ historyId }: { historyId: string }) {
  const [lines, setLines] = useState("");
  const params = { path: { history_id: historyId } };
  const ranking = useMutation({
    mutationFn: () => answer(api.POST("/api/v1.0/experiment-histories/{history_id}/score-candidates", { params, body: bodyOf(lines) })),
  });
  const submit = (event: Event) => {
    event.preventDefault();
    ranking.mutate();
  };
  return (
    <section class="group">
      <h2>{words.title}</h2>
      <p class="quiet">{words.lead}</p>
      <form class="form" onSubmit={submit}>
        <TextField label={words.candidates} hint={words.candidatesHint} value={lines} onInput={setLines} rows={3} />
        {ranking.error && <Fault error={ranking.error} />}
        <div class="actions">
          <Button type="submit" disabled={ranking.isPending}>
            {words.submit}
          </Button>
        </div>
      </form>
      <div aria-live="polite">
        {ranking.data?.length === 0 && <p class="quiet">{words.none}</p>}
        {ranking.data && ranking.data.length > 0 && <Table label={words.title} columns={COLUMNS} rows={ranking.data} rowKey={keyOf} />}
      </div>
    </section>
  );
}
