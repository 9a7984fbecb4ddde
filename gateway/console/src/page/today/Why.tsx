import { useQuery } from "@tanstack/preact-query";

import { score } from "../../api/format";
import type { Schemas } from "../../api/client";
import { explanation } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Dialog } from "../../part/Dialog";
import { Table } from "../../part/Table";
import type { Recommendation } from "./Card";
import { whyText } from "./text";

type Explanation = Schemas["RecommendationExplanation"];
type Part = keyof typeof whyText.parts;

const PARTS = ["retrieval", "preference", "recency", "container"] as const satisfies readonly Part[];

/** How much each part adds to the score by which papers are chosen; the longest bar is the largest. */
function Contributions({ why }: { why: Explanation }) {
  const largest = Math.max(...PARTS.map((part) => Math.abs(why[part].contribution)), 1e-9);
  return (
    <dl class="bars">
      {PARTS.map((part) => (
        <div key={part}>
          <dt>{whyText.parts[part]}</dt>
          <dd>
            <meter min={0} max={largest} value={Math.max(0, why[part].contribution)} />
            <span class="figure">{score(why[part].contribution)}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Matched({ why }: { why: Explanation }) {
  if (why.matched.length === 0) return null;
  return (
    <section>
      <h3>{whyText.matched}</h3>
      <ul class="chips">
        {why.matched.map((match) => (
          <li key={`${match.field} ${match.text}`}>{match.text}</li>
        ))}
      </ul>
    </section>
  );
}

function Near({ why }: { why: Explanation }) {
  const examples = why.preference.examples;
  return (
    <section>
      <h3>{whyText.near}</h3>
      {examples.length === 0 ? (
        <p class="quiet">{whyText.noExamples}</p>
      ) : (
        <Table
          label={whyText.near}
          rows={examples}
          rowKey={(row) => row.resource_id}
          columns={[
            { name: whyText.paper, cell: (row) => row.title },
            { name: whyText.signal, cell: (row) => row.signal },
            { name: whyText.weight, figure: true, cell: (row) => score(row.contribution) },
          ]}
        />
      )}
    </section>
  );
}

/** Why a paper was recommended, as the ranking computed it. */
export function Why({ paper, onClose }: { paper: Recommendation; onClose: () => void }) {
  return (
    <Dialog title={whyText.title} side onClose={onClose}>
      <p class="dialog-lead">{paper.title}</p>
      <Answer query={useQuery(explanation(paper.recommendation_id))}>
        {(why) => (
          <>
            <Contributions why={why} />
            <Matched why={why} />
            <Near why={why} />
          </>
        )}
      </Answer>
    </Dialog>
  );
}
