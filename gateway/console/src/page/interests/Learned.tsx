import type { Schemas } from "../../api/client";
import { Facts, type ModelFacts } from "./ModelFacts";

/** Whether a task says what it fitted; with too little feedback it has no figure of quality. */
function isFitted(result: Schemas["Task"]["result"]): result is Schemas["Task"]["result"] & ModelFacts {
  return typeof result === "object" && result !== null && typeof result["auc"] === "number";
}

/** How a refit ended without a model: it failed, or there was too little feedback. */
export function Unfitted({ task }: { task: Schemas["Task"] }) {
  if (task.status === "completed" && isFitted(task.result)) return null;
  return <p class="warm">{task.error ?? task.message}</p>;
}

/** How a refit ended: what the model is fitted to, and what it learned. */
export function Learned({ task }: { task: Schemas["Task"] }) {
  if (task.status !== "completed" || !isFitted(task.result)) return <Unfitted task={task} />;
  return (
    <>
      <Facts facts={task.result} />
      {!task.result.learned && <p class="quiet">{task.message}</p>}
    </>
  );
}
