import { answer, api, type Schemas } from "../../api/client";
import { score } from "../../api/format";
import { refitTask } from "../../api/queries";
import { Button } from "../../part/Button";
import { Fault } from "../../part/Fault";
import { useTask } from "../../part/task";
import { text } from "../../text";

const words = text.interests.model;

/** What the task says when a model was fitted. */
interface Fitted {
  examples: number;
  positives: number;
  auc: number | null;
}

function isFitted(result: Schemas["Task"]["result"]): result is Schemas["Task"]["result"] & Fitted {
  return typeof result === "object" && result !== null && "examples" in result && "positives" in result && "auc" in result;
}

/** How a refit ended. With too little feedback the task says so. */
function Outcome({ task }: { task: Schemas["Task"] }) {
  if (task.status !== "completed" || !isFitted(task.result)) return <p class="warm">{task.error ?? task.message}</p>;
  const { examples, positives, auc } = task.result;
  return (
    <p>
      {words.fitted(examples, positives)} {auc !== null && words.auc(score(auc))}
    </p>
  );
}

/** The model of an interest, and fitting it to what has been rated since. */
export function Model({ historyId }: { historyId: string }) {
  const { start, isRunning, ended, error } = useTask({
    start: () =>
      answer(
        api.POST("/api/v1.0/experiment-histories/{history_id}/refit-preference-model", { params: { path: { history_id: historyId } } }),
      ),
    task: refitTask(historyId),
    onEnd: () => undefined,
  });
  return (
    <section class="group">
      <h2>{words.title}</h2>
      <p class="quiet">{words.lead}</p>
      <div aria-live="polite">{ended && <Outcome task={ended} />}</div>
      {error !== null && <Fault error={error} />}
      <div class="actions">
        <Button disabled={isRunning} onClick={start}>
          {isRunning ? words.fitting : words.refit}
        </Button>
      </div>
    </section>
  );
}
