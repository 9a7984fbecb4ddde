import type { Schemas } from "../../api/client";
import { score } from "../../api/format";
import { text } from "../../text";

const words = text.interests.model;

/** What the task of a refit says when a model was fitted. */
interface Fitted {
  examples: number;
  positives: number;
  auc: number | null;
  learned: { more: readonly string[]; less: readonly string[] } | null;
}

function isFitted(result: Schemas["Task"]["result"]): result is Schemas["Task"]["result"] & Fitted {
  return typeof result === "object" && result !== null && ["examples", "positives", "auc", "learned"].every((name) => name in result);
}

function Words({ title, list }: { title: string; list: readonly string[] }) {
  if (list.length === 0) return null;
  return (
    <p>
      <span class="quiet">{title}</span> {list.join(", ")}
    </p>
  );
}

/** How a refit ended: what the model is fitted to, and what it learned. With too little feedback the task says so. */
export function Learned({ task }: { task: Schemas["Task"] }) {
  if (task.status !== "completed" || !isFitted(task.result)) return <p class="warm">{task.error ?? task.message}</p>;
  const { examples, positives, auc, learned } = task.result;
  return (
    <>
      <p>
        {words.fitted(examples, positives)} {auc !== null && words.auc(score(auc))}
      </p>
      {learned ? (
        <>
          <Words title={words.more} list={learned.more} />
          <Words title={words.less} list={learned.less} />
        </>
      ) : (
        <p class="quiet">{task.message}</p>
      )}
    </>
  );
}
