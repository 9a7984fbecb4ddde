import { count } from "../../api/format";
import { Table, type Column } from "../../part/Table";
import { Unknown } from "../../part/Time";
import { PaperLink, useTitles, type Titles } from "./papers";
import { agentsText } from "./text";
import type { Run } from "./words";

const words = agentsText.run;
const NAMES = words.passedColumns;

type Passed = NonNullable<Run["selection_rejected"]>[number];

const columnsOf = (titles: Titles): readonly Column<Passed>[] => [
  { name: NAMES.paper, cell: (row) => <PaperLink id={row.arxiv_id} titles={titles} /> },
  { name: NAMES.gate, cell: (row) => (typeof row.gate === "string" ? row.gate : <Unknown />) },
  { name: NAMES.reason, cell: (row) => row.reason ?? <Unknown /> },
];

/** Which papers a run looked at: the one that it chose, and those that it passed over. */
export function Selection({ run }: { run: Run }) {
  const passed = run.selection_rejected ?? [];
  const titles = useTitles(passed.map(({ arxiv_id }) => arxiv_id));
  const considered: unknown = run.candidates_considered;
  const reasoning: unknown = run.selection_reasoning_excerpt;
  const isUnknown = passed.length === 0 && typeof considered !== "number" && typeof reasoning !== "string";
  return (
    <section class="group">
      <h2>{words.selection}</h2>
      {isUnknown && <p class="quiet">{words.noSelection}</p>}
      {typeof considered === "number" && <p>{words.considered(count(considered))}</p>}
      {typeof reasoning === "string" && <p class="read prose">{reasoning}</p>}
      {passed.length > 0 && (
        <Table
          label={words.selection}
          columns={columnsOf(titles)}
          rows={passed}
          rowKey={({ arxiv_id, reason }) => `${arxiv_id ?? ""} ${reason ?? ""}`}
        />
      )}
    </section>
  );
}
