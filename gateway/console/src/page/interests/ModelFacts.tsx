import { count } from "../../api/format";
import { modelText } from "./modelText";

const words = modelText;

/** What a model was fitted to, how good it is, and what it learned. Null: the process that fitted it did not keep it. */
export interface ModelFacts {
  examples: number | null;
  positives: number | null;
  auc: number | null; // the probability that it puts a liked paper above another
  learned: { more: readonly string[]; less: readonly string[] } | null;
}

/** From the highest. */
const QUALITY: readonly [number, string][] = [
  [0.8, words.quality.good],
  [0.65, words.quality.fair],
  [0, words.quality.poor],
];

function qualityOf(auc: number): string {
  const [, word] = QUALITY.find(([bound]) => auc >= bound) ?? [0, words.quality.poor];
  return words.auc(word, count(Math.round(100 * auc)));
}

function Words({ title, list }: { title: string; list: readonly string[] }) {
  if (list.length === 0) return null;
  return (
    <p>
      <span class="quiet">{title}</span> {list.join(", ")}
    </p>
  );
}

export function Facts({ facts: { examples, positives, auc, learned } }: { facts: ModelFacts }) {
  return (
    <>
      {examples !== null && positives !== null && <p>{words.fitted(examples, positives)}</p>}
      {auc !== null && <p>{qualityOf(auc)}</p>}
      {learned && (
        <>
          <Words title={words.more} list={learned.more} />
          <Words title={words.less} list={learned.less} />
        </>
      )}
    </>
  );
}
