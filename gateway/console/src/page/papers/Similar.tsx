import { useQuery } from "@tanstack/preact-query";

import { Answer } from "../../part/Answer";
import { text } from "../../text";
import { PaperRow } from "./PaperRow";
import { similarPapers } from "./queries";

/** The papers that are most like a paper. */
export function Similar({ id }: { id: string }) {
  return (
    <section class="group">
      <h2>{text.papers.similar}</h2>
      <Answer query={useQuery(similarPapers(id))}>
        {(hits) =>
          hits.length > 0 ? (
            <>
              {hits.map((hit) => (
                <PaperRow key={hit.arxiv_id} paper={hit} score={hit.relevance_score} />
              ))}
            </>
          ) : (
            <p class="quiet">{text.papers.noSimilar}</p>
          )
        }
      </Answer>
    </section>
  );
}
