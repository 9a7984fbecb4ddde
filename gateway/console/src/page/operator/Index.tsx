import { useQuery } from "@tanstack/preact-query";

import type { Schemas } from "../../api/client";
import { count } from "../../api/format";
import { Answer } from "../../part/Answer";
import { Fact, Facts } from "../../part/Facts";
import { Time, Unknown } from "../../part/Time";
import { version } from "./queries";
import { operatorText } from "./text";

const WORDS = operatorText.index;

/** What is searched, by which vectors, and what runs here. */
export function Index({ stats }: { stats: Schemas["SearchStats"] }) {
  const { documents, updated_at: updated, embedder } = stats.index;
  return (
    <section class="group">
      <h2>{WORDS.title}</h2>
      <Facts>
        <Fact name={WORDS.stored}>{WORDS.storedIs(count(stats.total_assets), count(stats.recent_additions))}</Fact>
        <Fact name={WORDS.indexed}>
          {count(documents)}{" "}
          {documents < stats.total_assets && <span class="warm">{WORDS.behind(count(stats.total_assets - documents))}</span>}
        </Fact>
        <Fact name={WORDS.updated}>
          <Time at={updated} />
        </Fact>
        <Fact name={WORDS.embedder}>{embedder === null ? <Unknown /> : <code>{embedder}</code>}</Fact>
        <Fact name={WORDS.version}>
          <Answer query={useQuery(version)}>{(answer) => WORDS.versionIs(answer.version, answer.commit, answer.api)}</Answer>
        </Fact>
      </Facts>
    </section>
  );
}
