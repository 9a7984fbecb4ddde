import { useQuery } from "@tanstack/preact-query";

import { relevance, score } from "../../api/format";
import { funnel } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Measures } from "../../part/Measures";
import { interestsText } from "./text";

const WORDS = interestsText.reliability;

/** How often papers of each score were liked, of those that were rated. */
export function Reliability() {
  return (
    <section class="group">
      <h2>{WORDS.title}</h2>
      <Answer query={useQuery(funnel())}>
        {({ bands, days }) => (
          <>
            <p class="small quiet">{WORDS.lead(days)}</p>
            <Measures
              label={WORDS.title}
              full={1}
              measures={bands.map(({ from, liked, disliked }) => ({
                name: from > 0 ? `${relevance(from).word} (${WORDS.from(score(from))})` : relevance(from).word,
                value: liked + disliked > 0 ? liked / (liked + disliked) : 0,
                text: liked + disliked > 0 ? WORDS.liked(liked, liked + disliked) : WORDS.unrated,
              }))}
            />
          </>
        )}
      </Answer>
    </section>
  );
}
