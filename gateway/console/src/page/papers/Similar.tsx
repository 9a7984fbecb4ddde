import { useQuery } from "@tanstack/preact-query";

import { Answer } from "../../part/Answer";
import { PaperRow } from "./PaperRow";
import { similarPapers } from "./queries";
import { papersText } from "./text";

/** The papers that are most like a paper. */
export function Similar({ id }: { id: string }) {
  return (
    <section class="group">
      <h2>{papersText.similar}</h2>
      <Answer query={useQuery(similarPapers(id))}>
        {(hits) =>
          hits.length > 0 ? (
            <>
              {hits.map((hit) => (
                <PaperRow key={hit.arxiv_id} paper={hit} score={hit.relevance_score} />
              ))}
            </>
          ) : (
            <p class="quiet">{papersText.noSimilar}</p>
          )
        }
      </Answer>
    </section>
  );
}
