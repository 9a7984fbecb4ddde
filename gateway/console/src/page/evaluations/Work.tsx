import type { Schemas } from "../../api/client";
import { duration } from "../../api/format";
import { Fact } from "../../part/Facts";
import { Output } from "../../part/Output";
import { Time, Unknown } from "../../part/Time";
import { evaluationsText } from "./text";

type Work = Schemas["EvalRun"] | Schemas["Build"];

const WORDS = evaluationsText.work;

/** What a build and a run have in common: who did it, when, and what went wrong. */
export function WorkFacts({ work }: { work: Work }) {
  const ms = work.started_at && work.finished_at ? Date.parse(work.finished_at) - Date.parse(work.started_at) : null;
  return (
    <>
      {work.error && (
        <Fact name={WORDS.error}>
          {work.error.message} <span class="quiet">({work.error.kind})</span>
        </Fact>
      )}
      <Fact name={WORDS.created}>
        <Time at={work.created_at} />
      </Fact>
      <Fact name={WORDS.took}>{ms === null ? <Unknown /> : duration(ms)}</Fact>
      <Fact name={WORDS.worker}>{work.worker ? WORDS.attempt(work.worker, work.attempts) : <Unknown />}</Fact>
    </>
  );
}

/** The end of its log. */
export function WorkLog({ work }: { work: Work }) {
  const missing = work.log_length - work.log_tail.length;
  return (
    <section class="group">
      <h2>{WORDS.log}</h2>
      {missing > 0 && <p class="small quiet">{WORDS.missing(missing)}</p>}
      {work.log_tail === "" ? <p class="quiet">{WORDS.noLog}</p> : <Output label={WORDS.log}>{work.log_tail}</Output>}
    </section>
  );
}
