/** What the recommendations of an interest were worth, by week. */
import { useQuery } from "@tanstack/preact-query";

import { count } from "../../api/format";
import { quality } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Chart } from "../../part/Chart";
import { interestsText } from "./text";

const WORDS = interestsText.quality;
const MEASURES = ["recommended", "rated", "run", "merged", "shipped"] as const;

export function Quality({ id }: { id: string }) {
  return (
    <section class="group">
      <h2>{WORDS.title}</h2>
      <p class="small quiet">{WORDS.lead}</p>
      <Answer query={useQuery(quality(id))}>
        {(weeks) => (
          <div class="charts charts-small">
            {MEASURES.map((measure) => (
              <Chart
                key={measure}
                title={WORDS.measures[measure]}
                points={weeks.map((each) => ({ name: each.week, value: each[measure] }))}
                format={count}
              />
            ))}
          </div>
        )}
      </Answer>
    </section>
  );
}
